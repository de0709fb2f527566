//! What the record costs without its disk: canonical arguments, sealing a row, verifying a chain.
//!
//! `cargo bench -p toolgate-core --bench record`

#![allow(clippy::unwrap_used, reason = "a bench stops at the first surprise")]

use std::{hint::black_box, sync::Arc, time::Instant};

use toolgate_contract::ids::{CallId, EventId, TargetId, TenantId};
use toolgate_core::{
    audit::{
        Event, EventKind, Head, Outcome, Sealer,
        verify::{ChainVerifier, StoredRow},
    },
    canonical::CanonicalJson,
    keys::Keyring,
};

const ROUNDS: u32 = 200_000;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let keys = Arc::new(Keyring::open(dir.path()).unwrap());
    canonical();
    record(&keys);
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
            columns: Some(row.columns().unwrap()),
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
