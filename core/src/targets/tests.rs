use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{Octets, PublicKey},
    v1::ErrorReason,
};

use super::*;
use crate::changes::tests::ground::{FIRST_ROWS, Ground, detail};

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
}

const KEY: PublicKey = Octets([5; 32]);

struct Room {
    ground: Ground,
    sockets: Arc<Sockets>,
    targets: Targets,
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
    );
    Room {
        ground,
        sockets,
        targets,
    }
}

impl Room {
    async fn add(&self, name: &str) -> (Target, EnrolmentToken) {
        let (target, enrolment) = self
            .targets
            .create(self.ground.admin(), host(name))
            .await
            .unwrap();
        (target, EnrolmentToken::parse(enrolment.token.reveal()).unwrap())
    }

    async fn redeem(&self, token: &EnrolmentToken) -> Option<relays::Relay> {
        self.targets
            .redeem(&token.tenant, &token.secret, KEY)
            .await
            .unwrap()
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
        command.starts_with("toolgate relay host --gateway https://gate.example --token tge_"),
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
    let secret = enrolment.token.reveal().rsplit('_').next().unwrap();
    assert!(!row.detail.contains(&secret[..12]));
}

#[tokio::test]
async fn what_cannot_be_a_target_is_refused_with_its_place() {
    let room = room().await;
    let cases = [
        (
            Wanted {
                adapter: "proxmox".into(),
                ..host("a")
            },
            "type: targets of type proxmox cannot be added in this version; ssh can",
        ),
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
                credential: r#"{"key":"secret"}"#.into(),
                ..host("a")
            },
            "credential: ",
        ),
    ];
    for (asked, place) in cases {
        let told = room.targets.create(room.ground.admin(), asked).await.unwrap_err();
        assert_eq!(told.reason(), ErrorReason::RequestMalformed);
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
    let relay = room.redeem(&token).await.unwrap();
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
    assert_eq!(
        room.targets.relay(room.ground.tenant(), &relay.id).await.unwrap(),
        None
    );
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
async fn an_enrolment_is_redeemed_once_however_many_try_at_once() {
    let room = room().await;
    let (target, token) = room.add("web").await;

    let tries = futures::future::join_all(
        (0..100_u8).map(|n| room.targets.redeem(&token.tenant, &token.secret, Octets([n; 32]))),
    );
    let relays: Vec<_> = tries.await.into_iter().filter_map(Result::unwrap).collect();

    assert_eq!(relays.len(), 1);
    assert_eq!(relays[0].target, target.id);
    assert_eq!(
        room.targets
            .relay(room.ground.tenant(), &relays[0].id)
            .await
            .unwrap()
            .as_ref(),
        Some(&relays[0])
    );
    let record = room.ground.record().await;
    let enrolled: Vec<_> = record
        .iter()
        .filter(|row| row.kind == EventKind::RelayEnrolled)
        .collect();
    assert_eq!(enrolled.len(), 1);
    assert_eq!(
        (enrolled[0].target_id, &detail(enrolled[0])["relay"]),
        (Some(target.id), &json!(relays[0].id))
    );

    let target = room.get(target.id).await;
    assert_eq!(
        (room.targets.status(&target), &target.validation["verdict"]),
        ("offline", &json!("passed"))
    );
    room.sockets.connect(target.id);
    assert_eq!(room.targets.status(&target), "ready");
}

#[tokio::test]
async fn an_enrolment_ends_after_fifteen_minutes_or_with_the_next_one() {
    let room = room().await;
    let (target, first) = room.add("web").await;
    let second = room
        .targets
        .enrol(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap();
    assert_eq!(room.redeem(&first).await, None);

    let second = EnrolmentToken::parse(second.token.reveal()).unwrap();
    ground_advance(&room);
    room.ground.clock.advance(Duration::from_secs(15 * 60 - 1));
    assert_eq!(room.redeem(&second).await, None, "the token has no end");
}

#[tokio::test]
async fn an_enrolment_of_another_tenant_is_unknown() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let stranger = room.ground.stranger().await;
    let tried = room
        .targets
        .redeem(&stranger.tenant, &token.secret, KEY)
        .await
        .unwrap();
    assert_eq!(tried, None);
    let nobody = TenantId::mint();
    assert_eq!(
        room.targets.redeem(&nobody, &token.secret, KEY).await.unwrap(),
        None
    );

    let relay = room.redeem(&token).await.unwrap();
    assert_eq!(
        room.targets.relay(&stranger.tenant, &relay.id).await.unwrap(),
        None
    );
    let id = target.id.to_string();
    let refused = [
        room.targets.get(&stranger, &id).await.map(drop),
        room.targets.update(stranger.clone(), &id, edit()).await.map(drop),
        room.targets.delete(stranger.clone(), &id).await,
        room.targets.enrol(stranger.clone(), &id).await.map(drop),
        room.targets.revoke_relay(stranger.clone(), &id).await,
        room.targets.get(&room.ground.admin(), "no-id").await.map(drop),
    ];
    let told: HashSet<_> = refused
        .into_iter()
        .map(|it| it.unwrap_err().to_string())
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(room.get(target.id).await.relay, Some(relay.id));
}

#[tokio::test]
async fn a_revoked_relay_is_forgotten_and_cut_off() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let id = target.id.to_string();
    let none = room
        .targets
        .revoke_relay(room.ground.admin(), &id)
        .await
        .unwrap_err();
    assert_eq!(none.reason(), ErrorReason::ResourceNotFound);

    let relay = room.redeem(&token).await.unwrap();
    room.sockets.connect(target.id);
    room.targets.revoke_relay(room.ground.admin(), &id).await.unwrap();

    assert!(!room.sockets.is_connected(target.id));
    assert_eq!(
        room.targets.relay(room.ground.tenant(), &relay.id).await.unwrap(),
        None
    );
    let target = room.get(target.id).await;
    assert_eq!(
        (room.targets.status(&target), &target.validation["verdict"]),
        ("waiting", &json!("pending"))
    );
    assert_eq!(room.redeem(&token).await, None, "a used token works again");
    assert_eq!(
        room.ground.since_start().await,
        ["adapter.configured", "relay.enrolled", "relay.revoked"]
    );
}

#[tokio::test]
async fn a_host_can_be_enrolled_anew_and_the_former_relay_stays_until_then() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let first = room.redeem(&token).await.unwrap();
    let again = room
        .targets
        .enrol(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap();
    assert!(
        room.targets
            .relay(room.ground.tenant(), &first.id)
            .await
            .unwrap()
            .is_some()
    );

    let again = EnrolmentToken::parse(again.token.reveal()).unwrap();
    let second = room.redeem(&again).await.unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(
        room.targets.relay(room.ground.tenant(), &first.id).await.unwrap(),
        None
    );
    let record = room.ground.record().await;
    assert_eq!(detail(record.last().unwrap())["replaces"], first.id);
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

#[tokio::test]
async fn this_host_becomes_a_target_once() {
    let room = room().await;
    let token = room
        .targets
        .built_in_enrolment("here", false)
        .await
        .unwrap()
        .unwrap();
    let all = || async {
        room.targets
            .list(&room.ground.admin(), None, Page::asked(None, None).unwrap())
            .await
            .unwrap()
            .0
    };
    let listed = all().await;
    assert_eq!((listed.len(), &*listed[0].name), (1, "here"));
    assert_eq!(listed[0].config, json!({"hostname": "here", "builtIn": true}));

    // Not enrolled yet: a fresh token, and the former one no longer works.
    let fresh = room
        .targets
        .built_in_enrolment("here", true)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        room.redeem(&EnrolmentToken::parse(token.reveal()).unwrap()).await,
        None
    );
    room.redeem(&EnrolmentToken::parse(fresh.reveal()).unwrap())
        .await
        .unwrap();
    assert!(
        room.targets
            .built_in_enrolment("here", true)
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        room.targets
            .built_in_enrolment("renamed", false)
            .await
            .unwrap()
            .is_some(),
        "the key was lost"
    );
    assert_eq!(all().await.len(), 1);
}

#[tokio::test]
async fn this_host_finds_a_name_where_its_own_is_taken_or_none() {
    let room = room().await;
    room.add("here").await;
    room.targets
        .built_in_enrolment("here", false)
        .await
        .unwrap()
        .unwrap();
    let page = Page::asked(None, None).unwrap();
    let names: Vec<_> = room
        .targets
        .list(&room.ground.admin(), None, page)
        .await
        .unwrap()
        .0
        .into_iter()
        .map(|it| it.name)
        .collect();
    assert_eq!(names, ["here", "here (built-in)"]);
}

#[tokio::test]
async fn a_suspected_clone_is_on_the_record() {
    let room = room().await;
    let (target, token) = room.add("web").await;
    let relay = room.redeem(&token).await.unwrap();
    room.targets
        .suspect_clone(room.ground.tenant(), &relay.id, target.id)
        .await
        .unwrap();
    let record = room.ground.record().await;
    let row = record.last().unwrap();
    assert_eq!(
        (row.kind, row.target_id),
        (EventKind::RelayCloneSuspected, Some(target.id))
    );
}
