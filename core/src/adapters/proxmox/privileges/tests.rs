use std::collections::BTreeMap;

use serde_json::json;

use super::*;

/// What PVEAuditor holds, by release.
const RELEASES: [(&str, &[&str]); 4] = [
    ("6.4", &["Datastore.Audit", "SDN.Audit", "Sys.Audit", "VM.Audit"]),
    (
        "7.4",
        &[
            "Datastore.Audit",
            "Pool.Audit",
            "SDN.Audit",
            "Sys.Audit",
            "VM.Audit",
        ],
    ),
    (
        "8.2",
        &[
            "Datastore.Audit",
            "Mapping.Audit",
            "Pool.Audit",
            "SDN.Audit",
            "Sys.Audit",
            "VM.Audit",
        ],
    ),
    (
        "9.1",
        &[
            "Datastore.Audit",
            "Mapping.Audit",
            "Pool.Audit",
            "SDN.Audit",
            "Sys.Audit",
            "VM.Audit",
            "VM.GuestAgent.Audit",
        ],
    ),
];
const NEWEST: &[&str] = RELEASES[3].1;
/// Paths that are told whenever something is held there.
const PATHS: [&str; 8] = [
    "/",
    "/access",
    "/access/groups",
    "/nodes",
    "/pool",
    "/sdn",
    "/storage",
    "/vms",
];

/// A server as far as one token is concerned.
#[derive(Debug, Clone)]
struct Server {
    roles: Value,
    held: BTreeMap<String, BTreeMap<String, Value>>,
    acl: Option<Value>,
    users: Option<Value>,
}

impl Server {
    /// Where the token holds this everywhere, by the role PVEAuditor.
    fn auditor(privileges: &[&str]) -> Self {
        let role = |id: &str, privileges: &str| json!({"roleid": id, "privs": privileges, "special": 1});
        let held: BTreeMap<_, _> = privileges
            .iter()
            .map(|&name| (name.to_owned(), json!(1)))
            .collect();
        Self {
            roles: json!([
                role("Administrator", "Sys.Modify,VM.PowerMgmt"), role(ROLE, &privileges.join(",")), role("NoAccess", ""),
                {"roleid": "reader", "privs": "VM.Audit", "special": 0},
            ]),
            held: PATHS.map(|path| (path.to_owned(), held.clone())).into(),
            acl: Some(json!([
                entry("/", "token", "audit@pve!toolgate", ROLE),
                entry("/", "user", "root@pam", "Administrator")
            ])),
            users: Some(json!([user("audit@pve", "toolgate", json!(1), "")])),
        }
    }

    fn holds(mut self, path: &str, privileges: &[(&str, Value)]) -> Self {
        let privileges = privileges
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        self.held.insert(path.to_owned(), privileges.collect());
        self
    }

    fn also(mut self, path: &str, privilege: &str) -> Self {
        self.held
            .entry(path.to_owned())
            .or_default()
            .insert(privilege.to_owned(), json!(0));
        self
    }

    fn acl(mut self, entries: Value) -> Self {
        self.acl = Some(entries);
        self
    }

    fn users(mut self, users: Value) -> Self {
        self.users = Some(users);
        self
    }

    fn judged(&self) -> Option<Judgement> {
        let token = TokenId::parse("audit@pve!toolgate").unwrap();
        let seen = Seen {
            roles: self.roles.clone(),
            permissions: json!(self.held),
            acl: self.acl.clone(),
            users: self.users.clone(),
        };
        judge(&token, &seen)
    }

    #[track_caller]
    fn passes(&self) -> Judgement {
        let judged = self.judged().unwrap();
        assert_eq!((&judged.violation, &judged.wider), (&None, &vec![]), "{judged:?}");
        judged
    }

    /// What the violation says, which is of a token that can do this beyond the role.
    #[track_caller]
    fn refused(&self, wider: &[&str]) -> String {
        let judged = self.judged().unwrap();
        let violation = judged.violation.unwrap();
        assert_eq!(
            (
                judged.wider.iter().map(String::as_str).collect::<Vec<_>>(),
                violation.wider
            ),
            (wider.to_vec(), !wider.is_empty())
        );
        assert_eq!(violation.of, Grants::Roles);
        violation.what
    }
}

fn entry(path: &str, kind: &str, of: &str, role: &str) -> Value {
    json!({"path": path, "type": kind, "ugid": of, "roleid": role, "propagate": 1})
}

fn user(id: &str, token: &str, privsep: Value, groups: &str) -> Value {
    json!({"userid": id, "enable": 1, "groups": groups, "tokens": [{"tokenid": token, "privsep": privsep, "expire": 0}]})
}

#[test]
fn the_role_of_every_release_passes() {
    for (release, privileges) in RELEASES {
        let judged = Server::auditor(privileges).passes();
        assert_eq!(
            (judged.proven, judged.not_provable),
            (privileges.iter().map(ToString::to_string).collect(), vec![]),
            "{release}"
        );
    }
}

#[test]
fn a_token_that_can_do_less_is_refused_and_told_what_it_lacks() {
    for (release, privileges) in RELEASES {
        for (n, name) in privileges.iter().enumerate() {
            let mut fewer = privileges.to_vec();
            fewer.remove(n);
            let server = Server {
                roles: Server::auditor(privileges).roles,
                ..Server::auditor(&fewer)
            };
            let what = server.refused(&[]);
            assert!(what.contains(&format!("lacks {name} on /")), "{release}: {what}");
        }
    }
}

#[test]
fn a_token_that_can_do_more_anywhere_is_refused_and_told_where() {
    let check = |path: &str, privilege: &str| {
        let what = Server::auditor(NEWEST)
            .also(path, privilege)
            .refused(&[&format!("{privilege} on {path}")]);
        assert!(
            what.contains(&format!("can do more than PVEAuditor: {privilege} on {path}")),
            "{what}"
        );
    };
    check("/", "Sys.Modify");
    check("/vms", "VM.PowerMgmt");
    check("/vms/100", "VM.Console");
    check("/storage/local", "Datastore.AllocateSpace");
    check("/nodes/pve1", "Sys.Syslog");
    check("/pool/shop", "Pool.Allocate");
    // That its name looks harmless does not make it one of the role's.
    check("/vms/100", "VM.Backup.Audit");
    // Whether it goes on to what lies below does not matter.
    let server = Server::auditor(NEWEST).holds("/vms/7", &[("VM.PowerMgmt", Value::Null)]);
    server.refused(&["VM.PowerMgmt on /vms/7"]);
}

#[test]
fn a_surplus_is_told_where_it_begins_and_not_again_below() {
    let mut server = Server::auditor(NEWEST);
    for path in PATHS.into_iter().chain(["/vms/100", "/vms/100/x", "/vmsx"]) {
        server = server.also(path, "Sys.Modify");
    }
    server = server
        .also("/vms", "VM.PowerMgmt")
        .also("/vms/100", "VM.PowerMgmt")
        .also("/vmsx", "VM.PowerMgmt");
    server.refused(&["Sys.Modify on /", "VM.PowerMgmt on /vms", "VM.PowerMgmt on /vmsx"]);
}

#[test]
fn a_large_surplus_is_told_in_part() {
    let mut server = Server::auditor(NEWEST);
    for n in 0..300 {
        server = server.also(&format!("/vms/{n:03}"), "VM.PowerMgmt");
    }
    let judged = server.judged().unwrap();
    assert_eq!(judged.wider.len(), 100);
    assert!(
        judged
            .violation
            .unwrap()
            .what
            .contains("VM.PowerMgmt on /vms/009 and 90 more")
    );
}

#[test]
fn surplus_and_lack_are_told_together() {
    let server = Server {
        roles: Server::auditor(NEWEST).roles,
        ..Server::auditor(&NEWEST[1..])
    };
    let what = server
        .also("/", "VM.Config.Disk")
        .refused(&["VM.Config.Disk on /"]);
    assert!(
        what.contains("VM.Config.Disk on /, and lacks Datastore.Audit on /"),
        "{what}"
    );
}

#[test]
fn a_token_that_may_do_nothing_is_told_so() {
    let mut server = Server::auditor(NEWEST);
    server.held.clear();
    assert!(server.refused(&[]).contains("may do nothing at all"));
    let server = server.holds("/", &[]).holds("/vms", &[]);
    assert!(server.refused(&[]).contains("may do nothing at all"));
}

#[test]
fn the_role_on_a_part_of_the_cluster_is_not_enough() {
    let auditor = Server::auditor(NEWEST);
    let mut part = auditor.clone();
    part.held.retain(|path, _| path.starts_with("/vms"));
    let what = part.refused(&[]);
    assert!(
        NEWEST.iter().all(|name| what.contains(&format!("{name} on /"))),
        "{what}"
    );
    // On / alone, without what lies below.
    let alone: Vec<(&str, Value)> = NEWEST.iter().map(|&name| (name, json!(0))).collect();
    let what = auditor.holds("/", &alone).refused(&[]);
    assert!(what.contains("VM.Audit below / (propagate is off)"), "{what}");
}

#[test]
fn a_role_of_ones_own_is_refused_though_it_only_reads() {
    // With one privilege of the role.
    let server = Server {
        roles: Server::auditor(NEWEST).roles,
        ..Server::auditor(&["VM.Audit"])
    };
    assert!(server.refused(&[]).contains("lacks Datastore.Audit on /"));
    // With all of them: whoever keeps it may widen it.
    for (path, role) in [
        ("/", "reader"),
        ("/vms/100", "reader"),
        ("/vms", "PVEVMAdmin"),
        ("/", "pveauditor"),
    ] {
        let entries = json!([
            entry("/", "token", "audit@pve!toolgate", ROLE),
            entry(path, "token", "audit@pve!toolgate", role)
        ]);
        let what = Server::auditor(NEWEST).acl(entries).refused(&[]);
        assert!(
            what.contains(&format!("another role than PVEAuditor: {role} on {path}")),
            "{what}"
        );
    }
    let nameless = json!([{"path": "/", "type": "token", "ugid": "audit@pve!toolgate"}]);
    assert!(
        Server::auditor(NEWEST)
            .acl(nameless)
            .refused(&[])
            .contains("? on /")
    );
}

#[test]
fn what_only_takes_away_is_tolerated() {
    let entries = json!([
        entry("/", "token", "audit@pve!toolgate", ROLE),
        entry("/vms/200", "token", "audit@pve!toolgate", "NoAccess"),
    ]);
    let mut server = Server::auditor(NEWEST).acl(entries).holds("/vms/200", &[]);
    server.passes();
    server.held.remove("/vms/200");
    server.passes();
    // An owner who may do less somewhere.
    server
        .holds("/storage/x", &[("Datastore.Audit", json!(0))])
        .passes();
}

#[test]
fn entries_of_others_do_not_count() {
    let entries = json!([
        entry("/", "token", "audit@pve!toolgate", ROLE),
        entry("/", "token", "audit@pve!other", "Administrator"),
        entry("/", "user", "audit@pve", "Administrator"),
        entry("/", "group", "admins", "Administrator"),
        entry("/", "group", "audit@pve!toolgate", "Administrator"),
        null, 7, {"roleid": "Administrator"},
    ]);
    let users = json!([null, user("audit@pve", "toolgate", json!("1"), "admins")]);
    Server::auditor(NEWEST).acl(entries).users(users).passes();
}

#[test]
fn a_token_without_separation_is_judged_by_its_owner_and_the_owners_groups() {
    let of = |entries: Value, groups: &str| {
        Server::auditor(NEWEST)
            .acl(entries)
            .users(json!([user("audit@pve", "toolgate", json!(0), groups)]))
    };
    let owner = |role: &str| {
        json!([
            entry("/", "user", "audit@pve", role),
            entry("/", "group", "admins", "Administrator")
        ])
    };
    let group = |role: &str| json!([entry("/", "group", "audit", role)]);
    of(owner(ROLE), "").passes();
    of(group(ROLE), "x,audit").passes();
    let listed = json!([{"userid": "audit@pve", "groups": ["audit"], "tokens": [{"tokenid": "toolgate", "privsep": 0}]}]);
    of(group(ROLE), "").users(listed).passes();
    // More, by the owner's own role or a group's.
    for (server, by) in [
        (of(owner("PVEVMUser"), ""), "PVEVMUser on /"),
        (of(group("PVEVMUser"), "x,audit"), "PVEVMUser on /"),
    ] {
        let what = server
            .clone()
            .also("/vms", "VM.PowerMgmt")
            .refused(&["VM.PowerMgmt on /vms"]);
        assert!(
            what.contains(&format!("by the role {by}")) && what.contains("privsep 0"),
            "{what}"
        );
        // The same before it shows.
        assert!(server.refused(&[]).contains(by));
    }
    // The token's own entries count for nothing then.
    of(
        json!([
            entry("/", "user", "audit@pve", ROLE),
            entry("/", "token", "audit@pve!toolgate", "reader")
        ]),
        "",
    )
    .passes();
}

#[test]
fn lists_that_are_kept_from_the_token_leave_the_names_of_roles_open() {
    for acl in [None, Some(json!([])), Some(json!(null)), Some(json!("fake"))] {
        let judged = Server {
            acl,
            ..Server::auditor(NEWEST)
        }
        .passes();
        assert_eq!(judged.not_provable, ["names of its roles"]);
    }
    for users in [
        None,
        Some(json!([])),
        Some(json!([user("audit@pve", "other", json!(0), "")])),
    ] {
        Server {
            users,
            ..Server::auditor(NEWEST)
        }
        .passes();
    }
}

#[test]
fn a_role_that_is_not_the_servers_own_or_more_than_reading_proves_nothing() {
    let of = |role: Value| Server {
        roles: json!([role]),
        ..Server::auditor(NEWEST)
    };
    for role in [
        json!({"roleid": "PVEAuditor", "privs": "VM.Audit", "special": 0}),
        json!({"roleid": "PVEAuditor", "privs": "VM.Audit"}),
        json!({"roleid": "PVEAuditor", "privs": "", "special": 1}),
        json!({"roleid": "PVEAuditor", "special": 1}),
        json!({"roleid": "pveauditor", "privs": "VM.Audit", "special": 1}),
        json!({"roleid": "Auditor", "privs": "VM.Audit", "special": 1}),
    ] {
        assert!(of(role).refused(&[]).contains("no role PVEAuditor of its own"));
    }
    let more = json!({"roleid": "PVEAuditor", "privs": "VM.Audit,VM.PowerMgmt,Sys.Auditor", "special": 1});
    assert!(
        of(more)
            .refused(&["Sys.Auditor", "VM.PowerMgmt"])
            .contains("holds what is more than reading")
    );
}

#[test]
fn what_cannot_be_read_is_not_taken_for_harmless() {
    let auditor = || Server::auditor(NEWEST);
    for roles in [json!(null), json!({}), json!("x")] {
        assert_eq!(Server { roles, ..auditor() }.judged(), None);
    }
    let token = TokenId::parse("audit@pve!toolgate").unwrap();
    for permissions in [
        json!(null),
        json!([]),
        json!("x"),
        json!({"/": []}),
        json!({"/": null}),
        json!({"/": {}, "/vms": 1}),
    ] {
        let seen = Seen {
            roles: auditor().roles,
            permissions,
            ..Seen::default()
        };
        assert_eq!(judge(&token, &seen), None);
    }
}

#[test]
fn names_of_a_server_are_told_without_what_could_steer_a_reader() {
    let what = Server::auditor(NEWEST)
        .also("/x\u{202e}y", "VM.\u{1b}[2J")
        .refused(&[r"VM.\u{1b}[2J on /x\u{202e}y"]);
    assert!(!what.chars().any(char::is_control), "{what}");
}
