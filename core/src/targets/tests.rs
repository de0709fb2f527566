//! Targets over a store of their own, with sockets that a test opens and looks at.

mod dialled;
mod projects;
mod relays;

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{Octets, Offer, PublicKey},
    v1::ErrorReason,
};

use tokio_util::task::TaskTracker;

use super::*;
use crate::{
    changes::tests::ground::{FIRST_ROWS, Ground, detail},
    secrets::Secrets,
    uplinks::{Enrolments, RedeemError, RelayRecord, secret_hash},
};

/// Connections as a test sets them.
#[derive(Debug, Default)]
struct Sockets {
    open: Mutex<HashSet<TargetId>>,
}

impl Sockets {
    fn connect(&self, target: TargetId) {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(target);
    }
}

impl Live for Sockets {
    fn is_connected(&self, target: TargetId) -> bool {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&target)
    }

    fn disconnect(&self, target: TargetId) {
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&target);
    }

    fn unlock(&self, _: TargetId) {}
}

const KEY: PublicKey = Octets([5; 32]);

struct Room {
    ground: Ground,
    sockets: Arc<Sockets>,
    targets: Targets,
    relays: Relays,
    tasks: TaskTracker,
}

fn dialling(ground: &Ground) -> Dialling {
    let secrets = Secrets::local_only(
        ground.store.clone(),
        Arc::clone(&ground.keys),
        ground.clock.clone(),
    );
    Dialling::new(
        secrets,
        ground.journal.clone(),
        ground.clock.clone(),
        ground.tasks.clone(),
    )
}

async fn room() -> Room {
    let ground = Ground::new().await;
    let sockets = Arc::new(Sockets::default());
    let live = Arc::clone(&sockets) as Arc<dyn Live>;
    let targets = Targets::new(
        ground.changes.clone(),
        Arc::clone(&ground.keys),
        live,
        "https://gate.example/",
        dialling(&ground),
    );
    let tasks = TaskTracker::new();
    let relays = Relays::new(ground.changes.clone(), ground.journal.clone(), tasks.clone());
    Room {
        ground,
        sockets,
        targets,
        relays,
        tasks,
    }
}

impl Room {
    async fn add(&self, name: &str) -> (Target, EnrolmentToken) {
        let (target, enrolment) = self
            .targets
            .create(self.ground.admin(), host(name))
            .await
            .unwrap();
        let enrolment = enrolment.unwrap();
        (target, EnrolmentToken::parse(enrolment.token.reveal()).unwrap())
    }

    async fn redeem(&self, token: &EnrolmentToken) -> Option<RelayRecord> {
        self.redeem_with(&token.tenant, token, KEY).await
    }

    async fn redeem_with(
        &self,
        tenant: &TenantId,
        token: &EnrolmentToken,
        key: PublicKey,
    ) -> Option<RelayRecord> {
        let redeemed = self
            .relays
            .redeem(tenant, secret_hash(&token.secret), key, Offer::Host)
            .await;
        match redeemed {
            Ok(relay) => Some(relay),
            Err(RedeemError::Refused) => None,
            Err(error) => panic!("{error}"),
        }
    }

    async fn enrol_again(&self, target: TargetId) -> EnrolmentToken {
        let enrolment = self
            .targets
            .enrol(self.ground.admin(), &target.to_string())
            .await
            .unwrap();
        EnrolmentToken::parse(enrolment.token.reveal()).unwrap()
    }

    async fn relay(&self, tenant: &TenantId, target: TargetId) -> Option<RelayRecord> {
        self.relays.find(tenant, target).await.unwrap()
    }

    async fn get(&self, id: TargetId) -> Target {
        self.targets
            .get(&self.ground.admin(), &id.to_string())
            .await
            .unwrap()
    }
}

fn host(name: &str) -> Wanted {
    Wanted {
        adapter: "ssh".into(),
        name: name.into(),
        config: br#"{"hostname":"web-1.example","port":22}"#.as_slice().into(),
        credential: bytes::Bytes::new(),
    }
}

fn edit() -> Edit {
    Edit::default()
}

#[tokio::test]
async fn an_added_host_is_seen_by_calls_at_once_and_waits_for_its_relay() {
    let room = room().await;
    let (target, enrolment) = room
        .targets
        .create(room.ground.admin(), host("web"))
        .await
        .unwrap();
    let enrolment = enrolment.unwrap();

    assert_eq!(room.targets.status(&target), "waiting");
    assert_eq!(target.validation["verdict"], "pending");
    assert_eq!(target.config, json!({"hostname": "web-1.example", "port": 22}));
    let snapshot = room.ground.snapshot().await;
    assert_eq!(
        snapshot.targets_of("ssh").map(|it| it.id).collect::<Vec<_>>(),
        [target.id]
    );

    let token = EnrolmentToken::parse(enrolment.token.reveal()).unwrap();
    assert_eq!(token.tenant, *room.ground.tenant());
    assert_eq!(
        token.gateway_key.0,
        room.ground.keys.gateway_identity().public_key()
    );
    let command = enrolment.command.reveal();
    assert!(
        command.starts_with("TOOLGATE_ENROLMENT_TOKEN=tge_")
            && command.ends_with(" toolgate relay host --gateway https://gate.example --name web"),
        "{command}"
    );

    let record = room.ground.record().await;
    let row = &record[FIRST_ROWS];
    assert_eq!(
        (row.kind, row.target_id, &*row.adapter_type),
        (EventKind::AdapterConfigured, Some(target.id), "ssh")
    );
    let told = detail(row);
    assert_eq!(
        (&told["change"], &told["name"], &told["type"], &told["validation"]),
        (&json!("created"), &json!("web"), &json!("ssh"), &json!("pending"))
    );
    // The secret's own alphabet has the separator in it.
    let secret = enrolment.token.reveal().splitn(3, '_').nth(2).unwrap();
    assert!(!row.detail.contains(&secret[..12]));
}

#[tokio::test]
async fn what_cannot_be_a_target_is_refused_with_its_place() {
    let room = room().await;
    let cases = [
        (
            Wanted {
                adapter: "ftp".into(),
                ..host("a")
            },
            "type: no adapter type of this name",
        ),
        (
            Wanted {
                name: String::new(),
                ..host("a")
            },
            "name: ",
        ),
        (
            Wanted {
                config: "{}".into(),
                ..host("a")
            },
            "config.hostname: ",
        ),
        (
            Wanted {
                config: r#"{"hostname":"bad name!"}"#.into(),
                ..host("bad name!")
            },
            "name: stands for the host name as well",
        ),
        (
            Wanted {
                credential: r#"{"key":"secret"}"#.into(),
                ..host("a")
            },
            "credential: ",
        ),
    ];
    for (asked, place) in cases {
        let told = room.targets.create(room.ground.admin(), asked).await.unwrap_err();
        assert_eq!(told.reason(), ErrorReason::ArgumentsInvalid);
        assert!(told.to_string().starts_with(place), "{told}");
    }
    assert_eq!(room.ground.since_start().await, [] as [&str; 0]);
}

#[tokio::test]
async fn a_name_belongs_to_one_target_of_its_type() {
    let room = room().await;
    let (_, _) = room.add("web").await;
    let taken = room
        .targets
        .create(room.ground.admin(), host("web"))
        .await
        .unwrap_err();
    assert_eq!(taken.reason(), ErrorReason::Conflict);

    let (other, _) = room.add("db").await;
    let to_web = Edit {
        name: Some("web".into()),
        ..edit()
    };
    let taken = room
        .targets
        .update(room.ground.admin(), &other.id.to_string(), to_web)
        .await
        .unwrap_err();
    assert_eq!(taken.reason(), ErrorReason::Conflict);
    assert_eq!(room.ground.since_start().await.len(), 2);
}

#[tokio::test]
async fn an_update_changes_what_it_names_and_nothing_else() {
    let room = room().await;
    let (target, _) = room.add("web").await;
    let id = target.id.to_string();
    let update = |edit| room.targets.update(room.ground.admin(), &id, edit);

    ground_advance(&room);
    let same = update(edit()).await.unwrap();
    assert_eq!(same, target);
    let renamed = update(Edit {
        name: Some("www".into()),
        ..edit()
    })
    .await
    .unwrap();
    assert_eq!(
        (&*renamed.name, &renamed.config, renamed.disabled),
        ("www", &target.config, false)
    );
    assert!(renamed.updated_us > target.updated_us);
    let moved = update(Edit {
        config: Some(r#"{"hostname":"b"}"#.into()),
        ..edit()
    })
    .await
    .unwrap();
    assert_eq!(moved.config, json!({"hostname": "b"}));
    assert!(
        update(Edit {
            credential: Some(r#""x""#.into()),
            ..edit()
        })
        .await
        .is_err()
    );

    let off = update(Edit {
        disabled: Some(true),
        ..edit()
    })
    .await
    .unwrap();
    assert_eq!(room.targets.status(&off), "disabled");
    assert_eq!(room.ground.snapshot().await.targets_of("ssh").count(), 0);
    assert_eq!(room.ground.since_start().await.len(), 4);
    assert_eq!(room.get(target.id).await, off);
}

fn ground_advance(room: &Room) {
    room.ground.clock.advance(Duration::from_secs(1));
}

#[tokio::test]
async fn a_removed_target_takes_its_relay_and_enrolments_with_it() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    room.redeem(&token).await.unwrap();
    room.targets
        .enrol(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap();
    room.sockets.connect(target.id);

    room.targets
        .delete(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap();

    assert!(!room.sockets.is_connected(target.id));
    assert_eq!(room.relay(room.ground.tenant(), target.id).await, None);
    assert_eq!(room.ground.snapshot().await.targets_of("ssh").count(), 0);
    let gone = room
        .targets
        .delete(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap_err();
    assert_eq!(gone.reason(), ErrorReason::ResourceNotFound);
    let record = room.ground.record().await;
    assert_eq!(detail(record.last().unwrap())["change"], "removed");
}

#[tokio::test]
async fn lists_go_by_name_and_on_where_their_page_ended() {
    let room = room().await;
    for name in ["c", "a", "B", "ä"] {
        room.add(name).await;
    }
    let mut names = Vec::new();
    let mut next = None;
    loop {
        let page = Page::asked(Some(3), next.as_deref()).unwrap();
        let (listed, token) = room
            .targets
            .list(&room.ground.admin(), Some("ssh"), page)
            .await
            .unwrap();
        names.extend(listed.into_iter().map(|it| it.name));
        if token.is_empty() {
            break;
        }
        next = Some(token);
    }
    assert_eq!(names, ["B", "a", "c", "ä"]);
    let page = || Page::asked(None, None).unwrap();
    assert_eq!(
        room.targets
            .list(&room.ground.admin(), Some("github"), page())
            .await
            .unwrap()
            .0,
        []
    );
    assert_eq!(
        room.targets
            .list(&room.ground.admin(), None, page())
            .await
            .unwrap()
            .0
            .len(),
        4
    );
}

impl Room {
    async fn built_in(&self, host_name: &str, has_key: bool, was_target: bool) -> BuiltInHost {
        self.targets
            .built_in_host(host_name, has_key, was_target)
            .await
            .unwrap()
    }

    async fn names(&self) -> Vec<String> {
        let page = Page::asked(None, None).unwrap();
        let listed = self.targets.list(&self.ground.admin(), None, page).await.unwrap();
        listed.0.into_iter().map(|it| it.name).collect()
    }

    /// This host as a target whose relay has enrolled.
    async fn enrolled_built_in(&self) -> TargetId {
        let host = self.built_in("here", false, false).await;
        self.redeem(&token(&host)).await.unwrap();
        host.id.unwrap()
    }
}

fn token(host: &BuiltInHost) -> EnrolmentToken {
    match &host.relay {
        BuiltInRelay::Enrols(token) => EnrolmentToken::parse(token.reveal()).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn this_host_becomes_a_target_once() {
    let room = room().await;
    let first = room.built_in("here", false, false).await;
    let target = room.get(first.id.unwrap()).await;
    assert_eq!(target.config, json!({"hostname": "here", "builtIn": true}));

    // Not enrolled yet: a fresh token, and the former one no longer works.
    let fresh = room.built_in("here", true, true).await;
    assert_eq!(room.redeem(&token(&first)).await, None);
    room.redeem(&token(&fresh)).await.unwrap();
    let known = room.built_in("here", true, true).await;
    assert!(matches!(known.relay, BuiltInRelay::Connects), "{known:?}");
    // The key was lost, the host renamed.
    token(&room.built_in("renamed", false, true).await);
    assert_eq!(room.names().await, ["here"]);
}

#[tokio::test]
async fn this_host_finds_a_name_where_its_own_is_taken_or_none() {
    let room = room().await;
    room.add("here").await;
    let host = room.built_in("here", false, false).await;
    assert_eq!(room.names().await, ["here", "here (built-in)"]);
    assert_eq!((host.name.as_str(), host.among_others), ("here (built-in)", true));
}

#[tokio::test]
async fn this_host_stays_revoked_until_an_admin_wants_it_back() {
    let room = room().await;
    let id = room.enrolled_built_in().await;
    room.targets
        .revoke_relay(room.ground.admin(), &id.to_string())
        .await
        .unwrap();
    for has_key in [true, false] {
        let host = room.built_in("here", has_key, true).await;
        assert!(matches!(host.relay, BuiltInRelay::Revoked), "{host:?}");
    }
    room.enrol_again(id).await;
    token(&room.built_in("here", true, true).await);
}

#[tokio::test]
async fn this_host_stays_removed() {
    let room = room().await;
    let id = room.enrolled_built_in().await;
    room.targets
        .delete(room.ground.admin(), &id.to_string())
        .await
        .unwrap();
    let host = room.built_in("here", true, true).await;
    assert!(matches!(host.relay, BuiltInRelay::Removed), "{host:?}");
    assert_eq!(room.names().await, [] as [&str; 0]);
}

#[tokio::test]
async fn the_relay_inside_the_gateway_takes_its_token_by_itself() {
    let room = room().await;
    let id = room.enrolled_built_in().await;
    let mut tokens = room.targets.built_in_tokens();
    let shown = room
        .targets
        .enrol(room.ground.admin(), &id.to_string())
        .await
        .unwrap();
    assert_eq!((shown.token.reveal(), shown.command.reveal()), ("", ""));
    let taken = tokens.borrow_and_update().clone().unwrap();
    assert!(
        room.redeem(&EnrolmentToken::parse(taken.reveal()).unwrap())
            .await
            .is_some()
    );

    // Another host's token is shown, whoever listens; and this one's where nobody does.
    let (_, other) = room.add("web").await;
    assert!(room.redeem(&other).await.is_some());
    drop(tokens);
    room.enrol_again(id).await;
}
