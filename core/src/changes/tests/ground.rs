//! A store, journal and tenant of their own for the tests of rooms that change things.

use std::sync::Arc;

use tempfile::TempDir;
use tokio_util::task::TaskTracker;
use toolgate_contract::ids::TenantId;

use crate::{
    audit::{
        Event, Sealer,
        list::{self, Filter},
    },
    changes::{By, Changes},
    clock::Clock,
    identity::Presented,
    journal::Journal,
    keys::Keyring,
    snapshot::{Snapshot, Snapshots, Token},
    store::{Store, StoreConfig},
    tenants::{self, FirstRun},
};

/// 2026-01-01T00:00:00Z.
pub(crate) const NOW_US: i64 = 1_767_225_600_000_000;

pub(crate) struct Ground {
    pub(crate) dir: TempDir,
    pub(crate) clock: Clock,
    pub(crate) keys: Arc<Keyring>,
    pub(crate) store: Store,
    pub(crate) journal: Journal,
    pub(crate) snapshots: Snapshots,
    pub(crate) changes: Changes,
    pub(crate) tasks: TaskTracker,
    pub(crate) first: FirstRun,
}

impl Ground {
    /// With the first tenant already made.
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NOW_US);
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        let journal = Journal::start(store.clone(), Sealer::new(Arc::clone(&keys)), clock.clone());
        let (tasks, snapshots) = (TaskTracker::new(), Snapshots::new(store.clone()));
        let changes = Changes::new(
            store.clone(),
            journal.clone(),
            snapshots.clone(),
            clock.clone(),
            tasks.clone(),
        );
        let first = tenants::first_run(&changes, dir.path()).await.unwrap().unwrap();
        Self {
            dir,
            clock,
            keys,
            store,
            journal,
            snapshots,
            changes,
            tasks,
            first,
        }
    }

    pub(crate) fn tenant(&self) -> &TenantId {
        &self.first.tenant_id
    }

    /// An admin of the first tenant.
    pub(crate) fn admin(&self) -> By {
        By {
            tenant: self.tenant().clone(),
            principal: "ada".into(),
            role: "admin",
            facade: "rest",
        }
    }

    /// An admin of another tenant.
    pub(crate) async fn stranger(&self) -> By {
        let tenant = TenantId::mint();
        let created = self.store.with_tenant(&tenant, |tx| {
            Box::pin(async move { tx.create_tenant("other", NOW_US + 1).await })
        });
        created.await.unwrap();
        By {
            tenant,
            ..self.admin()
        }
    }

    /// Waits for the changes under way.
    pub(crate) async fn settle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    pub(crate) async fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshots.get(self.tenant()).await.unwrap().unwrap()
    }

    /// The live token that calls would find for this text.
    pub(crate) async fn live(&self, text: &str) -> Option<Token> {
        self.snapshot()
            .await
            .token(&Presented::parse(text).unwrap(), self.clock.wall_us())
            .cloned()
    }

    /// The record of the first tenant, oldest first.
    pub(crate) async fn record(&self) -> Vec<Event> {
        let listing = list::list(&self.store, self.tenant(), &Filter::default(), None, 500)
            .await
            .unwrap();
        let mut events: Vec<_> = listing
            .entries
            .into_iter()
            .map(|entry| entry.event.unwrap())
            .collect();
        events.reverse();
        events
    }

    /// Kinds on the record since the first start.
    pub(crate) async fn since_start(&self) -> Vec<&'static str> {
        self.record()
            .await
            .iter()
            .skip(FIRST_ROWS)
            .map(|event| event.kind.as_str())
            .collect()
    }
}

/// What the first start puts on the record: the tenant, its token, its sign-in code.
pub(crate) const FIRST_ROWS: usize = 3;

/// The detail of an event.
pub(crate) fn detail(event: &Event) -> serde_json::Value {
    serde_json::from_str(&event.detail).unwrap()
}
