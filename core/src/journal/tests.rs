//! The journal on the embedded store.

use std::sync::Arc;

use toolgate_contract::ids::TargetId;

use super::*;
use crate::{
    audit::{EventKind, Head, Outcome, chain::row_hash, decode},
    keys::Keyring,
    store::{StoreConfig, StoreError, params, suite},
};

struct World {
    dir: tempfile::TempDir,
    store: Store,
    journal: Journal,
    clock: Clock,
}

const START_US: i64 = 1_700_000_000_000_000;

impl World {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self::in_dir(dir).await
    }

    async fn in_dir(dir: tempfile::TempDir) -> Self {
        let clock = Clock::manual(START_US);
        let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let journal = Journal::start(store.clone(), Sealer::new(keys), clock.clone());
        Self {
            dir,
            store,
            journal,
            clock,
        }
    }

    /// Ends everything without a word, as a crash would, and starts anew on the same file.
    async fn crash(self) -> Self {
        let Self {
            dir, store, journal, ..
        } = self;
        drop((journal, store));
        Self::in_dir(dir).await
    }

    async fn rows(&self, tenant: &TenantId) -> Vec<Event> {
        chain(&self.store, tenant).await
    }

    async fn intents(&self, tenant: &TenantId) -> i64 {
        self.count("select count(*) from intent where tenant_id = $1", tenant)
            .await
    }

    async fn count(&self, sql: &'static str, tenant: &TenantId) -> i64 {
        let owner = tenant.clone();
        let rows: Result<_, StoreError> = self
            .store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&owner]).await })
            })
            .await;
        rows.unwrap()[0].int(0).unwrap()
    }
}

/// A tenant's events in order; asserts that the chain has no gap and every link and hash holds.
async fn chain(store: &Store, tenant: &TenantId) -> Vec<Event> {
    const ROWS: &str =
        "select seq, prev, bytes, hash, algorithm from audit_event where tenant_id = $1 order by seq";
    const HEAD: &str = "select seq, hash from audit_head where tenant_id = $1";
    let owner = tenant.clone();
    let read: Result<_, StoreError> = store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move {
                Ok((
                    tx.query(ROWS, params![&owner]).await?,
                    tx.query_opt(HEAD, params![&owner]).await?,
                ))
            })
        })
        .await;
    let (rows, stored) = read.unwrap();
    let mut head = Head::genesis(tenant);
    let mut events = Vec::new();
    for row in rows {
        assert_eq!(row.int(0).unwrap(), head.seq + 1);
        assert_eq!(row.array::<32>(1).unwrap(), head.hash);
        let bytes = row.blob(2).unwrap();
        let hash = row_hash(row.int(4).unwrap(), tenant, head.seq + 1, &head.hash, bytes);
        assert_eq!(row.array::<32>(3).unwrap(), hash);
        head = Head {
            seq: head.seq + 1,
            hash,
        };
        events.push(decode(bytes).unwrap());
    }
    let stored = stored.map_or(Head::genesis(tenant), |row| Head {
        seq: row.int(0).unwrap(),
        hash: row.array(1).unwrap(),
    });
    assert_eq!(stored, head);
    events
}

fn event() -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: START_US,
        principal: "ada".to_owned(),
        role: "engineer".to_owned(),
        facade: "rest".to_owned(),
        adapter_type: "ssh".to_owned(),
        target_id: Some(TargetId::mint()),
        capability: "ssh.run_whitelisted_command".to_owned(),
        params_hash: Some([7; 32]),
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 12,
        correlation_id: None,
        detail: String::new(),
    }
}

#[tokio::test]
async fn a_settled_call_has_a_row_and_no_intent() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    assert_eq!(world.intents(&tenant).await, 1);
    assert!(world.rows(&tenant).await.is_empty());

    let receipt = world.journal.settle(contact, event()).await.unwrap();

    assert_eq!((receipt.seq, receipt.event_id), (1, id));
    assert_eq!(world.intents(&tenant).await, 0);
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].result),
        (1, id, Outcome::Success)
    );
}

#[tokio::test]
async fn a_call_left_over_by_a_crash_becomes_unknown() {
    let world = World::new().await;
    let tenant = suite::tenant(&world.store).await;
    let contact = world.journal.intend(&tenant, Intent::new(event())).await.unwrap();
    let id = contact.event_id();
    std::mem::forget(contact);

    let world = world.crash().await;
    world.journal.reconcile().await.unwrap();

    assert_eq!(world.intents(&tenant).await, 0);
    let rows = world.rows(&tenant).await;
    assert_eq!(
        (rows.len(), rows[0].id, rows[0].result),
        (1, id, Outcome::Unknown)
    );
}
