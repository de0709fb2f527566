use data_encoding::HEXLOWER;

use super::*;
use crate::{
    anchor,
    audit::{Event, EventKind, Verdict, export::Format, ledger::Ledger, row_bytes::tests::event},
    proof::{exported::Exported, tampering::sign, verify_directory},
};

fn records(ledger: &Ledger) -> Records {
    Records::new(ledger.store.clone(), Arc::clone(&ledger.keys), ledger.dir.path())
}

/// The row that a verification leaves behind.
fn told(found: &Verification) -> Event {
    let hash = HEXLOWER.encode(&found.head.hash);
    Event {
        kind: EventKind::AuditVerified,
        detail: format!(
            r#"{{"verdict":"{}","headSeq":{},"headHash":"{hash}"}}"#,
            found.verdict.as_str(),
            found.head.seq
        ),
        ..event("")
    }
}

async fn since(ledger: &Ledger) -> Verification {
    records(ledger)
        .verify(&ledger.tenant, Extent::Since)
        .await
        .unwrap()
}

/// Nine rows, a verification as the tenth, two more.
async fn verified() -> Ledger {
    let mut ledger = Ledger::with(&["a.a", "a.b", "a.c", "a.d", "a.e", "a.f", "a.g", "a.h", "a.i"]).await;
    let found = Walk::whole(&ledger.tenant, &ledger.keys)
        .run(&ledger.store, &ledger.tenant)
        .await
        .unwrap();
    assert!(found.is_intact());
    ledger.append([told(&found), event("f.f"), event("f.g")]).await;
    ledger
}

#[tokio::test]
async fn a_verification_goes_on_where_the_last_intact_one_ended() {
    let mut ledger = verified().await;
    let found = since(&ledger).await;
    assert_eq!(
        (found.verdict, found.from, found.rows, found.head.seq),
        (Verdict::Intact, 10, 3, 12)
    );

    // One that found a fault is not gone on from.
    let mut bad = told(&found);
    bad.result = crate::audit::Outcome::Failure;
    bad.detail = bad.detail.replace("intact", "edited");
    ledger.append([bad]).await;
    assert_eq!(since(&ledger).await.from, 10);
    ledger.append([told(&found)]).await;
    assert_eq!(since(&ledger).await.from, 13);
}

#[tokio::test]
async fn without_a_former_verification_every_row_is_looked_at() {
    let ledger = Ledger::with(&["a.a", "a.b"]).await;
    let found = since(&ledger).await;
    assert_eq!((found.verdict, found.from, found.rows), (Verdict::Intact, 1, 2));
}

#[tokio::test]
async fn what_comes_after_the_remembered_place_is_checked_and_that_place_as_well() {
    let check = |what: &str, sql: &str, verdict: Verdict, seq: i64, from: i64| {
        let (what, sql) = (what.to_owned(), sql.to_owned());
        async move {
            let ledger = verified().await;
            ledger.tamper(&sql);
            let found = since(&ledger).await;
            assert_eq!(
                (found.verdict, found.seq, found.from),
                (verdict, seq, from),
                "{what}: {}",
                found.message
            );
        }
    };
    check(
        "after it",
        "update audit_event set principal = 'eve' where seq = 12",
        Verdict::Edited,
        12,
        10,
    )
    .await;
    check(
        "a row less",
        "delete from audit_event where seq = 11",
        Verdict::Gap,
        11,
        10,
    )
    .await;
    check(
        "its hash",
        "update audit_event set hash = zeroblob(32) where seq = 9",
        Verdict::Edited,
        9,
        1,
    )
    .await;
    check(
        "gone",
        "delete from audit_event where seq = 9",
        Verdict::Gap,
        9,
        1,
    )
    .await;
    // Not looked at, and told so by `from`.
    check(
        "before it",
        "update audit_event set principal = 'eve' where seq = 3",
        Verdict::Intact,
        0,
        10,
    )
    .await;
    // Nobody's word but the gateway's counts.
    check(
        "the row itself",
        "update audit_event set mac = zeroblob(32) where seq = 10",
        Verdict::BadMac,
        10,
        1,
    )
    .await;
}

#[tokio::test]
async fn rows_rewritten_by_the_holder_of_the_key_before_the_remembered_place_are_a_fork() {
    let ledger = verified().await;
    let remembered = remembered::find(&ledger.store, &ledger.keys, &ledger.tenant)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((remembered.head.seq, remembered.told_by), (9, 10));
    let lie = Remembered {
        head: Head {
            seq: 9,
            hash: [7; 32],
        },
        ..remembered
    };
    let none: Testimonies = Box::new(std::iter::empty());
    let found = Walk::whole(&ledger.tenant, &ledger.keys)
        .hearing(with(none, lie))
        .run(&ledger.store, &ledger.tenant)
        .await
        .unwrap();
    assert_eq!(
        (found.verdict, found.seq),
        (Verdict::Fork, 9),
        "{}",
        found.message
    );
    assert!(
        found.message.contains("the verification of row 10"),
        "{}",
        found.message
    );
}

#[tokio::test]
async fn checkpoints_are_held_against_the_rows_and_say_how_far_they_go() {
    let mut exported = Exported::new(Format::Ndjson).await;
    sign(&exported).await;
    exported.ledger.append([event("g.g")]).await;
    let found = records(&exported.ledger)
        .verify(&exported.ledger.tenant, Extent::Whole)
        .await
        .unwrap();
    assert_eq!(
        (found.verdict, found.rows, found.checkpoints, found.covered),
        (Verdict::Intact, 10, 1, 9),
        "{}",
        found.message
    );
}

#[tokio::test]
async fn checkpoint_files_are_looked_at_as_a_whole_by_a_gateway_as_by_a_directory() {
    let check = async |what: &str, lose: fn(&std::path::Path)| {
        let exported = Exported::new(Format::Ndjson).await;
        sign(&exported).await;
        let ledger = &exported.ledger;
        let online = async || {
            let found = records(ledger)
                .verify(&ledger.tenant, Extent::Whole)
                .await
                .unwrap();
            (found.verdict, found.message)
        };
        assert_eq!(online().await.0, Verdict::Intact, "{what}");
        let mut files = std::fs::read_dir(anchor::folder(ledger.dir.path())).unwrap();
        let file = files
            .find_map(|file| {
                let path = file.unwrap().path();
                path.file_name()?.to_str()?.starts_with("20").then_some(path)
            })
            .unwrap();
        lose(&file);
        let (verdict, message) = online().await;
        assert_eq!(verdict, Verdict::BadSignature, "{what}: {message}");
        let reports = verify_directory(ledger.dir.path(), None).await.unwrap();
        assert!(
            reports
                .iter()
                .any(|report| report.verification.verdict == Verdict::BadSignature
                    && report.verification.message == message),
            "{what}: {message}: {reports:?}"
        );
    };
    fn without(file: &std::path::Path, kind: &str) -> String {
        let text = std::fs::read_to_string(file).unwrap();
        let left = text.lines().filter(|line| !line.contains(kind));
        left.map(|line| format!("{line}\n")).collect()
    }
    fn put(file: &std::path::Path, text: String) {
        std::fs::write(file, text).unwrap();
    }
    check("the file deleted", |file| std::fs::remove_file(file).unwrap()).await;
    check("the folder emptied", |file| {
        std::fs::remove_file(file).unwrap();
        std::fs::remove_file(file.with_file_name("keys.ndjson")).unwrap();
    })
    .await;
    check("a junk line", |file| {
        put(file, std::fs::read_to_string(file).unwrap() + "junk\n");
    })
    .await;
    check("all checkpoints", |file| {
        put(file, without(file, "\"checkpoint\""))
    })
    .await;
    check("all roots", |file| put(file, without(file, "\"root\","))).await;
}

#[tokio::test]
async fn the_evidence_of_an_export_is_keys_and_later_checkpoints() {
    let exported = Exported::new(Format::Ndjson).await;
    sign(&exported).await;
    for (after, checkpoints) in [(0, 1), (8, 1), (9, 0)] {
        let records = records(&exported.ledger);
        let mut evidence = records.evidence(&exported.ledger.tenant, after).await.unwrap();
        let mut text = String::new();
        while let Some(chunk) = evidence.next_chunk().await.unwrap() {
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        let count = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!(
            (count(r#"{"type":"key""#), count(r#"{"type":"checkpoint""#)),
            (1, checkpoints),
            "{text}"
        );
    }
}
