//! Projects: registered, enrolled, pinned anew, and kept as their file says.

use super::*;
use crate::{snapshot::RelayStanding, targets::projects::Entry};

const OTHER: PublicKey = Octets([6; 32]);

fn wanted(name: &str, config: &Value) -> Wanted {
    Wanted {
        adapter: "project".into(),
        name: name.into(),
        config: config.to_string().into(),
        credential: bytes::Bytes::new(),
    }
}

fn entry(name: &str, settings: Value) -> Entry {
    let Value::Object(settings) = settings else {
        panic!("no object")
    };
    Entry::read(name, settings).unwrap()
}

impl Room {
    async fn register(&self, name: &str) -> (Target, EnrolmentToken) {
        let made = self
            .targets
            .create(self.ground.admin(), wanted(name, &json!({})))
            .await;
        let (target, enrolment) = made.unwrap();
        let enrolment = enrolment.unwrap();
        assert!(enrolment.command.reveal().ends_with(" -- YOUR-SERVER"));
        (target, EnrolmentToken::parse(enrolment.token.reveal()).unwrap())
    }

    async fn enrol_project(&self, token: &EnrolmentToken, key: PublicKey) -> RelayRecord {
        let hash = secret_hash(&token.secret);
        let redeemed = self.relays.redeem(&token.tenant, hash, key, Offer::Project);
        redeemed.await.unwrap()
    }

    async fn follow(&self, entries: Vec<Entry>) -> Followed {
        let by = By::gateway(self.ground.tenant().clone());
        self.targets.follow_file(by, entries).await.unwrap()
    }

    async fn named(&self, name: &str) -> Target {
        self.targets.project(&self.ground.admin(), name).await.unwrap()
    }
}

#[tokio::test]
async fn a_project_is_registered_enrolled_and_told_by_its_name() {
    let room = room().await;
    let (target, token) = room.register("alpha").await;
    assert_eq!(room.targets.status(&target), "waiting");
    let hash = secret_hash(&token.secret);
    let as_host = room.relays.redeem(&token.tenant, hash, KEY, Offer::Host).await;
    assert_eq!(as_host.unwrap_err(), RedeemError::Refused);

    let relay = room.enrol_project(&token, KEY).await;
    assert_eq!((relay.target, relay.offer), (target.id, Offer::Project));
    assert_eq!(room.relay(room.ground.tenant(), target.id).await, Some(relay));
    let found = room.named("alpha").await;
    assert_eq!((found.id, room.targets.status(&found)), (target.id, "offline"));
    let snapshot = room.ground.snapshot().await;
    assert_eq!(snapshot.project("alpha").map(|it| it.id), Some(target.id));
    let missing = room
        .targets
        .project(&room.ground.admin(), "alhpa")
        .await
        .unwrap_err();
    assert_eq!(missing.reason(), ErrorReason::ProjectNotFound);
    assert!(missing.to_string().contains("alpha"), "{missing}");

    room.targets
        .delete(room.ground.admin(), &target.id.to_string())
        .await
        .unwrap();
    assert_eq!(
        room.ground.since_start().await,
        ["project.registered", "relay.enrolled", "project.removed"]
    );
}

#[tokio::test]
async fn a_project_is_not_called_like_infrastructure_and_keeps_its_rules_when_it_is_changed() {
    let room = room().await;
    let admin = || room.ground.admin();
    for name in ["github", "Alpha", ""] {
        let refused = room.targets.create(admin(), wanted(name, &json!({}))).await;
        assert!(refused.unwrap_err().to_string().starts_with("name: must"));
    }
    let (target, _) = room.register("alpha").await;
    let id = target.id.to_string();
    let again = room.targets.create(admin(), wanted("alpha", &json!({}))).await;
    assert_eq!(again.unwrap_err().reason(), ErrorReason::Conflict);
    let renamed = Edit {
        name: Some("ssh".into()),
        ..Edit::default()
    };
    let refused = room.targets.update(admin(), &id, renamed).await.unwrap_err();
    assert!(refused.to_string().starts_with("name: must not be one of"));
    let credential = Edit {
        credential: Some(r#"{"token":"x"}"#.into()),
        ..Edit::default()
    };
    let refused = room
        .targets
        .update(admin(), &id, credential)
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.starts_with("credential: targets of type project take none"));
    let opened = Edit {
        config: Some(r#"{"access":"read_write","timeoutSeconds":5}"#.into()),
        ..Edit::default()
    };
    let changed = room.targets.update(admin(), &id, opened).await.unwrap();
    assert_eq!(
        (&changed.config["access"], &changed.config["timeoutSeconds"]),
        (&json!("read_write"), &json!(5))
    );
    let record = room.ground.record().await;
    let told = detail(record.last().unwrap());
    assert_eq!(
        (&told["change"], &told["access"]),
        (&json!("updated"), &json!("read_write"))
    );
}

#[tokio::test]
async fn a_key_that_was_shown_takes_the_place_of_the_pinned_one_and_cuts_that_off() {
    let room = room().await;
    let (target, token) = room.register("alpha").await;
    let repin = |key| room.targets.repin(room.ground.admin(), target.id, key);
    assert_eq!(
        repin(OTHER).await.unwrap_err().reason(),
        ErrorReason::ResourceNotFound
    );

    room.enrol_project(&token, KEY).await;
    room.sockets.connect(target.id);
    repin(OTHER).await.unwrap();
    assert!(!room.sockets.is_connected(target.id));
    assert_eq!(room.get(target.id).await.relay_key, Some(OTHER));
    repin(OTHER).await.unwrap();

    let record = room.ground.record().await;
    let rows: Vec<_> = record
        .iter()
        .filter(|row| row.kind == EventKind::RelayRepinned)
        .map(detail)
        .collect();
    let keys = json!({"key": OTHER.to_string(), "name": "alpha", "replaces": KEY.to_string()});
    assert_eq!(rows, [keys]);
}

#[tokio::test]
async fn a_key_that_was_in_use_twice_is_not_pinned_again_but_another_one_is() {
    let room = room().await;
    let (target, token) = room.register("alpha").await;
    let relay = room.enrol_project(&token, KEY).await;
    crate::uplinks::UplinkEvents::clone_suspected(&room.relays, &relay);
    room.tasks.close();
    room.tasks.wait().await;
    assert_eq!(room.get(target.id).await.standing(), RelayStanding::Locked);
    let repin = |key| room.targets.repin(room.ground.admin(), target.id, key);
    assert_eq!(repin(KEY).await.unwrap_err().reason(), ErrorReason::Conflict);
    repin(OTHER).await.unwrap();
    let target = room.get(target.id).await;
    assert_eq!(
        (target.standing(), target.relay_key),
        (RelayStanding::Enrolled, Some(OTHER))
    );
}

#[tokio::test]
async fn projects_are_what_their_file_says_and_others_are_left_alone() {
    let room = room().await;
    let (own, _) = room.register("own").await;
    let plain = || entry("alpha", json!({"url": "http://a"}));

    let first = room
        .follow(vec![plain(), entry("beta", json!({})), entry("own", json!({}))])
        .await;
    assert_eq!(
        (first.changed, first.untouched),
        (vec!["alpha".into(), "beta".into()], vec!["own".into()])
    );
    let alpha = room.named("alpha").await;
    assert_eq!(
        (&alpha.config["access"], &alpha.config["source"]),
        (&json!("read_write"), &json!("file"))
    );
    assert_eq!(room.get(own.id).await, own);
    assert_eq!(
        room.follow(vec![plain(), entry("beta", json!({}))]).await,
        Followed::default()
    );

    // One that leaves is disabled with all it has, and comes back as it was.
    assert_eq!(room.follow(vec![plain()]).await.changed, ["beta"]);
    let beta = room.named("beta").await;
    assert!(beta.disabled);
    assert!(room.ground.snapshot().await.project("beta").is_none());
    let back = room
        .follow(vec![plain(), entry("beta", json!({"access": "read_only"}))])
        .await;
    assert_eq!(back.changed, ["beta"]);
    let again = room.named("beta").await;
    assert_eq!(
        (again.id, again.disabled, &again.config["access"]),
        (beta.id, false, &json!("read_only"))
    );

    let record = room.ground.record().await;
    let by_file: Vec<_> = record
        .iter()
        .map(|row| (row, detail(row)))
        .filter(|(_, detail)| detail["source"] == "file")
        .map(|(row, detail)| {
            assert_eq!((&*row.facade, &*row.principal), ("system", ""));
            (
                row.kind.as_str(),
                detail["name"].clone(),
                detail["disabled"].clone(),
            )
        })
        .collect();
    assert_eq!(
        by_file,
        [
            ("project.registered", json!("alpha"), json!(false)),
            ("project.registered", json!("beta"), json!(false)),
            ("adapter.configured", json!("beta"), json!(true)),
            ("adapter.configured", json!("beta"), json!(false)),
        ]
    );
}

#[tokio::test]
async fn what_the_file_says_is_changed_in_the_file_and_goes_once_it_has_left_it() {
    let room = room().await;
    room.follow(vec![entry("alpha", json!({}))]).await;
    let id = room.named("alpha").await.id.to_string();
    let admin = || room.ground.admin();
    let off = Edit {
        disabled: Some(true),
        ..Edit::default()
    };
    let told = room.targets.update(admin(), &id, off).await.unwrap_err();
    assert_eq!(
        (told.reason(), told.to_string().contains("projects.toml")),
        (ErrorReason::Conflict, true)
    );
    let gone = room.targets.delete(admin(), &id).await.unwrap_err();
    assert_eq!(gone.reason(), ErrorReason::Conflict);
    // Its relay is the admin's.
    room.targets.enrol(admin(), &id).await.unwrap();

    room.follow(vec![]).await;
    room.targets.delete(admin(), &id).await.unwrap();
}
