use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use super::*;
use crate::audit::{decode, row_bytes::tests::event};

fn sealer() -> (tempfile::TempDir, Arc<Keyring>, Sealer) {
    let dir = tempfile::tempdir().unwrap();
    let keys = Arc::new(Keyring::open(dir.path()).unwrap());
    let sealer = Sealer::new(Arc::clone(&keys));
    (dir, keys, sealer)
}

#[test]
fn each_row_follows_the_one_before() {
    let (_dir, keys, sealer) = sealer();
    let tenant = TenantId::mint();
    let mut head = Head::genesis(&tenant);
    for place in 1..=5 {
        let event = event("a.b");
        let row = sealer.seal(&tenant, &head, &event);
        assert_eq!((row.seq, row.prev), (place, head.hash));
        assert_eq!(row.hash, row_hash(1, &tenant, place, &head.hash, &row.bytes));
        let key = keys.record_key_by_id(&row.key_id, &tenant).unwrap();
        assert!(key.verifies(&row.hash, &row.mac));
        assert_eq!(decode(&row.bytes).unwrap(), event);
        assert_eq!(row.columns().unwrap().event_id, event.id.to_string());
        head = row.head();
    }
}

#[test]
fn the_hash_changes_with_every_part() {
    let (one, other) = (TenantId::mint(), TenantId::mint());
    let base = row_hash(1, &one, 1, &[0; 32], b"x");
    for changed in [
        row_hash(2, &one, 1, &[0; 32], b"x"),
        row_hash(1, &other, 1, &[0; 32], b"x"),
        row_hash(1, &one, 2, &[0; 32], b"x"),
        row_hash(1, &one, 1, &[1; 32], b"x"),
        row_hash(1, &one, 1, &[0; 32], b"y"),
    ] {
        assert_ne!(base, changed);
    }
    assert_ne!(Head::genesis(&one), Head::genesis(&other));
}

#[test]
fn the_hash_is_the_documented_one() {
    let tenant = TenantId::system();
    let mut input = Vec::new();
    for part in [
        &b"toolgate/audit/v1"[..],
        &1_i64.to_be_bytes(),
        b"system",
        &7_i64.to_be_bytes(),
        &[3; 32],
        b"bytes",
    ] {
        input.extend_from_slice(&(part.len() as u64).to_be_bytes());
        input.extend_from_slice(part);
    }
    let expected = ring::digest::digest(&SHA256, &input);
    assert_eq!(&row_hash(1, &tenant, 7, &[3; 32], b"bytes"), expected.as_ref());
}
