use super::*;
use crate::audit::{Verdict, ledger::Ledger, row_bytes::tests::event};

const TOOLS: [&str; 7] = ["a.a", "a.b", "a.c", "a.d", "a.e", "a.f", "a.g"];
const SWAP_3_AND_6: &str = "update audit_event set seq = -1 where seq = 3;
     update audit_event set seq = 3 where seq = 6;
     update audit_event set seq = 6 where seq = -1;";
const SHIFT_FROM_4: &str = "update audit_event set seq = -seq - 1 where seq >= 4;
     update audit_event set seq = -seq where seq < 0;
     update audit_head set seq = seq + 1;";
/// Copies row 2, under another event id, to a place that is to follow.
const COPY: &str = "insert into audit_event
     select tenant_id, {place}, '01ARZ3NDEKTSV4RRFFQ69G5FAV', prev, bytes, hash, mac, algorithm, key_id, time_us, kind,
            principal, capability, target_id, result, correlation_id from audit_event where seq = 2;";

async fn check(what: &str, sql: &str, verdict: Verdict, seq: i64) {
    let ledger = Ledger::with(&TOOLS).await;
    ledger.tamper(sql);
    let found = verify(&ledger.store, &ledger.keys, &ledger.tenant).await.unwrap();
    assert_eq!(
        (found.verdict, found.seq),
        (verdict, seq),
        "{what}: {}",
        found.message
    );
}

#[tokio::test]
async fn a_stored_chain_is_intact_however_long() {
    let mut ledger = Ledger::with(&TOOLS).await;
    ledger
        .append((0..2_100).map(|_| event("ssh.run_whitelisted_command")))
        .await;
    let found = verify(&ledger.store, &ledger.keys, &ledger.tenant).await.unwrap();
    assert_eq!(
        (found.verdict, found.rows, found.head.seq),
        (Verdict::Intact, 2_107, 2_107),
        "{}",
        found.message
    );

    ledger.tamper("delete from audit_event where seq = 2050");
    let found = verify(&ledger.store, &ledger.keys, &ledger.tenant).await.unwrap();
    assert_eq!((found.verdict, found.seq), (Verdict::Gap, 2_050));
}

#[tokio::test]
async fn a_page_that_ends_with_the_chain_is_the_last() {
    let mut ledger = Ledger::new().await;
    ledger.append((0..1_000).map(|_| event("a.b"))).await;
    let found = verify(&ledger.store, &ledger.keys, &ledger.tenant).await.unwrap();
    assert_eq!((found.verdict, found.rows), (Verdict::Intact, 1_000));
}

#[tokio::test]
async fn edited_values_of_a_row_are_found() {
    let set = |assignment: &str| format!("update audit_event set {assignment} where seq = 4");
    for column in [
        "event_id = 'x'",
        "time_us = time_us + 1",
        "kind = 'token.created'",
        "principal = 'eve'",
        "capability = 'b.b'",
        "target_id = null",
        "target_id = 'x'",
        "result = 'failure'",
        "correlation_id = null",
        "correlation_id = ''",
        "principal = x'616e6e61'",
        "time_us = 'soon'",
    ] {
        check(column, &set(column), Verdict::Edited, 4).await;
    }
    let byte = set("bytes = cast(substr(bytes, 1, 60) || 'Z' || substr(bytes, 62) as blob)");
    check("byte", &byte, Verdict::Edited, 4).await;
    check("bytes as text", &set("bytes = 'text'"), Verdict::Edited, 4).await;
    check("hash", &set("hash = zeroblob(32)"), Verdict::Edited, 4).await;
    check("short hash", &set("hash = x'00'"), Verdict::Edited, 4).await;
    check("prev", &set("prev = zeroblob(32)"), Verdict::BrokenLink, 4).await;
    check("mac", &set("mac = zeroblob(32)"), Verdict::BadMac, 4).await;
    check("key id", &set("key_id = 'another'"), Verdict::BadMac, 4).await;
    check("algorithm", &set("algorithm = 0"), Verdict::UnknownAlgorithm, 4).await;
    check(
        "algorithm as text",
        &set("algorithm = 'none'"),
        Verdict::UnknownAlgorithm,
        4,
    )
    .await;
}

#[tokio::test]
async fn values_that_the_store_cannot_carry_are_a_finding_and_no_error() {
    check(
        "a place between two",
        "update audit_event set seq = 4.5 where seq = 4",
        Verdict::OutOfOrder,
        4,
    )
    .await;
    check(
        "no text",
        "update audit_event set principal = cast(x'ff' as text) where seq = 4",
        Verdict::Edited,
        4,
    )
    .await;
    check(
        "a place that is a text",
        "update audit_event set seq = 'four' where seq = 4",
        Verdict::OutOfOrder,
        4,
    )
    .await;
}

#[tokio::test]
async fn removed_swapped_and_added_rows_are_told_apart() {
    check(
        "removed",
        "delete from audit_event where seq = 4",
        Verdict::Gap,
        4,
    )
    .await;
    check(
        "first removed",
        "delete from audit_event where seq = 1",
        Verdict::Gap,
        1,
    )
    .await;
    check("swapped", SWAP_3_AND_6, Verdict::OutOfOrder, 3).await;
    let copy = |place: &str| COPY.replace("{place}", place);
    check("added at the end", &copy("8"), Verdict::Inserted, 8).await;
    check("added before the first", &copy("-5"), Verdict::Inserted, 1).await;
    check(
        "added in the middle",
        &format!("{SHIFT_FROM_4}{}", copy("4")),
        Verdict::Inserted,
        4,
    )
    .await;
    let head_follows = "update audit_head set seq = 8, hash = (select hash from audit_event where seq = 8);";
    check(
        "added at the end with the head",
        &format!("{}{head_follows}", copy("8")),
        Verdict::Inserted,
        8,
    )
    .await;
}

#[tokio::test]
async fn an_edited_head_a_cut_tail_and_a_lost_chain_are_told_apart() {
    check(
        "hash",
        "update audit_head set hash = zeroblob(32)",
        Verdict::HeadMismatch,
        7,
    )
    .await;
    check(
        "hash as text",
        "update audit_head set hash = 'x'",
        Verdict::HeadMismatch,
        7,
    )
    .await;
    check(
        "further",
        "update audit_head set seq = 9",
        Verdict::HeadMismatch,
        7,
    )
    .await;
    check("back", "update audit_head set seq = 6", Verdict::HeadMismatch, 7).await;
    check("gone", "delete from audit_head", Verdict::HeadMismatch, 7).await;
    check(
        "tail",
        "delete from audit_event where seq >= 6",
        Verdict::Truncated,
        6,
    )
    .await;
    check("rows", "delete from audit_event", Verdict::ChainMissing, 1).await;
    check(
        "all",
        "delete from audit_event; delete from audit_head",
        Verdict::ChainMissing,
        1,
    )
    .await;
}

#[tokio::test]
async fn a_row_of_another_tenant_does_not_pass() {
    let ledger = Ledger::with(&TOOLS).await;
    ledger.tamper(&format!(
        "insert into tenants (id, name, created_us) values ('local', 'other', 0);
         insert into audit_event select 'local', seq, event_id, prev, bytes, hash, mac, algorithm, key_id, time_us, kind,
             principal, capability, target_id, result, correlation_id from audit_event where tenant_id = '{0}';
         insert into audit_head select 'local', seq, hash from audit_head where tenant_id = '{0}';",
        ledger.tenant
    ));
    let stolen = verify(&ledger.store, &ledger.keys, &"local".parse().unwrap())
        .await
        .unwrap();
    assert_eq!((stolen.verdict, stolen.seq), (Verdict::Edited, 1));
    assert!(
        verify(&ledger.store, &ledger.keys, &ledger.tenant)
            .await
            .unwrap()
            .is_intact()
    );
}
