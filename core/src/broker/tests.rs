//! The path with a real store and journal and a target that does as told.

mod by_search;
mod drift;
mod inventory;
mod lending;
mod running;
mod sessions;
mod stand_in;

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use serde_json::{json, value::to_raw_value};
use tempfile::TempDir;
use tokio::sync::Notify;
use toolgate_contract::{
    ids::{TargetId, TenantId, TokenId},
    v1::ErrorReason,
};

use self::stand_in::Cluster;
use super::*;
use crate::{
    audit::Sealer,
    changes::Changes,
    config::{Limits, ProjectScope},
    identity::{Context, Kind, Minted, Role},
    journal::Contact,
    store::{Param, Store, StoreConfig, params},
    targets::Dialling,
    upstream::{Level, ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// A host that answers, fails or hangs as told, and counts its contacts.
#[derive(Debug)]
struct Host {
    does: Mutex<Does>,
    contacts: AtomicUsize,
    contacted: Notify,
    /// Someone stopped waiting for it.
    left: Notify,
}

#[derive(Debug, Clone)]
enum Does {
    /// Answers who brings this credential, rejects who brings another.
    Want(&'static [u8]),
    Answer {
        is_error: bool,
    },
    Fail(UpstreamError),
    Hang,
    /// Tells progress and a line before it answers or fails.
    Tell(Option<UpstreamError>),
    /// The same, before it hangs.
    TellAndHang,
}

impl Upstream for Host {
    fn call<'a>(
        &'a self,
        _: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        self.contacts.fetch_add(1, Ordering::SeqCst);
        self.contacted.notify_one();
        let does = self.does.lock().unwrap().clone();
        Box::pin(async move {
            match does {
                Does::Want(wanted) => {
                    let brought = call.secret.as_ref().map(|lease| lease.value().reveal());
                    if brought != Some(wanted) {
                        return Err(UpstreamError::CredentialRejected);
                    }
                    answer()
                }
                Does::Answer { is_error: false } => answer(),
                Does::Answer { is_error } => Ok(ToolResult {
                    content: to_raw_value(&json!([{"type": "text", "text": "up"}])).unwrap(),
                    structured: (!is_error).then(|| to_raw_value(&output()).unwrap()),
                    is_error,
                    raw: None,
                }),
                Does::Fail(error) => Err(error),
                Does::Hang => std::future::pending().await,
                Does::Tell(error) => {
                    tell(&call);
                    error.map_or_else(answer, Err)
                }
                Does::TellAndHang => {
                    let _left = Left(&self.left);
                    tell(&call);
                    std::future::pending().await
                }
            }
        })
    }
}

fn answer() -> Result<ToolResult, UpstreamError> {
    Ok(ToolResult {
        content: to_raw_value(&json!([{"type": "text", "text": "up"}])).unwrap(),
        structured: Some(to_raw_value(&output()).unwrap()),
        is_error: false,
        raw: None,
    })
}

fn tell(call: &UpstreamCall) {
    call.reports.progress(1.0, Some(2.0), Some("half"));
    call.reports.log(Level::Info, "host", || json!("working"));
}

/// Says so when it is dropped.
struct Left<'a>(&'a Notify);

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn output() -> serde_json::Value {
    json!({"command": "uptime", "stdout": "up", "stderr": "", "truncated": false, "duration_ms": 1})
}

struct World {
    broker: Broker,
    store: Store,
    host: Arc<Host>,
    cluster: Arc<Cluster>,
    clock: Clock,
    tenant: TenantId,
    admin: Secret,
    dir: Arc<TempDir>,
}

use crate::identity::Secret;

async fn execute(store: &Store, tenant: &TenantId, sql: &'static str, params: Vec<Value>) {
    store
        .with_tenant(tenant, move |tx| {
            Box::pin(async move {
                let params: Vec<Param<'_>> = params.iter().map(Value::param).collect();
                tx.execute(sql, &params).await.map(drop)
            })
        })
        .await
        .unwrap();
}

#[derive(Debug)]
enum Value {
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    fn param(&self) -> Param<'_> {
        match self {
            Self::Text(text) => Param::Text(text),
            Self::Blob(blob) => Param::Blob(blob),
        }
    }
}

fn text(text: impl ToString) -> Value {
    Value::Text(text.to_string())
}

impl World {
    async fn new(limits: Limits) -> Self {
        Self::with(limits, Secrets::local_only, Clock::system()).await
    }

    /// At a time that is moved by hand.
    async fn at_hand() -> Self {
        let limits = Limits {
            user_per_minute: 1_000_000,
            tenant_per_minute: 1_000_000,
            tenant_in_flight: 1_000,
        };
        Self::with(limits, Secrets::local_only, Clock::manual(NOW_US)).await
    }

    /// Where every provider of secrets hangs.
    async fn hanging() -> Self {
        Self::with(Limits::default(), Secrets::hanging, Clock::system()).await
    }

    async fn with(limits: Limits, secrets: fn(Store, Arc<Keyring>, Clock) -> Secrets, clock: Clock) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        let journal = Journal::start(store.clone(), Sealer::new(Arc::clone(&keys)), clock.clone());
        let tenant = TenantId::mint();
        store
            .with_tenant(&tenant, |tx| {
                Box::pin(async move { tx.create_tenant("acme", 0).await })
            })
            .await
            .unwrap();
        let host = Arc::new(Host {
            does: Mutex::new(Does::Answer { is_error: false }),
            contacts: AtomicUsize::new(0),
            contacted: Notify::new(),
            left: Notify::new(),
        });
        let cluster = Arc::new(Cluster::default());
        let calls = TaskTracker::new();
        let uplinks = crate::uplinks::Uplinks::closed(Arc::clone(&keys));
        let snapshots = Snapshots::new(store.clone());
        let changes = Changes::new(
            store.clone(),
            journal.clone(),
            snapshots.clone(),
            clock.clone(),
            calls.clone(),
        );
        let live = Arc::new(uplinks.clone());
        let secrets = secrets(store.clone(), Arc::clone(&keys), clock.clone());
        let dialling = Dialling::new(secrets.clone(), journal.clone(), clock.clone(), calls.clone());
        let targets = Targets::new(changes, Arc::clone(&keys), live, "http://127.0.0.1", dialling);
        let broker = Broker::new(Rooms {
            fleet: Fleet::new(clock.clone(), ProjectScope::default()),
            entrance: Entrance::default(),
            internal_issues: Default::default(),
            watches: Watches::default(),
            unknown_profiles: UnknownProfiles::new(crate::profiles::UnknownProfile::Open, clock.clone()),
            mcp_sessions: McpSessions::new(Arc::clone(&keys), clock.clone()),
            figures: Figures::new(clock.clone()),
            uses: Uses::new(store.clone(), clock.clone()),
            buckets: Buckets::new(limits, clock.clone()),
            in_flight: InFlight::new(limits.tenant_in_flight),
            issuer: None,
            adapters: Adapters::new(uplinks, clock.clone())
                .answered_by(Some(Arc::clone(&host) as _))
                .opened_by(cluster.opener()),
            cache: Cache::new(clock.clone()),
            flights: Flights::new(calls.clone()),
            rechecks: Rechecks::new(calls.clone()),
            targets,
            results: Results::new(clock.clone()),
            rests: Rests::new(clock.clone()),
            secrets,
            snapshots,
            upstream_timeout: Duration::from_secs(10),
            calls,
            clock: clock.clone(),
            keys,
            journal,
        });
        let admin = Secret::new(String::new());
        let mut world = Self {
            broker,
            store,
            host,
            cluster,
            clock,
            tenant,
            admin,
            dir: Arc::new(dir),
        };
        world.admin = world.token("admin", Role::Admin, None).await;
        world.target("web-1").await;
        world
    }

    /// Another tenant of the same gateway.
    async fn neighbour(&self) -> Self {
        let tenant = TenantId::mint();
        self.store
            .with_tenant(&tenant, |tx| {
                Box::pin(async move { tx.create_tenant("umbrella", 0).await })
            })
            .await
            .unwrap();
        let mut neighbour = Self {
            broker: self.broker.clone(),
            store: self.store.clone(),
            host: Arc::clone(&self.host),
            cluster: Arc::clone(&self.cluster),
            clock: self.clock.clone(),
            dir: Arc::clone(&self.dir),
            admin: Secret::new(String::new()),
            tenant,
        };
        neighbour.admin = neighbour.token("admin", Role::Admin, None).await;
        neighbour
    }

    async fn token(&self, name: &str, role: Role, profile: Option<&str>) -> Secret {
        let minted = Minted::new(Kind::Api, &self.tenant).unwrap();
        let params = vec![
            text(&self.tenant),
            text(TokenId::mint()),
            text(name),
            text(role.as_str()),
            Value::Blob(minted.hash.to_vec()),
        ];
        let sql = "insert into token (tenant_id, id, kind, name, role, hash, created_us) \
                   values ($1, $2, 'api', $3, $4, $5, 0)";
        execute(&self.store, &self.tenant, sql, params).await;
        if let Some(profile) = profile {
            let sql = "update token set profile = $3 where tenant_id = $1 and name = $2";
            execute(
                &self.store,
                &self.tenant,
                sql,
                vec![text(&self.tenant), text(name), text(profile)],
            )
            .await;
        }
        self.refresh().await;
        minted.text
    }

    async fn target(&self, name: &str) -> TargetId {
        let id = TargetId::mint();
        let sql = "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us) \
                   values ($1, $2, 'ssh', $3, '{}', '{}', 0, 0)";
        execute(
            &self.store,
            &self.tenant,
            sql,
            vec![text(&self.tenant), text(id), text(name)],
        )
        .await;
        self.refresh().await;
        id
    }

    async fn refresh(&self) {
        self.broker.rooms().snapshots.refresh(&self.tenant).await.unwrap();
    }

    fn does(&self, does: Does) {
        *self.host.does.lock().unwrap() = does;
    }

    fn contacts(&self) -> usize {
        self.host.contacts.load(Ordering::SeqCst)
    }

    async fn call(&self, credential: &Secret, name: &str, arguments: &str) -> Result<Settled, ErrorReason> {
        let wish = wish(name, arguments);
        self.broker
            .call(&ask(Some(credential)), wish)
            .await
            .map_err(|failed| failed.error.reason())
    }

    /// Chained rows as (kind, result, reason is in the bytes).
    async fn rows(&self) -> Vec<(String, String)> {
        let sql = "select kind, result from audit_event where tenant_id = $1 order by seq";
        let tenant = self.tenant.clone();
        let rows = self
            .store
            .with_tenant_read(&self.tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&tenant]).await })
            })
            .await
            .unwrap();
        rows.iter()
            .map(|row| (row.text(0).unwrap().to_owned(), row.text(1).unwrap().to_owned()))
            .collect()
    }

    async fn count(&self, sql: &'static str) -> i64 {
        let tenant = self.tenant.clone();
        let rows = self
            .store
            .with_tenant_read(&self.tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&tenant]).await })
            })
            .await
            .unwrap();
        rows[0].int(0).unwrap()
    }
}

fn ask(credential: Option<&Secret>) -> Ask {
    Ask {
        credential: credential.cloned(),
        profile: None,
        context: Context::default(),
        session: None,
        facade: "grpc",
        source: None,
        deadline: None,
    }
}

fn wish(name: &str, arguments: &str) -> Wish {
    Wish {
        name: name.into(),
        arguments: bytes::Bytes::copy_from_slice(arguments.as_bytes()),
        target_id: None,
    }
}

const NOW_US: i64 = 1_800_000_000_000_000;
const SSH: &str = "ssh.run_whitelisted_command";
const UPTIME: &str = r#"{"command":"uptime"}"#;

fn row(kind: &str, result: &str) -> Vec<(String, String)> {
    vec![(kind.to_owned(), result.to_owned())]
}

#[tokio::test]
async fn a_call_is_contacted_once_and_settled_before_it_is_released() {
    let world = World::new(Limits::default()).await;
    let settled = world.call(&world.admin, SSH, UPTIME).await.unwrap();
    assert_eq!(settled.seq(), 1);
    assert_eq!(world.contacts(), 1);
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "success"));
    assert_eq!(
        world
            .count("select count(*) from intent where tenant_id = $1")
            .await,
        0
    );
}

#[tokio::test]
async fn both_spellings_of_a_tool_are_one_tool() {
    let world = World::new(Limits::default()).await;
    world
        .call(&world.admin, "ssh_run_whitelisted_command", UPTIME)
        .await
        .unwrap();
    assert_eq!(world.contacts(), 1);
}

// INV-1: each stage made to fail leaves the later ones untouched.
#[tokio::test]
async fn a_call_that_a_stage_refuses_reaches_no_later_stage() {
    let world = World::new(Limits::default()).await;
    let auditor = world.token("casey", Role::Auditor, None).await;
    let forges = world.token("forge-bot", Role::Agent, Some("forges")).await;
    let stranger = Minted::new(Kind::Api, &world.tenant).unwrap().text;
    let foreign = Minted::new(Kind::Api, &TenantId::mint()).unwrap().text;
    let nothing = Secret::new("tgk_".into());
    let cases = [
        (&nothing, SSH, UPTIME, ErrorReason::CredentialInvalid),
        (&stranger, SSH, UPTIME, ErrorReason::CredentialInvalid),
        (&foreign, SSH, UPTIME, ErrorReason::CredentialInvalid),
        (&auditor, SSH, UPTIME, ErrorReason::RoleForbidden),
        (&forges, SSH, UPTIME, ErrorReason::ToolNotFound),
        (&world.admin, "no_such_tool", "{}", ErrorReason::ToolNotFound),
        (
            &world.admin,
            "proxmox.shutdown_vm",
            "{}",
            ErrorReason::WriteRejected,
        ),
        (
            &world.admin,
            SSH,
            r#"{"command":"rm -rf /"}"#,
            ErrorReason::WriteRejected,
        ),
        (
            &world.admin,
            SSH,
            r#"{"command":"uptime; id"}"#,
            ErrorReason::WriteRejected,
        ),
        (
            &world.admin,
            SSH,
            r#"{"command":"uptime","cmd":"id"}"#,
            ErrorReason::ArgumentsInvalid,
        ),
        (&world.admin, SSH, "{}", ErrorReason::ArgumentsInvalid),
        (&world.admin, SSH, "[]", ErrorReason::RequestMalformed),
        (
            &world.admin,
            SSH,
            r#"{"command":"uptime","command":"uptime"}"#,
            ErrorReason::RequestMalformed,
        ),
        (
            &world.admin,
            "github.list_repos",
            "{}",
            ErrorReason::TargetNotFound,
        ),
        (
            &world.admin,
            SSH,
            r#"{"command":"uptime","target_id":"nope"}"#,
            ErrorReason::TargetNotFound,
        ),
    ];
    for (credential, name, arguments, expected) in cases {
        let refused = world.call(credential, name, arguments).await.unwrap_err();
        assert_eq!(refused, expected, "{name} {arguments}");
    }
    assert_eq!(world.contacts(), 0);
    // Write attempts have rows of their own; the rest is counted.
    assert_eq!(
        world.rows().await,
        vec![row("adapter.write_rejected", "refused"); 3].concat()
    );
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    let counted = world
        .count("select sum(count) from refusal_counter where tenant_id = $1")
        .await;
    assert_eq!(counted, 9);
    assert_eq!(
        world
            .count("select count(*) from intent where tenant_id = $1")
            .await,
        0
    );
}

#[tokio::test]
async fn a_refusal_names_what_may_be_called_instead() {
    let world = World::new(Limits::default()).await;
    let told = async |credential: &Secret, name: &str, arguments: &str| {
        let asked = world
            .broker
            .call(&ask(Some(credential)), wish(name, arguments))
            .await;
        asked.unwrap_err().error.to_string()
    };
    let command = told(&world.admin, SSH, r#"{"command":"rm -rf /"}"#).await;
    for known in toolgate_contract::ssh::COMMANDS {
        assert!(command.contains(known), "{command}");
    }
    let lines = told(&world.admin, SSH, r#"{"command":"journalctl -n 9999"}"#).await;
    assert!(lines.starts_with("journalctl -n takes"), "{lines}");
    let slip = told(&world.admin, "ssh.run_whitelisted_comand", "{}").await;
    assert!(
        slip.contains("did you mean ssh.run_whitelisted_command;"),
        "{slip}"
    );
    let slip = told(&world.admin, "shs.run_whitelisted_command", "{}").await;
    assert!(
        slip.contains("did you mean ssh.run_whitelisted_command;"),
        "{slip}"
    );
    let none = told(&world.admin, "github.list_repos", "{}").await;
    assert!(none.starts_with("no target of type github is in use"), "{none}");
}

#[tokio::test]
async fn a_hidden_tool_and_one_that_does_not_exist_are_refused_with_the_same_bytes() {
    let world = World::new(Limits::default()).await;
    let forges = world.token("forge-bot", Role::Agent, Some("forges")).await;
    let told = async |name: &str| {
        let asked = world.broker.call(&ask(Some(&forges)), wish(name, UPTIME)).await;
        let failure = asked.unwrap_err().error.into_failure(None);
        (failure.reason, failure.message, failure.metadata)
    };
    let unknown = told("no_such_tool").await;
    let tools = |profile| toolgate_contract::registry::profile(profile).unwrap().tools;
    let hidden = tools("infrastructure")
        .iter()
        .filter(|name| !tools("forges").contains(name));
    for hidden in hidden {
        assert_eq!(told(hidden).await, unknown, "{hidden}");
    }
    // A slip in the name of a hidden tool must not bring it to light.
    let slip = told("ssh.run_whitelisted_comand").await.1;
    assert!(!slip.contains("did you mean"), "{slip}");
}

#[tokio::test]
async fn what_a_target_does_is_told_and_stands_on_the_record() {
    let cases = [
        (Does::Answer { is_error: true }, None, "failure"),
        (
            Does::Fail(UpstreamError::RelayOffline),
            Some(ErrorReason::RelayOffline),
            "failure",
        ),
        (
            Does::Fail(UpstreamError::RelayLost),
            Some(ErrorReason::RelayLost),
            "failure",
        ),
        (
            Does::Fail(UpstreamError::Timeout),
            Some(ErrorReason::UpstreamTimeout),
            "failure",
        ),
        (
            Does::Fail(UpstreamError::Invalid),
            Some(ErrorReason::UpstreamInvalid),
            "failure",
        ),
    ];
    for (does, reason, result) in cases {
        let world = World::new(Limits::default()).await;
        world.does(does.clone());
        assert_eq!(
            world.call(&world.admin, SSH, UPTIME).await.err(),
            reason,
            "{does:?}"
        );
        assert_eq!(
            world.rows().await,
            row("adapter.capability_invoked", result),
            "{does:?}"
        );
    }
}

#[tokio::test]
async fn a_read_whose_caller_left_is_closed_without_a_row() {
    let world = World::new(Limits::default()).await;
    world.does(Does::Hang);
    let broker = world.broker.clone();
    let asked = ask(Some(&world.admin));
    let caller = tokio::spawn(async move { broker.call(&asked, wish(SSH, UPTIME)).await.map(drop) });
    world.host.contacted.notified().await;
    caller.abort();
    world.broker.rooms().calls.close();
    world.broker.rooms().calls.wait().await;
    assert!(world.rows().await.is_empty());
    assert_eq!(
        world
            .count("select count(*) from intent where tenant_id = $1")
            .await,
        0
    );
    assert_eq!(
        world
            .count("select count(*) from intent_closed where tenant_id = $1")
            .await,
        1
    );
}

#[tokio::test]
async fn the_callers_own_deadline_is_told_apart_from_the_targets() {
    let world = World::new(Limits::default()).await;
    world.does(Does::Hang);
    let hurried = Ask {
        deadline: Some(Duration::from_millis(50)),
        ..ask(Some(&world.admin))
    };
    let failed = world.broker.call(&hurried, wish(SSH, UPTIME)).await.unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::DeadlineExceeded);
    assert_eq!(world.rows().await, row("adapter.capability_invoked", "failure"));
}

#[tokio::test]
async fn a_throttled_caller_reaches_nothing_and_its_write_attempts_stay_rejected() {
    let world = World::new(Limits {
        user_per_minute: 2,
        ..Limits::default()
    })
    .await;
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
    world
        .call(&world.admin, "proxmox.shutdown_vm", "{}")
        .await
        .unwrap_err();
    assert_eq!(
        world.call(&world.admin, SSH, UPTIME).await.unwrap_err(),
        ErrorReason::RateLimited
    );
    let refused = world
        .call(&world.admin, "proxmox.shutdown_vm", "{}")
        .await
        .unwrap_err();
    assert_eq!(refused, ErrorReason::WriteRejected);
    assert_eq!(world.contacts(), 1);
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test]
async fn two_targets_want_a_choice_and_both_are_named() {
    let world = World::new(Limits::default()).await;
    let second = world.target("web-2").await;
    let failed = world
        .broker
        .call(&ask(Some(&world.admin)), wish(SSH, UPTIME))
        .await
        .unwrap_err();
    let failure = failed.into_failure();
    assert_eq!(failure.reason(), ErrorReason::TargetRequired);
    let names: Vec<_> = failure
        .targets
        .iter()
        .map(|target| target.name.as_str())
        .collect();
    assert_eq!(names, ["web-1", "web-2"]);
    let chosen = format!(r#"{{"command":"uptime","target_id":"{second}"}}"#);
    let settled = world.call(&world.admin, SSH, &chosen).await.unwrap();
    assert!(settled.meta().contains("web-2"), "{}", settled.meta());
    let both = Wish {
        target_id: Some(TargetId::mint().to_string()),
        ..wish(SSH, &chosen)
    };
    let failed = world
        .broker
        .call(&ask(Some(&world.admin)), both)
        .await
        .unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::ArgumentsInvalid);
}

#[tokio::test]
async fn a_tenant_has_only_so_many_calls_under_way() {
    let world = World::new(Limits {
        tenant_in_flight: 1,
        ..Limits::default()
    })
    .await;
    world.does(Does::Hang);
    let call = world
        .broker
        .invoke(&ask(Some(&world.admin)), wish(SSH, UPTIME))
        .await
        .unwrap();
    assert_eq!(
        world.call(&world.admin, SSH, UPTIME).await.unwrap_err(),
        ErrorReason::Overloaded
    );
    let caller = world
        .broker
        .caller(&ask(Some(&world.admin)), Action::UseTools)
        .await
        .unwrap();
    drop(
        world
            .broker
            .rooms()
            .results
            .watch(&call.to_string(), None, caller.principal())
            .unwrap(),
    );
    world.broker.rooms().calls.close();
    world.broker.rooms().calls.wait().await;
    world.does(Does::Answer { is_error: false });
    world.call(&world.admin, SSH, UPTIME).await.unwrap();
}

#[tokio::test]
async fn an_unpinned_caller_may_narrow_itself_and_a_pinned_one_cannot_widen() {
    let world = World::new(Limits::default()).await;
    let narrowed = Ask {
        profile: Some("forges".into()),
        ..ask(Some(&world.admin))
    };
    let failed = world.broker.call(&narrowed, wish(SSH, UPTIME)).await.unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::ToolNotFound);
    let unknown = Ask {
        profile: Some("nope".into()),
        ..ask(Some(&world.admin))
    };
    world.broker.call(&unknown, wish(SSH, UPTIME)).await.unwrap();
    let pinned = world.token("bot", Role::Agent, Some("forges")).await;
    let widened = Ask {
        profile: Some("infrastructure".into()),
        ..ask(Some(&pinned))
    };
    let failed = world.broker.call(&widened, wish(SSH, UPTIME)).await.unwrap_err();
    assert_eq!(failed.error.reason(), ErrorReason::ToolNotFound);
}
