//! What the record costs without its disk: canonical arguments, sealing a row, verifying a chain, in memory and from a
//! database.
//!
//! `cargo bench -p toolgate-core --bench record [-- ROWS]`

#![allow(clippy::unwrap_used, reason = "a bench stops at the first surprise")]

use std::{hint::black_box, path::Path, sync::Arc, time::Instant};

use toolgate_contract::ids::{CallId, EventId, TargetId, TenantId};
use toolgate_core::{
    audit::{
        Event, EventKind, Head, Outcome, SealedRow, Sealer,
        export::{Export, Format},
        verify::{ChainVerifier, StoredRow, verify},
    },
    canonical::CanonicalJson,
    keys::Keyring,
    store::{Param, Store, StoreConfig, StoreError},
};

const ROUNDS: u32 = 200_000;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Arc::new(Keyring::open(dir.path()).unwrap());
    canonical();
    record(&keys);
    let rows = std::env::args().skip(1).find_map(|text| text.parse().ok());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(stored(dir.path(), &keys, rows.unwrap_or(300_000)));
}

async fn stored(dir: &Path, keys: &Arc<Keyring>, rows: u32) {
    let store = Store::open(StoreConfig::sqlite(dir.join("toolgate.db")))
        .await
        .unwrap();
    let tenant = TenantId::mint();
    fill(&store, keys, &tenant, rows).await;
    for _ in 0..3 {
        let start = Instant::now();
        let found = verify(&store, keys, &tenant).await.unwrap();
        assert!(found.is_intact() && found.rows == i64::from(rows), "{found:?}");
        per_second("verified from SQLite", rows, start);
    }
    let start = Instant::now();
    let mut export = Export::new(store, tenant, 0, Format::Ndjson);
    let mut bytes = 0;
    while let Some(chunk) = export.next_chunk().await.unwrap() {
        bytes += chunk.len();
    }
    per_second("exported from SQLite", rows, start);
    println!("                     {} bytes a line", bytes / rows as usize);
}

fn per_second(what: &str, rows: u32, start: Instant) {
    let took = start.elapsed();
    println!(
        "{what} {:.0} rows/s, {:?} a row",
        f64::from(rows) / took.as_secs_f64(),
        took / rows
    );
}

const INSERT: &str = "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, \
                      time_us, kind, principal, capability, target_id, result, correlation_id) \
                      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
const HEAD: &str = "insert into audit_head (tenant_id, seq, hash) values ($1, $2, $3) \
                    on conflict (tenant_id) do update set seq = excluded.seq, hash = excluded.hash";

async fn fill(store: &Store, keys: &Arc<Keyring>, tenant: &TenantId, rows: u32) {
    let made: Result<(), StoreError> = store
        .with_tenant(tenant, |tx| {
            Box::pin(async move { tx.create_tenant("bench", 0).await })
        })
        .await;
    made.unwrap();
    let sealer = Sealer::new(Arc::clone(keys));
    let mut head = Head::genesis(tenant);
    let mut left = rows;
    while left > 0 {
        let mut batch: Vec<SealedRow> = Vec::new();
        for _ in 0..left.min(1_000) {
            let row = sealer.seal(tenant, &head, &event());
            head = row.head();
            batch.push(row);
        }
        left -= u32::try_from(batch.len()).unwrap();
        let owner = tenant.clone();
        let stored: Result<(), StoreError> = store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move {
                    for row in &batch {
                        let columns = row.columns().unwrap();
                        let values = [
                            Param::from(&owner),
                            Param::from(row.seq),
                            Param::from(columns.event_id),
                            Param::from(&row.prev),
                            Param::from(&row.bytes),
                            Param::from(&row.hash),
                            Param::from(&row.mac),
                            Param::from(row.algorithm),
                            Param::from(&*row.key_id),
                            Param::from(columns.time_us),
                            Param::from(columns.kind),
                            Param::from(columns.principal),
                            Param::from(columns.capability),
                            Param::from(columns.target_id),
                            Param::from(columns.result),
                            Param::from(columns.correlation_id),
                        ];
                        tx.execute(INSERT, &values).await?;
                    }
                    let values = [
                        Param::from(&owner),
                        Param::from(head.seq),
                        Param::from(&head.hash),
                    ];
                    tx.execute(HEAD, &values).await.map(drop)
                })
            })
            .await;
        stored.unwrap();
    }
}

fn canonical() {
    let text = br#"{"target_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","command":"systemctl status nginx","lines":50}"#;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(CanonicalJson::parse(black_box(text)).unwrap());
    }
    println!("canonical arguments  {:?} a text", start.elapsed() / ROUNDS);
}

fn record(keys: &Arc<Keyring>) {
    let (tenant, sealer) = (TenantId::mint(), Sealer::new(Arc::clone(keys)));
    let mut head = Head::genesis(&tenant);
    let mut rows = Vec::new();
    let start = Instant::now();
    for _ in 0..ROUNDS {
        let row = sealer.seal(&tenant, &head, &event());
        head = row.head();
        rows.push(row);
    }
    println!("sealing              {:?} a row", start.elapsed() / ROUNDS);

    let mut verifier = ChainVerifier::new(tenant, Arc::clone(keys));
    let start = Instant::now();
    for row in &rows {
        verifier.push(&StoredRow {
            seq: row.seq,
            prev: &row.prev,
            bytes: &row.bytes,
            hash: &row.hash,
            mac: &row.mac,
            algorithm: row.algorithm,
            key_id: &row.key_id,
            columns_agree: row.columns().is_ok(),
        });
    }
    assert!(verifier.finish(Some(head)).is_intact());
    println!("verifying            {:?} a row", start.elapsed() / ROUNDS);
}

fn event() -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: 1_764_460_800_000_000,
        principal: "devon".into(),
        role: "engineer".into(),
        facade: "rest".into(),
        adapter_type: "ssh".into(),
        target_id: Some(TargetId::mint()),
        capability: "ssh.run_whitelisted_command".into(),
        params_hash: Some([7; 32]),
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 12,
        correlation_id: Some(CallId::mint()),
        detail: String::new(),
    }
}
