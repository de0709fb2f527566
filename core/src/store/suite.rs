//! What every back end must do. Written against a store that is opened for each test; `contract!(opener)` makes the
//! tests, where `opener` is an async function that gives something to keep alive and the store; nothing where this
//! machine has no ground for the test it is told the name of.

use std::{sync::Arc, time::Duration};

use futures::future;
use toolgate_contract::ids::TenantId;

use super::{Store, StoreError, params};

/// The names of all behaviours, as tests on the store that `$open` gives.
macro_rules! contract {
    ($open:ident) => {
        $crate::store::suite::contract!($open:
            a_tenant_sees_and_changes_only_its_own_rows
            a_statement_without_its_tenant_is_refused
            a_failed_change_leaves_nothing
            a_panicking_change_leaves_nothing_and_the_store_lives
            awaiting_something_foreign_fails_at_once
            a_caller_that_left_leaves_nothing_behind
            a_caller_waits_no_longer_than_the_deadline
            placeholders_are_bound_by_number
            values_come_back_as_they_went_in
            a_door_for_reading_does_not_write
            a_read_sees_one_snapshot
            keys_and_references_are_told_apart
            the_record_is_append_only
            writers_take_turns
            tenants_are_made_once_and_count_their_changes
            a_check_passes_on_a_sound_store
        );
    };
    ($open:ident: $($behaviour:ident)+) => {
        // Work may hold up the thread it runs on; whoever waits for it needs another.
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $behaviour() {
            let Some((_keep, store)) = $open(stringify!($behaviour)).await else { return };
            $crate::store::suite::$behaviour(store).await;
        })+
    };
}
pub(crate) use contract;

const ADD: &str = "insert into policy (tenant_id, tool) values ($1, $2)";
const TOOLS: &str = "select tool from policy where tenant_id = $1 order by tool";

/// Holds up the thread that work runs on. Where that is one of the runtime's, its other tasks move to another.
fn held_up(until: &std::sync::mpsc::Receiver<()>) {
    tokio::task::block_in_place(|| until.recv()).unwrap();
}

/// A new tenant.
pub(crate) async fn tenant(store: &Store) -> TenantId {
    let tenant = TenantId::mint();
    let made: Result<(), StoreError> = store
        .with_tenant(&tenant, |tx| {
            Box::pin(async move { tx.create_tenant("acme", 1).await })
        })
        .await;
    made.unwrap();
    tenant
}

/// A new tenant with one row on its record, which is no valid one.
pub(crate) async fn tenant_with_a_row(store: &Store) -> TenantId {
    const ROW: &str = "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, \
        time_us, kind, principal, capability, result) \
        values ($1, 1, 'e', $2, $2, $2, $2, 1, '', 0, '', '', '', '')";
    let tenant = tenant(store).await;
    // Elsewhere only the record's own functions put a row there; what refuses a change does so without one as well.
    if matches!(store.backend, super::Backend::Postgres(_)) {
        return tenant;
    }
    let owner = tenant.clone();
    let made: Result<u64, StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move { tx.execute(ROW, params![&owner, &[0; 32]]).await })
        })
        .await;
    made.unwrap();
    tenant
}

async fn add(store: &Store, tenant: &TenantId, tool: &str) -> Result<u64, StoreError> {
    let (owner, tool) = (tenant.clone(), tool.to_owned());
    store
        .with_tenant(tenant, move |tx| {
            Box::pin(async move { tx.execute(ADD, params![&owner, &tool]).await })
        })
        .await
}

async fn tools(store: &Store, tenant: &TenantId) -> Vec<String> {
    let owner = tenant.clone();
    let rows: Result<_, StoreError> = store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move { tx.query(TOOLS, params![&owner]).await })
        })
        .await;
    rows.unwrap()
        .iter()
        .map(|row| row.text(0).unwrap().to_owned())
        .collect()
}

pub(crate) async fn a_tenant_sees_and_changes_only_its_own_rows(store: Store) {
    let (one, other) = (tenant(&store).await, tenant(&store).await);
    add(&store, &one, "a").await.unwrap();
    add(&store, &other, "b").await.unwrap();
    assert_eq!(
        (tools(&store, &one).await, tools(&store, &other).await),
        (vec!["a".into()], vec!["b".into()])
    );

    let owner = one.clone();
    let gone: Result<u64, StoreError> = store
        .with_tenant(&one, move |tx| {
            Box::pin(async move {
                tx.execute("delete from policy where tenant_id = $1", params![&owner])
                    .await
            })
        })
        .await;
    assert_eq!(gone, Ok(1));
    assert_eq!(
        (tools(&store, &one).await, tools(&store, &other).await),
        (vec![], vec!["b".into()])
    );
}

pub(crate) async fn a_statement_without_its_tenant_is_refused(store: Store) {
    let (one, other) = (tenant(&store).await, tenant(&store).await);
    add(&store, &other, "b").await.unwrap();
    let foreign = other.clone();
    let asked: Result<(), StoreError> = store
        .with_tenant(&one, move |tx| {
            Box::pin(async move {
                let refused = |outcome| matches!(outcome, Err(StoreError::Unscoped(_)));
                assert!(refused(tx.execute("delete from policy", &[]).await));
                assert!(refused(
                    tx.execute("delete from policy where tool = $1", params!["b"])
                        .await
                ));
                assert!(refused(
                    tx.execute("delete from policy where tenant_id = $1", params![&foreign])
                        .await
                ));
                assert!(refused(tx.execute(ADD, params![&foreign, "c"]).await));
                assert!(matches!(
                    tx.query(TOOLS, params![&foreign]).await,
                    Err(StoreError::Unscoped(_))
                ));
                Ok(())
            })
        })
        .await;
    asked.unwrap();
    assert_eq!(tools(&store, &other).await, ["b"]);
}

pub(crate) async fn a_failed_change_leaves_nothing(store: Store) {
    let tenant = tenant(&store).await;
    let owner = tenant.clone();
    let failed: Result<(), StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.execute(ADD, params![&owner, "a"]).await?;
                Err(StoreError::Closed)
            })
        })
        .await;
    assert_eq!(failed, Err(StoreError::Closed));
    assert!(tools(&store, &tenant).await.is_empty());
}

pub(crate) async fn a_panicking_change_leaves_nothing_and_the_store_lives(store: Store) {
    let tenant = tenant(&store).await;
    let owner = tenant.clone();
    let failed: Result<(), StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.execute(ADD, params![&owner, "a"]).await?;
                panic!("on purpose")
            })
        })
        .await;
    assert_eq!(failed, Err(StoreError::Panicked));
    assert!(tools(&store, &tenant).await.is_empty());
    add(&store, &tenant, "b").await.unwrap();
    assert_eq!(tools(&store, &tenant).await, ["b"]);
}

pub(crate) async fn awaiting_something_foreign_fails_at_once(store: Store) {
    let tenant = tenant(&store).await;
    let owner = tenant.clone();
    let failed: Result<(), StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.execute(ADD, params![&owner, "a"]).await?;
                future::pending::<()>().await;
                Ok(())
            })
        })
        .await;
    assert_eq!(failed, Err(StoreError::ForeignAwait));
    assert!(tools(&store, &tenant).await.is_empty());
    let failed: Result<(), StoreError> = store
        .with_tenant_read(&tenant, |_| Box::pin(future::pending()))
        .await;
    assert_eq!(failed, Err(StoreError::ForeignAwait));
}

pub(crate) async fn a_caller_that_left_leaves_nothing_behind(store: Store) {
    let tenant = tenant(&store).await;
    let owner = tenant.clone();
    let (started, has_started) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let (calling, caller) = (store.clone(), tenant.clone());
    let task = tokio::spawn(async move {
        let changed: Result<(), StoreError> = calling
            .with_tenant(&caller, move |tx| {
                Box::pin(async move {
                    tx.execute(ADD, params![&owner, "a"]).await?;
                    started.send(()).unwrap();
                    held_up(&may_go_on);
                    Ok(())
                })
            })
            .await;
        changed
    });
    tokio::task::spawn_blocking(move || has_started.recv())
        .await
        .unwrap()
        .unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    go_on.send(()).unwrap();

    // The writer is free again, and nothing of the change is there.
    add(&store, &tenant, "b").await.unwrap();
    assert_eq!(tools(&store, &tenant).await, ["b"]);
}

pub(crate) async fn a_caller_waits_no_longer_than_the_deadline(store: Store) {
    let tenant = tenant(&store).await;
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let asked = std::time::Instant::now();
    let late: Result<(), StoreError> = store
        .with_tenant(&tenant, move |_| {
            Box::pin(async move {
                held_up(&may_go_on);
                Ok(())
            })
        })
        .await;
    assert_eq!(late, Err(StoreError::Timeout));
    assert!(asked.elapsed() < Duration::from_secs(4));
    go_on.send(()).unwrap();
    add(&store, &tenant, "a").await.unwrap();
}

pub(crate) async fn placeholders_are_bound_by_number(store: Store) {
    const SWAPPED: &str = "select $3, $2 from policy where tenant_id = $1 and tool <> $2";
    let tenant = tenant(&store).await;
    add(&store, &tenant, "a").await.unwrap();
    let owner = tenant.clone();
    let row: Result<_, StoreError> = store
        .with_tenant_read(&tenant, move |tx| {
            Box::pin(async move { tx.query_opt(SWAPPED, params![&owner, "two", "three"]).await })
        })
        .await;
    let row = row.unwrap().unwrap();
    assert_eq!((row.text(0), row.text(1)), (Ok("three"), Ok("two")));
}

pub(crate) async fn values_come_back_as_they_went_in(store: Store) {
    const PUT: &str = "insert into token (tenant_id, id, kind, name, role, profile, hash, created_us, expires_us) \
        values ($1, $2, 'api', $3, '', $4, $5, $6, $7)";
    const GET: &str = "select name, profile, hash, created_us, expires_us from token where tenant_id = $1";
    let tenant = tenant(&store).await;
    let owner = tenant.clone();
    let name = "naïve \u{1F980} '; drop table token; --";
    let row: Result<_, StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                let bytes = [0_u8, 255, 1].as_slice();
                tx.execute(
                    PUT,
                    params![&owner, "t", name, None::<&str>, bytes, i64::MIN, i64::MAX],
                )
                .await?;
                tx.query_opt(GET, params![&owner]).await
            })
        })
        .await;
    let row = row.unwrap().unwrap();
    assert_eq!(row.text(0), Ok(name));
    assert_eq!(row.opt_text(1), Ok(None));
    assert_eq!(row.blob(2), Ok([0_u8, 255, 1].as_slice()));
    assert_eq!((row.int(3), row.opt_int(4)), (Ok(i64::MIN), Ok(Some(i64::MAX))));
    assert_eq!(row.int(0), Err(StoreError::Column(0)));
    assert_eq!(row.text(9), Err(StoreError::Column(9)));
}

pub(crate) async fn a_door_for_reading_does_not_write(store: Store) {
    let tenant = tenant(&store).await;
    let owner = tenant.clone();
    let written: Result<u64, StoreError> = store
        .with_tenant_read(&tenant, move |tx| {
            Box::pin(async move { tx.execute(ADD, params![&owner, "a"]).await })
        })
        .await;
    assert_eq!(written, Err(StoreError::ReadOnly));
    assert!(tools(&store, &tenant).await.is_empty());
}

pub(crate) async fn a_read_sees_one_snapshot(store: Store) {
    let tenant = tenant(&store).await;
    let (looked, has_looked) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let (reading, reader) = (store.clone(), tenant.clone());
    let read = tokio::spawn(async move {
        let owner = reader.clone();
        let seen: Result<_, StoreError> = reading
            .with_tenant_read(&reader, move |tx| {
                Box::pin(async move {
                    let before = tx.query(TOOLS, params![&owner]).await?.len();
                    looked.send(()).unwrap();
                    held_up(&may_go_on);
                    Ok((before, tx.query(TOOLS, params![&owner]).await?.len()))
                })
            })
            .await;
        seen
    });
    tokio::task::spawn_blocking(move || has_looked.recv())
        .await
        .unwrap()
        .unwrap();
    add(&store, &tenant, "a").await.unwrap();
    go_on.send(()).unwrap();
    assert_eq!(read.await.unwrap(), Ok((0, 0)));
    assert_eq!(tools(&store, &tenant).await, ["a"]);
}

pub(crate) async fn keys_and_references_are_told_apart(store: Store) {
    const ENROL: &str =
        "insert into enrolment (tenant_id, target_id, hash, expires_us) values ($1, 'none', $2, 0)";
    let tenant = tenant(&store).await;
    add(&store, &tenant, "a").await.unwrap();
    assert_eq!(add(&store, &tenant, "a").await, Err(StoreError::Duplicate));
    let owner = tenant.clone();
    let dangling: Result<u64, StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move { tx.execute(ENROL, params![&owner, &[1; 32]]).await })
        })
        .await;
    assert_eq!(dangling, Err(StoreError::Reference));
}

pub(crate) async fn the_record_is_append_only(store: Store) {
    let tenant = tenant_with_a_row(&store).await;
    for statement in [
        "update audit_event set kind = 'other' where tenant_id = $1",
        "delete from audit_event where tenant_id = $1",
    ] {
        let owner = tenant.clone();
        let touched: Result<u64, StoreError> = store
            .with_tenant(&tenant, move |tx| {
                Box::pin(async move { tx.execute(statement, params![&owner]).await })
            })
            .await;
        assert!(
            matches!(touched, Err(StoreError::Guard(_))),
            "{statement}: {touched:?}"
        );
    }
}

pub(crate) async fn writers_take_turns(store: Store) {
    const COUNT: &str = "select count(*) from policy where tenant_id = $1";
    let tenant = tenant(&store).await;
    let store = Arc::new(store);
    let writers = (0..8).map(|writer| {
        let (store, tenant) = (Arc::clone(&store), tenant.clone());
        tokio::spawn(async move {
            for round in 0..20 {
                let owner = tenant.clone();
                let counted: Result<i64, StoreError> = store
                    .with_tenant(&tenant, move |tx| {
                        Box::pin(async move {
                            let before = tx.query(COUNT, params![&owner]).await?[0].int(0)?;
                            tx.execute(ADD, params![&owner, format!("{writer}.{round}")])
                                .await?;
                            let after = tx.query(COUNT, params![&owner]).await?[0].int(0)?;
                            Ok(after - before)
                        })
                    })
                    .await;
                assert_eq!(counted, Ok(1));
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(tools(&store, &tenant).await.len(), 160);
}

pub(crate) async fn tenants_are_made_once_and_count_their_changes(store: Store) {
    let one = tenant(&store).await;
    let again: Result<(), StoreError> = store
        .with_tenant(&one, |tx| {
            Box::pin(async move { tx.create_tenant("again", 2).await })
        })
        .await;
    assert_eq!(again, Err(StoreError::Duplicate));
    let bumped: Result<(), StoreError> = store
        .with_tenant(&one, |tx| Box::pin(async move { tx.bump_version().await }))
        .await;
    bumped.unwrap();
    let found = store.tenant(&one).await.unwrap().unwrap();
    assert_eq!(
        (found.name.as_str(), found.created_us, found.version),
        ("acme", 1, 1)
    );
    let ids: Vec<_> = store
        .tenants()
        .await
        .unwrap()
        .into_iter()
        .map(|tenant| tenant.id)
        .collect();
    assert!(ids.contains(&TenantId::system()) && ids.contains(&one));
    assert_eq!(store.tenant(&TenantId::mint()).await, Ok(None));
}

pub(crate) async fn a_check_passes_on_a_sound_store(store: Store) {
    assert_eq!(store.check().await, Ok(()));
}
