//! What the record costs without its disk: canonical arguments, sealing a row, verifying a chain: in memory, from a
//! database, and from an export.
//!
//! `cargo bench -p toolgate-core --bench record [-- ROWS]`

#![allow(clippy::unwrap_used, reason = "a bench stops at the first surprise")]

use std::{
    hint::black_box,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use toolgate_contract::ids::{CallId, EventId, TargetId, TenantId};
use toolgate_core::{
    anchor::{Checkpoint, SigningKeys},
    audit::{
        Event, EventKind, Head, Outcome, SealedRow, Sealer,
        export::{Export, Format},
        verify::{ChainVerifier, StoredRow, verify},
    },
    canonical::CanonicalJson,
    clock::Clock,
    keys::{Keyring, RecordKeys},
    proof::{Asked, Folder, verify_export},
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
        let (start, cpu) = (Instant::now(), cpu_time());
        let found = verify(&store, keys, &tenant).await.unwrap();
        assert!(found.is_intact() && found.rows == i64::from(rows), "{found:?}");
        per_second("verified from SQLite", rows, start, cpu);
    }
    let (start, cpu) = (Instant::now(), cpu_time());
    let mut export = Export::new(store.clone(), tenant.clone(), 0, Format::Ndjson);
    let mut bytes = 0;
    while let Some(chunk) = export.next_chunk().await.unwrap() {
        bytes += chunk.len();
    }
    per_second("exported from SQLite", rows, start, cpu);
    println!("                     {} bytes a line", bytes / rows as usize);
    for format in [Format::Ndjson, Format::Csv] {
        offline(dir, &store, keys, &tenant, format).await;
    }
}

/// Writes an export into a folder and verifies it there.
async fn offline(dir: &Path, store: &Store, keys: &Arc<Keyring>, tenant: &TenantId, format: Format) {
    let out = dir.join(format.as_str());
    let mut folder = Folder::open(&out, format).unwrap();
    let mut export = Export::new(store.clone(), tenant.clone(), 0, Format::Ndjson);
    let (start, cpu) = (Instant::now(), cpu_time());
    while let Some(chunk) = export.next_chunk().await.unwrap() {
        folder.take_rows(&chunk, i64::MAX).unwrap();
    }
    folder.end_of_rows().unwrap();
    let rows = u32::try_from(folder.count()).unwrap();
    let signing = SigningKeys::open(dir, &Clock::system(), false).unwrap();
    for line in signing.public().lines() {
        folder.take_evidence(format!("{line}\n").as_bytes()).unwrap();
    }
    let last = folder.last().unwrap();
    let checkpoint = Checkpoint::sign(signing.newest(), tenant, last.seq, last.hash, 0);
    folder
        .take_evidence(format!("{}\n", checkpoint.to_line()).as_bytes())
        .unwrap();
    folder.finish(String::new(), String::new()).unwrap();
    per_second(&format!("written as {}", format.as_str()), rows, start, cpu);
    for keys in [None, Some(Arc::clone(keys) as Arc<dyn RecordKeys>)] {
        let what = format!("verified {}, MACs {}", format.as_str(), keys.is_some());
        let (start, cpu) = (Instant::now(), cpu_time());
        let report = verify_export(&Asked {
            dir: &out,
            keys,
            trust: None,
            progress: &|_| {},
        });
        let found = report.unwrap().verification;
        assert!(found.is_intact(), "{found:?}");
        per_second(&what, rows, start, cpu);
    }
}

/// Rows a second, and what of both processors a row took: the former is the machine's, the latter is ours.
fn per_second(what: &str, rows: u32, start: Instant, cpu: Duration) {
    let took = start.elapsed();
    println!(
        "{what:<28} {:>9.0} rows/s, {:?} of processors a row",
        f64::from(rows) / took.as_secs_f64(),
        cpu_time().saturating_sub(cpu) / rows
    );
}

/// What this process has used, of all its threads (proc_pid_stat(5), in hundredths of a second).
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    Duration::from_millis(ticks.map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum())
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
