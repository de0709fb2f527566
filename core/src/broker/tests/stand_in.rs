//! A cluster that does as told, and the adapters that were opened for it.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use serde_json::{json, value::to_raw_value};
use tokio::sync::watch;

use super::*;
use crate::{
    adapters::{Adapter, Grants, Opener, Stage, Validation, Verdict, Violation},
    secrets::{Credential, SecretValue},
};

/// Answers every read with the credential it was asked with, so that an answer tells whose it is.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    /// Credentials of the adapters in the order they were opened.
    pub(super) opened: Mutex<Vec<String>>,
    pub(super) reads: AtomicUsize,
    pub(super) validations: AtomicUsize,
    /// Reads and validations that have begun and neither ended nor were dropped.
    pub(super) under_way: AtomicUsize,
    /// Only this credential is accepted.
    pub(super) accepts: Mutex<Option<&'static str>>,
    pub(super) reading: Mutex<Reading>,
    pub(super) finding: Mutex<Finding>,
    held: watch::Sender<bool>,
}

/// What a read gives.
#[derive(Debug, Clone, Default)]
pub(super) enum Reading {
    #[default]
    Answer,
    SayNo,
    Fail(UpstreamError),
}

/// What a validation finds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Finding {
    #[default]
    Passed,
    Wider,
    Narrower,
    NoAnswer,
    Silence,
}

#[derive(Debug)]
struct Opened {
    cluster: Arc<Cluster>,
    credential: String,
}

impl Cluster {
    pub(super) fn opener(self: &Arc<Self>) -> Opener {
        let cluster = Arc::clone(self);
        Opener(Arc::new(move |_, lease| {
            let credential = String::from_utf8(lease.value().reveal().to_vec()).unwrap();
            cluster.opened.lock().unwrap().push(credential.clone());
            Arc::new(Opened {
                cluster: Arc::clone(&cluster),
                credential,
            })
        }))
    }

    pub(super) fn hold(&self) {
        self.held.send_replace(true);
    }

    pub(super) fn release(&self) {
        self.held.send_replace(false);
    }

    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    pub(super) fn validations(&self) -> usize {
        self.validations.load(Ordering::SeqCst)
    }

    async fn go(&self) {
        drop(self.held.subscribe().wait_for(|held| !held).await);
    }
}

struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Upstream for Opened {
    fn call<'a>(
        &'a self,
        _: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        let cluster = &self.cluster;
        cluster.reads.fetch_add(1, Ordering::SeqCst);
        let under_way = UnderWay::new(&cluster.under_way);
        Box::pin(async move {
            let _under_way = under_way;
            cluster.go().await;
            if cluster
                .accepts
                .lock()
                .unwrap()
                .is_some_and(|accepted| accepted != self.credential)
            {
                return Err(UpstreamError::CredentialRejected);
            }
            let said = json!([{"type": "text", "text": self.credential}]);
            let structured = match call.tool {
                "proxmox.list_vms" => json!({"vms": [{"vmid": 1, "name": self.credential}], "more": false}),
                _ => json!({"vmid": 1, "name": self.credential}),
            };
            let is_error = match cluster.reading.lock().unwrap().clone() {
                Reading::Answer => false,
                Reading::SayNo => true,
                Reading::Fail(error) => return Err(error),
            };
            Ok(ToolResult {
                content: to_raw_value(&said).unwrap(),
                structured: (!is_error).then(|| to_raw_value(&structured).unwrap()),
                is_error,
                raw: None,
            })
        })
    }
}

impl Adapter for Opened {
    fn validate<'a>(&'a self, _: &'a Contact) -> BoxFuture<'a, Validation> {
        let cluster = &self.cluster;
        cluster.validations.fetch_add(1, Ordering::SeqCst);
        let under_way = UnderWay::new(&cluster.under_way);
        Box::pin(async move {
            let _under_way = under_way;
            cluster.go().await;
            let finding = *cluster.finding.lock().unwrap();
            if cluster
                .accepts
                .lock()
                .unwrap()
                .is_some_and(|accepted| accepted != self.credential)
            {
                return found(Verdict::Violation(violation(false)), Some("authenticate"));
            }
            match finding {
                Finding::Passed => found(Verdict::Passed, None),
                Finding::Wider => found(Verdict::Violation(violation(true)), Some("privileges")),
                Finding::Narrower => found(Verdict::Violation(violation(false)), Some("privileges")),
                Finding::NoAnswer => found(Verdict::Unknown(UpstreamError::Unreachable), Some("reach")),
                Finding::Silence => std::future::pending().await,
            }
        })
    }
}

fn violation(wider: bool) -> Violation {
    Violation {
        of: Grants::Roles,
        what: "not PVEAuditor".into(),
        wider,
    }
}

fn found(verdict: Verdict, failed: Option<&'static str>) -> Validation {
    let passed = ["reach", "tls", "authenticate", "privileges"]
        .into_iter()
        .take_while(|stage| Some(*stage) != failed);
    let stage = |name, failed: Option<&str>| Stage {
        name,
        took: Duration::from_millis(1),
        failed: failed.map(str::to_owned),
        mends: None,
    };
    Validation {
        verdict,
        stages: passed
            .map(|name| stage(name, None))
            .chain(failed.map(|name| stage(name, Some("as told"))))
            .collect(),
        proven: vec![],
        wider: vec![],
        not_provable: vec![],
        facts: serde_json::Map::new(),
    }
}

pub(super) const LIST: &str = "proxmox.list_vms";
pub(super) const STATUS: &str = "proxmox.get_vm_status";
pub(super) const VM: &str = r#"{"vmid":1}"#;

impl World {
    /// A target that is dialled, with this credential, found to be right just now.
    pub(super) async fn proxmox(&self, credential: &str) -> TargetId {
        self.proxmox_checked(credential, self.clock.wall_us()).await
    }

    /// The same, found to be right a day and a second ago.
    pub(super) async fn proxmox_of_yesterday(&self, credential: &str) -> TargetId {
        self.proxmox_checked(credential, self.clock.wall_us() - 86_401_000_000)
            .await
    }

    pub(super) async fn list(&self) -> Result<Settled, ErrorReason> {
        self.call(&self.admin, LIST, "{}").await
    }

    pub(super) async fn status(&self) -> Result<Settled, ErrorReason> {
        self.call(&self.admin, STATUS, VM).await
    }

    /// A call of its own task.
    pub(super) fn caller(&self, name: &'static str) -> tokio::task::JoinHandle<Result<Settled, Failed>> {
        self.caller_within(name, None)
    }

    pub(super) fn caller_within(
        &self,
        name: &'static str,
        deadline: Option<Duration>,
    ) -> tokio::task::JoinHandle<Result<Settled, Failed>> {
        let broker = self.broker.clone();
        let asked = Ask {
            deadline,
            ..ask(Some(&self.admin))
        };
        let arguments = if name == STATUS { VM } else { "{}" };
        tokio::spawn(async move { broker.call(&asked, wish(name, arguments)).await })
    }

    pub(super) async fn give(&self, target: TargetId, credential: &str) {
        let (secrets, owner) = (self.broker.rooms().secrets.clone(), self.tenant.clone());
        let credential = Credential::Value(SecretValue::new(credential.as_bytes()).unwrap());
        let given: Result<_, crate::secrets::PutError> = self
            .store
            .with_tenant(&self.tenant, move |tx| {
                Box::pin(async move { secrets.give(tx, &owner, target, credential).await })
            })
            .await;
        given.unwrap();
    }

    async fn proxmox_checked(&self, credential: &str, checked_us: i64) -> TargetId {
        let id = TargetId::mint();
        let validation = json!({"verdict": "passed", "stages": [], "facts": {}, "checkedUs": checked_us});
        let sql = "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us) \
                   values ($1, $2, 'proxmox', 'lab', '{}', $3, 0, 1)";
        let params = vec![text(&self.tenant), text(id), text(validation)];
        execute(&self.store, &self.tenant, sql, params).await;
        self.give(id, credential).await;
        self.refresh().await;
        id
    }
}

/// Whose answer it is, as the stand-in says it.
pub(super) fn told(settled: &Settled) -> String {
    let content: serde_json::Value = serde_json::from_str(settled.result().content.get()).unwrap();
    content[0]["text"].as_str().unwrap().to_owned()
}

pub(super) fn meta(settled: &Settled) -> serde_json::Value {
    serde_json::from_str(settled.meta()).unwrap()
}

/// Waits until something is so, which it will be without anybody's help.
pub(super) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let held = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), held).await.unwrap();
}
