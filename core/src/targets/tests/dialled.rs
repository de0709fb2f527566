//! Targets that are dialled, with an adapter that finds what a test says.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use serde_json::Map;
use tokio::sync::Semaphore;
use toolgate_contract::v1::Failure;

use super::*;
use crate::{
    adapters::{Adapter, Grants, Stage, Validation, Verdict, Violation},
    audit::{Event, Outcome},
    journal::Contact,
    secrets::{Fault, Local, ProviderKind, Providers, SecretProvider, SecretRef, SecretValue},
    store::params,
    upstream::{ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// Stands in nothing but the store's sealed secrets.
const TOKEN: &str = "5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4";
const NEXT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Finds the same every time, once it is let.
#[derive(Debug)]
struct Finder {
    found: Mutex<Validation>,
    asked: AtomicUsize,
    lets: Semaphore,
}

impl Finder {
    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn finds(&self, found: Validation) {
        *self.found.lock().unwrap() = found;
    }
}

impl Upstream for Finder {
    fn call<'a>(
        &'a self,
        _: &'a Contact,
        _: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(std::future::ready(Err(UpstreamError::Failed)))
    }
}

impl Adapter for Finder {
    fn validate<'a>(&'a self, _: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let _let = self.lets.acquire().await.unwrap();
            self.found.lock().unwrap().clone()
        })
    }
}

fn stage(name: &'static str, failed: Option<&str>) -> Stage {
    Stage {
        name,
        took: Duration::from_millis(3),
        failed: failed.map(str::to_owned),
        mends: None,
    }
}

fn passed() -> Validation {
    Validation {
        verdict: Verdict::Passed,
        stages: vec![stage("reach", None), stage("privileges", None)],
        proven: vec!["read:repository".into()],
        wider: vec![],
        not_provable: vec!["write:repository".into()],
        facts: Map::from_iter([("version".into(), json!("1.23.1"))]),
    }
}

fn too_wide() -> Validation {
    Validation {
        verdict: Verdict::Violation(Violation {
            of: Grants::Scopes,
            what: "the token also has write:issue; make one with read:repository alone".into(),
            wider: true,
        }),
        stages: vec![
            stage("reach", None),
            stage("privileges", Some("write:issue is too much")),
        ],
        wider: vec!["write:issue".into()],
        ..passed()
    }
}

fn silent(error: UpstreamError) -> Validation {
    Validation {
        verdict: Verdict::Unknown(error),
        stages: vec![stage(
            "reach",
            Some("10.0.0.5 is private; allowPrivate lets it be dialled"),
        )],
        proven: vec![],
        not_provable: vec![],
        facts: Map::new(),
        ..passed()
    }
}

/// A room whose targets are all read by a finder; secrets elsewhere are one token.
struct World {
    room: Room,
    finder: Arc<Finder>,
}

#[derive(Debug)]
struct Keeps(Result<&'static str, Fault>);

impl SecretProvider for Keeps {
    fn fetch<'a>(&'a self, _: &'a TenantId, _: &'a SecretRef) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        let value = self.0.map(|text| SecretValue::new(text.as_bytes()).unwrap());
        Box::pin(std::future::ready(value))
    }
}

async fn world() -> World {
    world_with(Ok(NEXT)).await
}

async fn world_with(kept: Result<&'static str, Fault>) -> World {
    let mut room = room().await;
    let finder = Arc::new(Finder {
        found: Mutex::new(passed()),
        asked: AtomicUsize::new(0),
        lets: Semaphore::new(Semaphore::MAX_PERMITS),
    });
    let ground = &room.ground;
    let providers = Providers {
        local: Local::new(ground.store.clone(), Arc::clone(&ground.keys)),
        aws: None,
        vault: Some(Arc::new(Keeps(kept))),
        process: None,
    };
    let (keys, clock) = (Arc::clone(&ground.keys), ground.clock.clone());
    let dialling = &mut room.targets.dialling;
    dialling.secrets = Secrets::new(providers, keys, clock, ground.tasks.clone());
    dialling.stand_in = Some(Arc::clone(&finder) as _);
    World { room, finder }
}

impl World {
    async fn create(&self, name: &str) -> Result<Target, Error> {
        let created = self
            .room
            .targets
            .create(self.room.ground.admin(), forge(name))
            .await;
        created.map(|(target, enrolment)| {
            assert!(enrolment.is_none());
            target
        })
    }

    async fn update(&self, id: TargetId, edit: Edit) -> Result<Target, Error> {
        let by = self.room.ground.admin();
        self.room.targets.update(by, &id.to_string(), edit).await
    }

    async fn count(&self, sql: &'static str) -> i64 {
        let tenant = self.room.ground.tenant().clone();
        let counted = self
            .room
            .ground
            .changes
            .read(self.room.ground.tenant(), move |tx| {
                Box::pin(async move {
                    let row = tx.query_opt(sql, params![&tenant]).await?;
                    row.map_or(Ok(0), |row| row.int(0))
                })
            });
        counted.await.unwrap()
    }

    async fn targets(&self) -> i64 {
        self.count("select count(*) from target where tenant_id = $1")
            .await
    }

    async fn secrets(&self) -> i64 {
        self.count("select count(*) from secret where tenant_id = $1")
            .await
    }

    async fn intents(&self) -> i64 {
        self.count("select count(*) from intent where tenant_id = $1")
            .await
    }

    /// The credential that calls to the target would be lent.
    async fn lent(&self, id: TargetId) -> String {
        let snapshot = self.room.ground.snapshot().await;
        let reference = snapshot.target(id).unwrap().secret.clone().unwrap();
        let secrets = &self.room.targets.dialling.secrets;
        let lease = secrets.lend(self.room.ground.tenant(), &reference).await.unwrap();
        String::from_utf8_lossy(lease.value().reveal()).into_owned()
    }

    /// The last row, and that no row holds a credential.
    async fn last(&self) -> Event {
        let mut record = self.room.ground.record().await;
        for event in &record {
            let told = format!("{event:?}");
            assert!(!told.contains(TOKEN) && !told.contains(NEXT), "{told}");
        }
        record.pop().unwrap()
    }
}

fn forge(name: &str) -> Wanted {
    Wanted {
        adapter: "gitea".into(),
        name: name.into(),
        config: r#"{"base_url":"https://git.example"}"#.into(),
        credential: token(TOKEN),
    }
}

fn token(text: &str) -> bytes::Bytes {
    json!({"token": text}).to_string().into()
}

fn told(error: Error) -> (Failure, Value) {
    let failure = error.into_failure(None);
    let validation = serde_json::from_str(&failure.metadata["validation"]).unwrap();
    (failure, validation)
}

#[tokio::test]
async fn a_target_whose_credential_passes_is_stored_with_what_was_found() {
    let world = world().await;
    let target = world.create("forge").await.unwrap();

    assert_eq!(world.room.targets.status(&target), "ready");
    assert_eq!(target.config["baseUrl"], "https://git.example");
    assert_eq!(world.room.get(target.id).await, target);
    let snapshot = world.room.ground.snapshot().await;
    let seen = snapshot.target(target.id).unwrap();
    assert_eq!((seen.adapter, seen.version), ("gitea", target.updated_us));
    assert_eq!(seen.validation["verdict"], "passed");
    assert_eq!(seen.validation["facts"]["version"], "1.23.1");
    assert!(world.lent(target.id).await.contains(TOKEN));

    let row = world.last().await;
    assert_eq!(world.room.ground.since_start().await, ["adapter.configured"]);
    assert_eq!((row.target_id, &*row.adapter_type), (Some(target.id), "gitea"));
    let detail = detail(&row);
    assert_eq!(
        (&detail["change"], &detail["validation"], &detail["stages"]),
        (
            &json!("created"),
            &json!("passed"),
            &json!(["reach", "privileges"])
        )
    );
    assert_eq!(
        (&detail["proven"], &detail["notProvable"], &detail["facts"]),
        (
            &json!(["read:repository"]),
            &json!(["write:repository"]),
            &json!({"version": "1.23.1"})
        )
    );
    assert!(detail["secret"].as_str().unwrap().contains(':'), "{detail}");
    assert_eq!((world.intents().await, world.finder.asked()), (0, 1));
}

#[tokio::test]
async fn a_credential_that_can_do_too_much_leaves_nothing_but_a_row() {
    let world = world().await;
    world.finder.finds(too_wide());
    let (failure, validation) = told(world.create("forge").await.unwrap_err());

    assert_eq!(failure.reason(), ErrorReason::ScopeViolation);
    assert_eq!(
        failure.message,
        "the token also has write:issue; make one with read:repository alone"
    );
    assert_eq!(validation["verdict"], "failed");
    assert_eq!(validation["stages"][1]["reason"], "write:issue is too much");
    assert_eq!(validation["wider"], json!(["write:issue"]));
    assert_eq!(
        (
            world.targets().await,
            world.secrets().await,
            world.intents().await
        ),
        (0, 0, 0)
    );

    let row = world.last().await;
    assert_eq!(
        world.room.ground.since_start().await,
        ["adapter.configuration_refused"]
    );
    assert_eq!(
        (row.result, &*row.reason, &*row.adapter_type, row.target_id),
        (Outcome::Refused, "SCOPE_VIOLATION", "gitea", None)
    );
    let detail = detail(&row);
    assert_eq!(
        (&detail["name"], &detail["validation"]),
        (&json!("forge"), &json!("failed"))
    );
    assert_eq!(detail["wider"], json!(["write:issue"]));
}

#[tokio::test]
async fn a_credential_that_is_never_accepted_is_refused_at_sight_and_on_the_record() {
    let world = world().await;
    let classic = Wanted {
        adapter: "github".into(),
        config: "{}".into(),
        credential: token(&format!("ghp_{TOKEN}")),
        ..forge("hub")
    };
    let refused = world
        .room
        .targets
        .create(world.room.ground.admin(), classic)
        .await;
    let (failure, validation) = told(refused.unwrap_err());
    assert_eq!(failure.reason(), ErrorReason::ScopeViolation);
    assert_eq!(validation["stages"][0]["ok"], false);
    assert_eq!(world.last().await.reason, "SCOPE_VIOLATION");
    assert_eq!((world.targets().await, world.finder.asked()), (0, 0));
}

#[tokio::test]
async fn a_target_that_gives_no_answer_is_refused_by_its_reason_with_what_was_found() {
    let world = world().await;
    for (error, reason, kind) in [
        (
            UpstreamError::Unreachable,
            ErrorReason::UpstreamUnreachable,
            "UPSTREAM_UNREACHABLE",
        ),
        (UpstreamError::Tls, ErrorReason::UpstreamTls, "UPSTREAM_TLS"),
        (
            UpstreamError::Timeout,
            ErrorReason::UpstreamTimeout,
            "UPSTREAM_TIMEOUT",
        ),
        (
            UpstreamError::Invalid,
            ErrorReason::UpstreamInvalid,
            "UPSTREAM_INVALID",
        ),
        // It answered: the credential is one that does too little.
        (
            UpstreamError::CredentialRejected,
            ErrorReason::ScopeViolation,
            "SCOPE_VIOLATION",
        ),
        (
            UpstreamError::RateLimited(Duration::from_secs(9)),
            ErrorReason::UpstreamRateLimited,
            "UPSTREAM_RATE_LIMITED",
        ),
    ] {
        world.finder.finds(silent(error));
        let (failure, validation) = told(world.create("forge").await.unwrap_err());
        assert_eq!(failure.reason(), reason);
        assert!(
            failure.message.contains("at reach: 10.0.0.5 is private"),
            "{}",
            failure.message
        );
        assert_eq!(validation["stages"].as_array().unwrap().len(), 1);
        assert_eq!(failure.retry_after_ms.is_some(), kind == "UPSTREAM_RATE_LIMITED");
        let row = world.last().await;
        assert_eq!(
            (row.kind.as_str(), &*row.reason),
            ("adapter.configuration_refused", kind)
        );
    }
    assert_eq!((world.targets().await, world.secrets().await), (0, 0));
}

#[tokio::test]
async fn what_is_wrong_at_sight_dials_nothing() {
    let world = world().await;
    world.create("forge").await.unwrap();
    for (wanted, reason) in [
        (forge("forge"), ErrorReason::Conflict),
        (forge(""), ErrorReason::ArgumentsInvalid),
        (
            Wanted {
                config: r#"{"baseUrl":"https://g.example","x":1}"#.into(),
                ..forge("b")
            },
            ErrorReason::ArgumentsInvalid,
        ),
        (
            Wanted {
                config: "[]".into(),
                ..forge("b")
            },
            ErrorReason::RequestMalformed,
        ),
        (
            Wanted {
                credential: bytes::Bytes::new(),
                ..forge("b")
            },
            ErrorReason::ArgumentsInvalid,
        ),
        (
            Wanted {
                credential: json!({"token": TOKEN, "x": 1}).to_string().into(),
                ..forge("b")
            },
            ErrorReason::ArgumentsInvalid,
        ),
        (
            Wanted {
                credential: r#"{"secretRef":"aws:forge"}"#.into(),
                ..forge("b")
            },
            ErrorReason::ArgumentsInvalid,
        ),
    ] {
        let refused = world
            .room
            .targets
            .create(world.room.ground.admin(), wanted)
            .await
            .unwrap_err();
        assert_eq!(refused.reason(), reason, "{refused}");
        assert!(!refused.to_string().contains(TOKEN), "{refused}");
    }
    assert_eq!((world.finder.asked(), world.targets().await), (1, 1));
    assert_eq!(world.room.ground.since_start().await, ["adapter.configured"]);
}

#[tokio::test]
async fn an_admin_who_leaves_while_the_credential_is_validated_changes_nothing() {
    let mut world = world().await;
    let finder = Arc::new(Finder {
        lets: Semaphore::new(0),
        found: Mutex::new(passed()),
        asked: AtomicUsize::new(0),
    });
    world.room.targets.dialling.stand_in = Some(Arc::clone(&finder) as _);
    let (targets, by) = (world.room.targets.clone(), world.room.ground.admin());
    let asking = tokio::spawn(async move { targets.create(by, forge("forge")).await });
    while finder.asked() == 0 {
        assert!(!asking.is_finished());
        tokio::task::yield_now().await;
    }
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    assert_eq!((world.targets().await, world.intents().await), (0, 1));
    finder.lets.add_permits(1);
    world.room.ground.settle().await;
    assert_eq!(
        (
            world.targets().await,
            world.secrets().await,
            world.intents().await
        ),
        (1, 1, 0)
    );
    assert_eq!(world.room.ground.since_start().await, ["adapter.configured"]);
}

#[tokio::test]
async fn more_validations_at_once_than_there_are_places_are_turned_away() {
    let mut world = world().await;
    world.room.targets.dialling.places = Arc::new(Semaphore::new(0));
    let refused = world.create("forge").await.unwrap_err();
    assert_eq!(
        (refused.reason(), world.finder.asked()),
        (ErrorReason::Overloaded, 0)
    );
}

#[tokio::test]
async fn settings_and_credential_change_once_they_are_validated_and_a_name_at_once() {
    let world = world().await;
    let before = world.create("forge").await.unwrap();
    let old = world.room.ground.snapshot().await.target(before.id).unwrap();

    let named = Edit {
        name: Some("www".into()),
        ..edit()
    };
    assert_eq!(world.update(before.id, named).await.unwrap().name, "www");
    assert_eq!(world.finder.asked(), 1);

    world.finder.finds(too_wide());
    let wide = Edit {
        credential: Some(token(NEXT)),
        config: Some(r#"{"baseUrl":"https://other.example"}"#.into()),
        ..edit()
    };
    let refused = world.update(before.id, wide).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::ScopeViolation);
    let row = world.last().await;
    assert_eq!(
        (row.target_id, &detail(&row)["change"]),
        (Some(before.id), &json!("updated"))
    );
    assert_eq!(world.room.get(before.id).await.config, before.config);
    assert!(world.lent(before.id).await.contains(TOKEN));

    world.finder.finds(passed());
    let moved = Edit {
        config: Some(r#"{"baseUrl":"https://other.example"}"#.into()),
        ..edit()
    };
    let moved = world.update(before.id, moved).await.unwrap();
    assert_eq!(moved.config["baseUrl"], "https://other.example");
    assert!(world.lent(before.id).await.contains(TOKEN));

    let rotated = Edit {
        credential: Some(token(NEXT)),
        disabled: Some(true),
        ..edit()
    };
    let rotated = world.update(before.id, rotated).await.unwrap();
    assert_eq!(world.room.targets.status(&rotated), "disabled");
    // The clock stands still, and the version grows all the same.
    assert!(rotated.updated_us > moved.updated_us && moved.updated_us > before.updated_us);
    assert!(world.lent(before.id).await.contains(NEXT));
    assert_eq!(world.secrets().await, 1);
    let new = world.room.ground.snapshot().await.target(before.id).unwrap();
    assert_ne!(old.secret, new.secret);
    assert_eq!(world.room.ground.snapshot().await.targets_of("gitea").count(), 0);
}

#[tokio::test]
async fn a_change_that_crosses_another_is_refused_rather_than_stored_over_it() {
    let world = world().await;
    let target = world.create("forge").await.unwrap();
    let stale = Target {
        updated_us: target.updated_us - 1,
        ..target.clone()
    };
    let rotated = Edit {
        credential: Some(token(NEXT)),
        ..edit()
    };
    let kind = Kind::of("gitea").unwrap();
    let by = world.room.ground.admin();
    let refused = world
        .room
        .targets
        .update_dialled(by, kind, stale, rotated)
        .await
        .unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::Conflict);
    assert_eq!(world.last().await.reason, "CONFLICT");
    assert!(world.lent(target.id).await.contains(TOKEN));
}

#[tokio::test]
async fn a_credential_may_be_named_where_another_keeps_it() {
    let world = world().await;
    let named = Wanted {
        credential: r#"{"secretRef":"vault:prod/forge#3"}"#.into(),
        ..forge("forge")
    };
    let (target, _) = world
        .room
        .targets
        .create(world.room.ground.admin(), named)
        .await
        .unwrap();
    assert_eq!(
        (world.lent(target.id).await.as_str(), world.secrets().await),
        (NEXT, 0)
    );
    let row = world.last().await;
    assert!(!row.detail.contains("prod/forge"), "{}", row.detail);
    assert!(detail(&row)["secret"].is_string());

    // Back into the gateway's own store.
    let own = Edit {
        credential: Some(token(TOKEN)),
        ..edit()
    };
    world.update(target.id, own).await.unwrap();
    assert!(world.lent(target.id).await.contains(TOKEN));
}

#[tokio::test]
async fn a_credential_that_its_keeper_does_not_give_is_refused_before_anything_is_dialled() {
    let world = world_with(Err(Fault::Denied)).await;
    let named = Wanted {
        credential: r#"{"secretRef":"vault:prod/forge"}"#.into(),
        ..forge("forge")
    };
    let refused = world
        .room
        .targets
        .create(world.room.ground.admin(), named)
        .await
        .unwrap_err();
    assert_eq!(
        (refused.reason(), world.finder.asked()),
        (ErrorReason::SecretUnavailable, 0)
    );
    assert_eq!(world.last().await.reason, "SECRET_UNAVAILABLE");
    assert_eq!(world.targets().await, 0);
    assert!(world.room.targets.dialling.secrets.serves(ProviderKind::Vault));
}

#[tokio::test]
async fn a_recheck_tells_the_verdict_and_leaves_the_target_as_it_is() {
    let world = world().await;
    let target = world.create("forge").await.unwrap();
    let check = async |found: &Validation, version: i64| {
        let by = world.room.ground.admin();
        let checked = world.room.targets.checked(by, target.id, version, found).await;
        checked.unwrap();
        let now = world.room.get(target.id).await;
        assert_eq!(now.updated_us, target.updated_us);
        (
            world.room.targets.status(&now),
            now.validation["verdict"].as_str().unwrap().to_owned(),
        )
    };
    let version = target.updated_us;
    let is = |status, verdict: &str| (status, verdict.to_owned());
    ground_advance(&world.room);
    assert_eq!(check(&too_wide(), version).await, is("drifted", "drifted"));
    let row = world.last().await;
    assert_eq!(
        (
            row.kind.as_str(),
            &detail(&row)["validation"],
            &detail(&row)["change"]
        ),
        ("adapter.configured", &json!("drifted"), &json!("updated"))
    );
    // No answer says nothing of the credential.
    assert_eq!(
        check(&silent(UpstreamError::Timeout), version).await,
        is("drifted", "drifted")
    );
    // What was checked is another one by now.
    assert_eq!(check(&passed(), version - 1).await, is("drifted", "drifted"));
    assert_eq!(check(&passed(), version).await, is("ready", "passed"));
    assert_eq!(
        world.room.get(target.id).await.validation["checkedUs"],
        json!(world.room.ground.clock.wall_us())
    );
    let mut narrow = too_wide();
    narrow.verdict = Verdict::Violation(Violation {
        of: Grants::Scopes,
        what: "too little".into(),
        wider: false,
    });
    assert_eq!(check(&narrow, version).await, is("ready", "failed"));
    assert_eq!(world.room.ground.since_start().await.len(), 4);
}

#[tokio::test]
async fn a_removed_target_takes_its_credential_with_it() {
    let world = world().await;
    let target = world.create("forge").await.unwrap();
    let by = world.room.ground.admin();
    world
        .room
        .targets
        .delete(by, &target.id.to_string())
        .await
        .unwrap();
    assert_eq!((world.targets().await, world.secrets().await), (0, 0));
    assert_eq!(detail(&world.last().await)["change"], "removed");
}

#[tokio::test]
async fn a_target_that_is_dialled_has_no_relay() {
    let world = world().await;
    let id = world.create("forge").await.unwrap().id.to_string();
    let by = || world.room.ground.admin();
    let refused = world.room.targets.enrol(by(), &id).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::ArgumentsInvalid);
    let refused = world.room.targets.revoke_relay(by(), &id).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::ResourceNotFound);
}
