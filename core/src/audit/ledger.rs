//! A real database with a tenant's chain in it, for the tests of this folder, and a way past its guards.

use std::{path::Path, sync::Arc};

use rusqlite::Connection;
use tempfile::TempDir;
use toolgate_contract::ids::TenantId;

use super::{Event, Head, SealedRow, Sealer};
use crate::{
    keys::Keyring,
    store::{Store, StoreConfig, StoreError, params},
};

const INSERT: &str = "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, \
                      time_us, kind, principal, capability, target_id, result, correlation_id) \
                      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
const HEAD: &str = "insert into audit_head (tenant_id, seq, hash) values ($1, $2, $3) \
                    on conflict (tenant_id) do update set seq = excluded.seq, hash = excluded.hash";

/// A data directory with one tenant.
pub(crate) struct Ledger {
    pub(crate) dir: TempDir,
    pub(crate) store: Store,
    pub(crate) keys: Arc<Keyring>,
    pub(crate) tenant: TenantId,
    head: Head,
}

impl Ledger {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        let tenant = TenantId::mint();
        let made: Result<(), StoreError> = store
            .with_tenant(&tenant, |tx| {
                Box::pin(async move { tx.create_tenant("acme", 0).await })
            })
            .await;
        made.unwrap();
        let head = Head::genesis(&tenant);
        Self {
            dir,
            store,
            keys,
            tenant,
            head,
        }
    }

    /// A ledger with one event for each of `capabilities`.
    pub(crate) async fn with(capabilities: &[&str]) -> Self {
        let mut ledger = Self::new().await;
        ledger
            .append(
                capabilities
                    .iter()
                    .map(|name| super::row_bytes::tests::event(name)),
            )
            .await;
        ledger
    }

    pub(crate) async fn append(&mut self, events: impl IntoIterator<Item = Event>) {
        let sealer = Sealer::new(Arc::clone(&self.keys));
        let mut rows: Vec<SealedRow> = Vec::new();
        for event in events {
            let row = sealer.seal(&self.tenant, &self.head, &event);
            self.head = row.head();
            rows.push(row);
        }
        let (owner, head) = (self.tenant.clone(), self.head);
        let stored: Result<(), StoreError> = self
            .store
            .with_tenant(&self.tenant, move |tx| {
                Box::pin(async move {
                    for row in &rows {
                        let columns = row.columns().unwrap();
                        let values = params![
                            &owner,
                            row.seq,
                            columns.event_id,
                            &row.prev,
                            &row.bytes,
                            &row.hash,
                            &row.mac,
                            row.algorithm,
                            &*row.key_id,
                            columns.time_us,
                            columns.kind,
                            columns.principal,
                            columns.capability,
                            columns.target_id,
                            columns.result,
                            columns.correlation_id,
                        ];
                        tx.execute(INSERT, values).await?;
                    }
                    tx.execute(HEAD, params![&owner, head.seq, &head.hash])
                        .await
                        .map(drop)
                })
            })
            .await;
        stored.unwrap();
    }

    /// Runs `sql` as somebody does who holds the file: the guards are dropped first.
    pub(crate) fn tamper(&self, sql: &str) {
        tamper(self.dir.path(), sql);
    }
}

/// As [`Ledger::tamper`], for a directory.
pub(crate) fn tamper(dir: &Path, sql: &str) {
    let connection = Connection::open(dir.join("toolgate.db")).unwrap();
    let guards: Vec<String> = connection
        .prepare("select name from sqlite_master where type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for guard in guards {
        connection
            .execute_batch(&format!("drop trigger {guard}"))
            .unwrap();
    }
    connection.execute_batch(sql).unwrap();
}
