use super::*;
use crate::audit::{ledger::Ledger, row_bytes::tests::event};

fn seqs(listing: &Listing) -> Vec<i64> {
    listing.entries.iter().map(|entry| entry.seq).collect()
}

async fn ledger() -> Ledger {
    let mut ledger = Ledger::new().await;
    let events = (1..=9).map(|place| {
        let mut event = event(if place % 2 == 0 { "a.even" } else { "a.odd" });
        event.time_us = place * 1_000_000;
        event.principal = if place < 4 { "anna" } else { "b\0b" }.into();
        if place == 5 {
            event.kind = EventKind::WriteRejected;
            event.result = Outcome::Refused;
        }
        event
    });
    ledger.append(events).await;
    ledger
}

#[tokio::test]
async fn pages_go_from_the_newest_to_the_first_without_gap_or_repetition() {
    let ledger = ledger().await;
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = list(&ledger.store, &ledger.tenant, &Filter::default(), cursor, 4)
            .await
            .unwrap();
        seen.extend(seqs(&page));
        // The cursor goes through its text, as callers carry it.
        cursor = page.next.map(|cursor| cursor.to_string().parse().unwrap());
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, (1..=9).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn filters_are_combined_with_and() {
    let ledger = ledger().await;
    let all = list(&ledger.store, &ledger.tenant, &Filter::default(), None, 500)
        .await
        .unwrap();
    let of_place_7 = all.entries[2].event.clone().unwrap();
    let check = async |filter: Filter, expected: &[i64]| {
        let found = list(&ledger.store, &ledger.tenant, &filter, None, 500)
            .await
            .unwrap();
        assert_eq!(seqs(&found), expected, "{filter:?}");
        assert_eq!(found.next, None);
    };
    let none = Filter::default;
    check(
        Filter {
            principal: Some("anna".into()),
            ..none()
        },
        &[3, 2, 1],
    )
    .await;
    check(
        Filter {
            principal: Some("b\0b".into()),
            capability: Some("a.even".into()),
            ..none()
        },
        &[8, 6, 4],
    )
    .await;
    check(
        Filter {
            since_us: Some(3_000_000),
            until_us: Some(5_000_000),
            ..none()
        },
        &[4, 3],
    )
    .await;
    check(
        Filter {
            result: Some(Outcome::Refused),
            ..none()
        },
        &[5],
    )
    .await;
    check(
        Filter {
            kind: Some(EventKind::WriteRejected),
            principal: Some("anna".into()),
            ..none()
        },
        &[],
    )
    .await;
    check(
        Filter {
            target_id: of_place_7.target_id,
            ..none()
        },
        &[7],
    )
    .await;
    check(
        Filter {
            correlation_id: of_place_7.correlation_id,
            ..none()
        },
        &[7],
    )
    .await;
    check(
        Filter {
            target_id: Some(TargetId::mint()),
            ..none()
        },
        &[],
    )
    .await;
}

#[tokio::test]
async fn nothing_of_another_tenant_is_listed() {
    let ledger = ledger().await;
    let other = list(&ledger.store, &TenantId::mint(), &Filter::default(), None, 500)
        .await
        .unwrap();
    assert_eq!(
        other,
        Listing {
            entries: vec![],
            next: None
        }
    );
    assert_eq!(newest(&ledger.store, &TenantId::mint()).await, Ok(0));
}

#[tokio::test]
async fn the_record_can_be_followed() {
    let ledger = ledger().await;
    assert_eq!(newest(&ledger.store, &ledger.tenant).await, Ok(9));
    let after = async |seq, size, filter: &Filter| {
        let found = follow(&ledger.store, &ledger.tenant, filter, seq, size)
            .await
            .unwrap();
        let seqs: Vec<_> = found.entries.iter().map(|entry| entry.seq).collect();
        (seqs, found.through)
    };
    let all = Filter::default();
    assert_eq!(after(6, 2, &all).await, (vec![7, 8], 8));
    assert_eq!(after(8, 2, &all).await, (vec![9], 9));
    assert_eq!(after(9, 2, &all).await, (vec![], 9));
    assert_eq!(after(99, 2, &all).await, (vec![], 99));
    let nobody = Filter {
        principal: Some("nobody".into()),
        ..Filter::default()
    };
    // What does not pass is not looked at again.
    assert_eq!(after(2, 2, &nobody).await, (vec![], 9));
}

#[tokio::test]
async fn a_tampered_row_is_listed_as_unreadable_and_hides_no_other() {
    let ledger = ledger().await;
    ledger.tamper("update audit_event set bytes = x'01' where seq = 8");
    let found = list(&ledger.store, &ledger.tenant, &Filter::default(), None, 3)
        .await
        .unwrap();
    assert_eq!(seqs(&found), [9, 8, 7]);
    assert_eq!(found.entries[1].event, Err(RowError::Length(0)));
}

#[test]
fn only_cursors_are_cursors() {
    assert_eq!("before-7".parse(), Ok(Cursor(7)));
    for text in [
        "",
        "7",
        "before-",
        "before-0",
        "before--1",
        "before-07",
        "before-+7",
        "before-7 ",
        "before-9223372036854775808",
    ] {
        assert_eq!(text.parse::<Cursor>(), Err(InvalidCursor), "{text}");
    }
}
