use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use serde_json::Value;

use super::*;
use crate::{
    audit::{
        ChainVerifier, Event, EventKind, Head, Outcome, Sealer, ledger::Ledger, row_bytes::tests::event,
    },
    keys::Keyring,
};

async fn export(ledger: &Ledger, after: i64) -> (Vec<Value>, usize) {
    let mut export = Export::new(ledger.store.clone(), ledger.tenant.clone(), after, Format::Ndjson);
    let (mut lines, mut chunks) = (Vec::new(), 0);
    while let Some(chunk) = export.next_chunk().await.unwrap() {
        assert!(chunk.ends_with(b"\n") && chunk.len() < CHUNK + 64 * 1024);
        lines.extend(
            chunk
                .trim_ascii_end()
                .split(|byte| *byte == b'\n')
                .map(|line| serde_json::from_slice::<Value>(line).unwrap()),
        );
        chunks += 1;
    }
    assert_eq!(export.next_chunk().await.unwrap(), None);
    (lines, chunks)
}

#[tokio::test]
async fn every_row_becomes_a_line_in_chain_order_and_the_lines_verify() {
    let mut ledger = Ledger::new().await;
    ledger
        .append((0..1_500).map(|_| event("ssh.run_whitelisted_command")))
        .await;
    let (lines, chunks) = export(&ledger, 0).await;
    assert_eq!(lines.len(), 1_500);
    assert!(chunks > 1);

    let mut verifier = ChainVerifier::new(ledger.tenant.clone(), Arc::clone(&ledger.keys));
    let mut last = None;
    for line in &lines {
        let hex = |name: &str| HEXLOWER.decode(line[name].as_str().unwrap().as_bytes()).unwrap();
        let (prev, hash, mac) = (hex("prev"), hex("hash"), hex("mac"));
        let bytes = BASE64.decode(line["bytes"].as_str().unwrap().as_bytes()).unwrap();
        let seq = line["seq"].as_i64().unwrap();
        verifier.push(&StoredRow {
            seq,
            prev: &prev,
            bytes: &bytes,
            hash: &hash,
            mac: &mac,
            algorithm: line["algorithm"].as_i64().unwrap(),
            key_id: line["keyId"].as_str().unwrap(),
            columns_agree: true,
        });
        last = Some(Head {
            seq,
            hash: hash.try_into().unwrap(),
        });
    }
    assert!(verifier.finish(last).is_intact());
}

#[tokio::test]
async fn an_export_goes_on_after_a_place() {
    let ledger = Ledger::with(&["a.a", "a.b", "a.c"]).await;
    let (lines, _) = export(&ledger, 2).await;
    assert_eq!(
        lines
            .iter()
            .map(|line| line["seq"].as_i64().unwrap())
            .collect::<Vec<_>>(),
        [3]
    );
    assert!(export(&ledger, 3).await.0.is_empty());
}

#[tokio::test]
async fn a_line_tells_the_event_and_splices_its_detail() {
    let mut ledger = Ledger::new().await;
    let mut told = event("a.\u{1b}[2J");
    told.detail = r#"{"count":9007199254740993}"#.into();
    let mut broken = event("a.b");
    broken.detail = "no json".into();
    ledger.append([told.clone(), broken]).await;
    let (lines, _) = export(&ledger, 0).await;
    let line = &lines[0];
    assert_eq!(line["event"], "adapter.capability_invoked");
    assert_eq!(line["time"], "2026-01-01T00:00:00.123456Z");
    assert_eq!(line["tenantId"], ledger.tenant.as_str());
    assert_eq!(line["capability"], "a.\\u001b[2J");
    assert_eq!(line["paramsHash"], "09".repeat(32));
    assert_eq!(line["correlationId"], told.correlation_id.unwrap().to_string());
    assert_eq!(line["detail"]["count"], 9_007_199_254_740_993_i64);
    assert_eq!(lines[1].get("detail"), None);
}

#[tokio::test]
async fn a_tampered_row_is_exported_with_what_the_chain_says() {
    let ledger = Ledger::with(&["a.a", "a.b", "a.c"]).await;
    ledger.tamper("update audit_event set bytes = x'01' where seq = 2");
    let (lines, _) = export(&ledger, 0).await;
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (&lines[1]["seq"], &lines[1]["bytes"]),
        (&2.into(), &"AQ==".into())
    );
    assert_eq!(lines[1].get("event"), None);
}

/// The example of `docs/audit.md`, for those who write a verifier of their own.
#[test]
fn the_documented_line_is_the_one_that_is_written() {
    const PAGE: &str = include_str!("../../../../docs/audit.md");
    let dir = tempfile::tempdir().unwrap();
    Keyring::open(dir.path()).unwrap();
    let keys = dir.path().join("keys");
    for file in std::fs::read_dir(&keys).unwrap().flatten() {
        if file.file_name().to_string_lossy().starts_with("root-") {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    let root = keys.join("root-01ARZ3NDEKTSV4RRFFQ69G5FAV.key");
    std::fs::write(&root, "00".repeat(32)).unwrap();
    std::fs::set_permissions(&root, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let sealer = Sealer::new(Arc::new(Keyring::open(dir.path()).unwrap()));
    let tenant: TenantId = "01KDVDNTR00000000000000001".parse().unwrap();
    let event = Event {
        id: "01KDVDNTR00000000000000002".parse().unwrap(),
        kind: EventKind::CapabilityInvoked,
        time_us: 1_767_225_600_000_001,
        principal: "devon \"d\"".into(),
        role: "engineer".into(),
        facade: "rest".into(),
        adapter_type: "ssh".into(),
        target_id: Some("01KDVDNTR00000000000000003".parse().unwrap()),
        capability: "ssh.run_whitelisted_command".into(),
        params_hash: Some([7; 32]),
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 12,
        correlation_id: Some("01KDVDNTR00000000000000004".parse().unwrap()),
        detail: r#"{"target":"web-1"}"#.into(),
    };
    let row = sealer.seal(&tenant, &Head::genesis(&tenant), &event);
    let mut line = Vec::new();
    let stored = StoredRow {
        seq: row.seq,
        prev: &row.prev,
        bytes: &row.bytes,
        hash: &row.hash,
        mac: &row.mac,
        algorithm: row.algorithm,
        key_id: &row.key_id,
        columns_agree: true,
    };
    Format::Ndjson.write(&mut line, tenant.as_str(), &stored);
    let line = String::from_utf8(line).unwrap();
    assert!(PAGE.contains(&line), "docs/audit.md lacks this line:\n{line}");
    for member in Format::Csv.header().trim_end().split(',') {
        assert!(line.contains(&format!("\"{member}\":")), "{member}");
    }
}
