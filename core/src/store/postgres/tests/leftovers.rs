//! What a piece of work may leave on its connection, and that nobody finds it there.

use std::collections::HashSet;

use toolgate_contract::ids::TenantId;

use super::ground::Ground;
use crate::store::{Store, StoreConfig, StoreError, Tx, params, suite};

const WHO: &str = "select pg_backend_pid(), coalesce(current_setting('app.tenant', true), '')";

async fn only_one(test: &str) -> Option<(Ground, Store, TenantId)> {
    let ground = Ground::shared(test).await?;
    let config = StoreConfig {
        connections: 1,
        ..ground.config()
    };
    let store = Store::open(config).await.unwrap();
    let tenant = suite::tenant(&store).await;
    Some((ground, store, tenant))
}

/// Runs a statement past the rule of tenants, as a mistake in this crate would.
async fn run(store: &Store, tenant: &TenantId, sql: &'static str) -> Result<u64, StoreError> {
    store
        .with_tenant(tenant, move |tx| {
            Box::pin(async move { tx.execute_unscoped(sql, &[]).await })
        })
        .await
}

async fn who(store: &Store) -> (i64, String) {
    let row: Result<_, StoreError> = store
        .with_tenant_read(&TenantId::system(), |tx| {
            Box::pin(async move {
                let Tx::Postgres(tx) = tx else { unreachable!() };
                tx.query_unscoped(WHO, &[]).await
            })
        })
        .await;
    let row = row.unwrap().remove(0);
    (row.int(0).unwrap(), row.text(1).unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_serves_one_tenant_after_another_and_names_each_only_within_its_transaction() {
    const TEST: &str =
        "a_connection_serves_one_tenant_after_another_and_names_each_only_within_its_transaction";
    let Some((_ground, store, tenant)) = only_one(TEST).await else {
        return;
    };
    let (pid, named) = who(&store).await;
    assert_eq!(named, "system");
    run(&store, &tenant, "select 1").await.unwrap();
    assert_eq!(who(&store).await, (pid, "system".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_somebody_left_in_a_state_of_its_own_is_closed() {
    const TEST: &str = "a_connection_that_somebody_left_in_a_state_of_its_own_is_closed";
    let Some((_ground, store, tenant)) = only_one(TEST).await else {
        return;
    };
    let mut seen = HashSet::new();
    for (mistake, fails) in [
        // The tenant of a session outlives its transaction.
        ("select set_config('app.tenant', 'somebody', false)", false),
        // The transaction ends before its time: its COMMIT is one too many.
        ("commit", true),
        ("rollback", true),
        // One begins within another.
        ("begin", true),
        // Nothing comes after the end of a session.
        ("select pg_terminate_backend(pg_backend_pid())", true),
    ] {
        let (pid, _) = who(&store).await;
        assert!(
            seen.insert(pid),
            "{mistake}: the connection before was used again"
        );
        assert_eq!(run(&store, &tenant, mistake).await.is_err(), fails, "{mistake}");
        let (next, named) = who(&store).await;
        assert_ne!(next, pid, "{mistake}");
        assert_eq!(named, "system", "{mistake}");
        seen.insert(next);
        // The next mistake is made on a connection that nobody has seen.
        run(&store, &tenant, "select set_config('app.tenant', 'x', false)")
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_swallows_a_failed_statement_commits_nothing() {
    const TEST: &str = "work_that_swallows_a_failed_statement_commits_nothing";
    const ADD: &str = "insert into policy (tenant_id, tool) values ($1, $2)";
    const COUNT: &str = "select count(*) from policy where tenant_id = $1";
    let Some((_ground, store, tenant)) = only_one(TEST).await else {
        return;
    };
    let owner = tenant.clone();
    let swallowed: Result<(), StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.execute(ADD, params![&owner, "a"]).await?;
                let again = tx.execute(ADD, params![&owner, "a"]).await;
                assert_eq!(again, Err(StoreError::Duplicate));
                assert!(!tx.is_open());
                let after = tx.execute(ADD, params![&owner, "b"]).await;
                assert_eq!(after, Err(StoreError::Duplicate));
                Ok(())
            })
        })
        .await;
    assert_eq!(swallowed, Err(StoreError::Duplicate));
    let owner = tenant.clone();
    let count: Result<i64, StoreError> = store
        .with_tenant_read(&tenant, move |tx| {
            Box::pin(async move { tx.query(COUNT, params![&owner]).await?[0].int(0) })
        })
        .await;
    assert_eq!(count, Ok(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_another_type_fails_its_statement_and_nothing_else() {
    const TEST: &str = "a_value_of_another_type_fails_its_statement_and_nothing_else";
    const ADD: &str = "insert into policy (tenant_id, tool) values ($1, $2)";
    let Some((_ground, store, tenant)) = only_one(TEST).await else {
        return;
    };
    let owner = tenant.clone();
    let done: Result<(), StoreError> = store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                let wrong = tx.execute(ADD, params![&owner, 7]).await;
                assert!(matches!(wrong, Err(StoreError::Constraint(_))), "{wrong:?}");
                let few = tx.execute(ADD, params![&owner]).await;
                assert!(matches!(few, Err(StoreError::Statement(_))), "{few:?}");
                tx.execute(ADD, params![&owner, "a"]).await.map(drop)
            })
        })
        .await;
    assert_eq!(done, Ok(()));
}
