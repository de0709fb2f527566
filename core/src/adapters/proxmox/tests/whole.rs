//! The whole way as the gate goes it: settings and credential as an admin gives them, TLS with a pinned certificate, and
//! nothing but what the faces of adapters promise.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use tokio_rustls::rustls::{ServerConfig, crypto::ring::default_provider, pki_types::PrivateKeyDer};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::CallId;

use crate::{
    adapters::{Adapter, Defaults, Kind, Validation, Verdict},
    registry,
    upstream::{
        Payload, Reports, ToolResult, UpstreamCall, UpstreamError,
        reader::peer::{Asked, Peer, Reply, contact},
    },
};

const OWNER: &str = "j.doe@corp.example@ldap";
const SECRET: &str = "5f0a4c1e-9d11-4000-8000-0123456789ab";
const AUDITOR: &str =
    "Datastore.Audit,Mapping.Audit,Pool.Audit,SDN.Audit,Sys.Audit,VM.Audit,VM.GuestAgent.Audit";

/// What a cluster answers, by path below its API; everything else it does not know.
struct Pve(BTreeMap<String, Reply>);

impl Pve {
    /// One with three nodes, of which pve2 is off, and a token that is an auditor's.
    fn new() -> Self {
        Self(BTreeMap::new())
            .data("version", json!({"version": "9.1.1", "release": "9.1", "repoid": "abcdef01"}))
            .data("access/roles", json!([
                {"roleid": "Administrator", "special": 1, "privs": "Sys.Modify,VM.PowerMgmt"},
                {"roleid": "PVEAuditor", "special": 1, "privs": AUDITOR},
                {"roleid": "Looker", "special": 0, "privs": "VM.Audit"}
            ]))
            .data("access/permissions", json!({"/": auditor(), "/vms": auditor(), "/access": auditor()}))
            .data("access/acl", json!([acl("token", &format!("{OWNER}!mon"), "PVEAuditor", "/")]))
            .data("access/users?full=1", json!([
                {"userid": "root@pam", "groups": "", "tokens": []},
                {"userid": OWNER, "groups": "ops,audit", "tokens": [{"tokenid": "mon", "privsep": 1, "expire": 0}]}
            ]))
            .data("nodes", json!([
                {"node": "pve1", "status": "online", "level": ""},
                {"node": "pve2", "status": "offline"},
                {"node": "pve3", "status": "online"}
            ]))
            .data("nodes/pve1/status", json!({"uptime": "77"}))
            .data("nodes/pve1/rrddata?timeframe=hour&cf=AVERAGE", json!([{"time": 60}]))
            // A server that reflects what it was sent.
            .data("nodes/pve1/qemu/1000/status/current", json!({"name": format!("web {SECRET}"), "status": "running", "cpus": "4"}))
            .data("cluster/resources?type=vm", json!([
                {"id": "qemu/1000", "vmid": 1000, "type": "qemu", "node": "pve1", "status": "running", "name": "web", "template": 0, "cpu": 0.5},
                {"id": "lxc/101", "vmid": "101", "type": "lxc", "node": "pve2", "status": "unknown"},
                {"id": "lxc/105", "type": "lxc", "vmid": 105, "tags": "web;prod"},
                {"id": "qemu/100", "vmid": 100, "type": "qemu", "node": "pve3", "status": "stopped", "template": 1}
            ]))
    }

    fn data(self, path: &str, data: Value) -> Self {
        self.reply(path, Reply::json(&json!({"data": data})))
    }

    fn reply(mut self, path: &str, reply: Reply) -> Self {
        self.0.insert(path.to_owned(), reply);
        self
    }

    fn answer(&self, asked: &Asked) -> Reply {
        if asked.header("authorization") != format!("PVEAPIToken={OWNER}!mon={SECRET}") {
            return fault(401, "authentication failure");
        }
        let path = asked
            .path_and_query
            .strip_prefix("/api2/json/")
            .unwrap_or_default();
        let known = self.0.get(path).cloned();
        known.unwrap_or_else(|| fault(501, &format!("Method 'GET /{path}' not implemented")))
    }

    /// It, and what reads it.
    fn start(self) -> (Peer, Arc<dyn Adapter>) {
        let made = rcgen::generate_simple_self_signed(vec!["pve1.example".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let print = ring::digest::digest(&ring::digest::SHA256, made.cert.der());
        let peer = Peer::over_tls(config, move |asked| self.answer(asked));
        let given = json!({
            "host": "127.0.0.1",
            "port": peer.port(),
            "fingerprints": [data_encoding::HEXLOWER.encode(print.as_ref())],
            "allow_loopback": true,
        });
        let settings = Kind::Proxmox
            .settings(object(given), Defaults::default())
            .unwrap();
        let given = json!({"tokenId": format!("{OWNER}!mon"), "tokenSecret": SECRET});
        let credential = Kind::Proxmox.credential(&object(given)).unwrap();
        let adapter = Kind::Proxmox.open(&Value::Object(settings), &Value::Null, &credential);
        (peer, adapter.unwrap())
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn auditor() -> Value {
    AUDITOR
        .split(',')
        .map(|name| (name.to_owned(), json!(1)))
        .collect::<Map<_, _>>()
        .into()
}

fn acl(kind: &str, of: &str, role: &str, path: &str) -> Value {
    json!({"path": path, "type": kind, "ugid": of, "roleid": role, "propagate": 1})
}

/// A no, as releases since 2025 word it.
fn fault(status: u16, text: &str) -> Reply {
    Reply::json(&json!({"data": null, "message": format!("{text}\n")}))
        .with_status(status)
        .reason(text)
        .closing()
}

async fn call(
    adapter: &Arc<dyn Adapter>,
    tool: &'static str,
    arguments: Value,
) -> Result<ToolResult, UpstreamError> {
    let call = UpstreamCall {
        call: CallId::mint(),
        tool,
        arguments: Payload(arguments.to_string().into()),
        secret: None,
        deadline: Duration::from_secs(10),
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: None,
    };
    adapter.call(&contact(), call).await
}

/// The structured part, which fits its schema.
async fn told(adapter: &Arc<dyn Adapter>, tool: &'static str, arguments: Value) -> Value {
    let result = call(adapter, tool, arguments).await.unwrap();
    assert!(!result.is_error, "{}", result.content);
    let structured = result.structured.unwrap();
    assert!(registry::fits_output(tool, &structured), "{structured}");
    serde_json::from_str(structured.get()).unwrap()
}

async fn validated(pve: Pve) -> Validation {
    let (peer, adapter) = pve.start();
    let found = adapter.validate(&contact()).await;
    assert!(peer.asked().iter().all(|asked| asked.method == "GET"));
    assert!(!format!("{found:?}").contains(SECRET));
    found
}

#[tokio::test]
async fn from_settings_to_answers_everything_fits() {
    let (peer, adapter) = Pve::new().start();
    let found = adapter.validate(&contact()).await;
    assert_eq!(found.verdict, Verdict::Passed, "{found:?}");
    assert_eq!(found.facts["version"], "9.1.1");
    assert_eq!(found.wider, [""; 0]);
    let listed = told(&adapter, "proxmox.list_vms", json!({})).await;
    let order: Vec<_> = listed["vms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vm| vm["vmid"].as_i64().unwrap())
        .collect();
    assert_eq!(
        (order, &listed["more"]),
        (vec![100, 101, 105, 1000], &json!(false))
    );
    let guest = told(&adapter, "proxmox.get_vm_status", json!({"vmid": 1000})).await;
    assert_eq!(
        (&guest["status"], &guest["cpus"]),
        (&json!("running"), &json!(4.0))
    );
    let name = guest["name"].as_str().unwrap();
    assert!(name.starts_with("web [") && !name.contains(SECRET), "{name}");
    let node = told(&adapter, "proxmox.get_node_metrics", json!({"node": "pve1"})).await;
    assert_eq!(
        (&node["uptime"], &node["samples"]),
        (&json!(77), &json!([{"time": 60}]))
    );
    assert!(
        peer.asked()
            .iter()
            .all(|asked| asked.method == "GET" && asked.path().starts_with("/api2/json/"))
    );
    assert_eq!(peer.asked()[0].path(), "/api2/json/version");
}

#[tokio::test]
async fn a_token_that_is_not_exactly_an_auditor_is_refused_for_what_it_is() {
    let token = format!("{OWNER}!mon");
    let with = |permissions: Value, role: &str, path: &str| {
        Pve::new().data("access/permissions", permissions).data(
            "access/acl",
            json!([
                acl("token", &token, "PVEAuditor", "/"),
                acl("token", &token, role, path)
            ]),
        )
    };
    let mut more = auditor();
    more["VM.PowerMgmt"] = json!(0);
    let mut less = auditor();
    less.as_object_mut().unwrap().remove("Sys.Audit");
    let mut stays = auditor();
    stays["Sys.Audit"] = json!(0);
    let owners = |permissions: Value, entries: Value| {
        Pve::new()
            .data("access/permissions", permissions)
            .data("access/acl", entries)
            .data(
                "access/users?full=1",
                json!([
                    {"userid": OWNER, "groups": "ops,audit", "tokens": [{"tokenid": "mon", "privsep": 0}]}
                ]),
            )
    };
    let more_everywhere = json!({"/": more.clone()});
    let cases = [
        (
            "more, deeper",
            with(json!({"/": auditor(), "/vms/7": more}), "Administrator", "/vms/7"),
            Some((true, "VM.PowerMgmt on /vms/7")),
        ),
        (
            "less",
            with(json!({"/": less}), "Looker", "/"),
            Some((false, "Sys.Audit")),
        ),
        (
            "not propagated",
            with(json!({"/": stays}), "NoAccess", "/x"),
            Some((false, "Sys.Audit")),
        ),
        (
            "only below",
            with(json!({"/vms": auditor()}), "PVEAuditor", "/vms"),
            Some((false, "Sys.Audit")),
        ),
        (
            "nothing",
            with(json!({}), "NoAccess", "/"),
            Some((false, "nothing")),
        ),
        (
            "same privileges, own role",
            with(json!({"/": auditor()}), "Looker", "/"),
            Some((false, "Looker")),
        ),
        (
            "only taken away",
            with(json!({"/": auditor()}), "NoAccess", "/vms/9"),
            None,
        ),
        (
            "owner's, more",
            owners(more_everywhere, json!([acl("user", OWNER, "Administrator", "/")])),
            Some((true, "privsep")),
        ),
        (
            "owner's, by a group",
            owners(
                json!({"/": auditor()}),
                json!([acl("group", "audit", "PVEAuditor", "/")]),
            ),
            None,
        ),
        (
            "owner's, by a group's own role",
            owners(
                json!({"/": auditor()}),
                json!([acl("group", "ops", "Looker", "/")]),
            ),
            Some((false, "Looker")),
        ),
        (
            "lists kept from it",
            owners(json!({"/": auditor()}), json!([])),
            None,
        ),
    ];
    for (case, pve, expected) in cases {
        let found = validated(pve).await;
        match (expected, &found.verdict) {
            (None, Verdict::Passed) => {}
            (Some((wider, says)), Verdict::Violation(violation)) => {
                assert_eq!(violation.wider, wider, "{case}: {violation:?}");
                assert!(violation.what.contains(says), "{case}: {violation:?}");
            }
            (expected, verdict) => panic!("{case}: {expected:?} and {verdict:?}"),
        }
    }
}
