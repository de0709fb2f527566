use super::*;
use crate::audit::ledger::{Ledger, tamper};

fn verdicts(reports: &[TenantReport]) -> Vec<(Option<&str>, Verdict)> {
    reports
        .iter()
        .map(|report| (report.name.as_deref(), report.verification.verdict))
        .collect()
}

#[tokio::test]
async fn every_tenant_of_a_directory_is_verified_beside_a_running_gateway() {
    let ledger = Ledger::with(&["a.a", "a.b", "a.c"]).await;
    let reports = verify_directory(ledger.dir.path(), None).await.unwrap();
    assert_eq!(
        verdicts(&reports),
        [(Some("system"), Verdict::Intact), (Some("acme"), Verdict::Intact)]
    );
    assert_eq!(reports[1].verification.rows, 3);
    assert_eq!(reports[1].tenant_id, ledger.tenant.as_str());
}

#[tokio::test]
async fn a_directory_whose_gateway_has_ended_is_verified_and_left_as_it_is() {
    let ledger = Ledger::with(&["a.a", "a.b", "a.c"]).await;
    let Ledger { dir, store, .. } = ledger;
    drop(store);
    tamper(dir.path(), "delete from audit_event where seq = 2");
    let before = std::fs::read(dir.path().join("toolgate.db")).unwrap();
    let reports = verify_directory(dir.path(), None).await.unwrap();
    assert_eq!(
        verdicts(&reports),
        [(Some("system"), Verdict::Intact), (Some("acme"), Verdict::Gap)]
    );
    assert_eq!(std::fs::read(dir.path().join("toolgate.db")).unwrap(), before);
}

#[tokio::test]
async fn rows_of_nobody_are_found() {
    let ledger = Ledger::with(&["a.a", "a.b"]).await;
    ledger.tamper(
        "delete from tenants where name = 'acme';
         insert into audit_event select 'nobody', seq, event_id, prev, bytes, hash, mac, algorithm, key_id, time_us,
             kind, principal, capability, target_id, result, correlation_id from audit_event;",
    );
    let reports = verify_directory(ledger.dir.path(), None).await.unwrap();
    let mut found = verdicts(&reports);
    found.sort_by_key(|(_, verdict)| verdict.as_str());
    assert_eq!(
        found,
        [
            (None, Verdict::Inserted),
            (Some("system"), Verdict::Intact),
            (None, Verdict::Intact)
        ]
    );
}

#[tokio::test]
async fn a_folder_that_is_no_data_directory_stays_empty() {
    let dir = tempfile::tempdir().unwrap();
    let error = verify_directory(dir.path(), None).await.unwrap_err();
    assert!(error.to_string().contains("data directory"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_the_journal_writes_is_intact() {
    use std::sync::Arc;

    use crate::{
        audit::{Event, EventKind, Sealer, row_bytes::tests::event},
        clock::Clock,
        journal::{Journal, JournalError},
        store::{Store, StoreConfig},
    };

    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
        .await
        .unwrap();
    let sealer = Sealer::new(Arc::new(Keyring::open(dir.path()).unwrap()));
    let journal = Journal::start(store, sealer, Clock::system());
    let tenant = TenantId::mint();
    let made: Result<(), JournalError> = journal
        .with(
            &tenant,
            |tx| Box::pin(async move { tx.create_tenant("acme", 0).await.map_err(JournalError::from) }),
            |()| Event {
                kind: EventKind::TenantCreated,
                ..event("")
            },
        )
        .await;
    made.unwrap();
    let hostile = ["a.a", "\0\u{1b}[2J", &"x".repeat(5_000), "\\u0000", "é…\u{2028}"];
    for name in hostile {
        journal.record(&tenant, event(name)).await.unwrap();
    }
    journal.record(&TenantId::system(), event("")).await.unwrap();

    let reports = verify_directory(dir.path(), None).await.unwrap();

    assert_eq!(
        verdicts(&reports),
        [(Some("system"), Verdict::Intact), (Some("acme"), Verdict::Intact)]
    );
    assert_eq!(
        reports
            .iter()
            .map(|report| report.verification.rows)
            .collect::<Vec<_>>(),
        [1, 6]
    );
}
