//! A server that answers nothing, dies, or comes back.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use toolgate_contract::ids::TenantId;
use toolgate_test_postgres::{Cluster, available};

use super::ground::Ground;
use crate::store::{Store, StoreError, params, suite};

const ADD: &str =
    "insert into policy (tenant_id, tool) values ($1, $2) on conflict (tenant_id, tool) do nothing";
const COUNT: &str = "select count(*) from policy where tenant_id = $1";
/// Callers of the gateway must have their 503 within 2 s.
const ANSWER: Duration = Duration::from_millis(1_900);
const RECOVERY: Duration = Duration::from_secs(5);

async fn write(store: &Store, tenant: &TenantId) -> Result<u64, StoreError> {
    let owner = tenant.clone();
    store
        .with_tenant(tenant, move |tx| {
            Box::pin(async move { tx.execute(ADD, params![&owner, "a"]).await })
        })
        .await
}

async fn read(store: &Store, tenant: &TenantId) -> Result<i64, StoreError> {
    let owner = tenant.clone();
    store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move { tx.query(COUNT, params![&owner]).await?[0].int(0) })
        })
        .await
}

/// One commit of the journal, which writes nothing.
async fn journal(store: &Store) -> Result<(), StoreError> {
    let (reply, answer) = oneshot::channel();
    store.lend_to_journal(move |tx| {
        Box::pin(async move {
            let begun = tx.begin().await;
            let ended = match begun {
                Ok(()) => tx.commit().await,
                Err(error) => Err(error),
            };
            let _ = reply.send(ended);
        })
    })?;
    answer.await.unwrap()
}

/// All doors fail in time, and say why.
async fn nothing_is_had(store: &Store, tenant: &TenantId) {
    let asked = Instant::now();
    let (written, seen, kept) = tokio::join!(write(store, tenant), read(store, tenant), journal(store));
    assert!(asked.elapsed() < ANSWER, "{:?}", asked.elapsed());
    for error in [written.unwrap_err(), seen.unwrap_err(), kept.unwrap_err()] {
        assert!(
            matches!(
                error,
                StoreError::Timeout | StoreError::Lost | StoreError::Connect { .. }
            ),
            "{error:?}"
        );
    }
}

async fn everything_is_had_again(store: &Store, tenant: &TenantId) {
    let asked = Instant::now();
    loop {
        let (written, seen, kept) = tokio::join!(write(store, tenant), read(store, tenant), journal(store));
        if written.is_ok() && seen.is_ok() && kept.is_ok() {
            return;
        }
        assert!(asked.elapsed() < RECOVERY, "{written:?} {seen:?} {kept:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_paused_killed_or_restarted_is_told_in_time_and_used_again() {
    const TEST: &str = "a_server_that_is_paused_killed_or_restarted_is_told_in_time_and_used_again";
    if !available(TEST) {
        return;
    }
    let cluster = Cluster::own().await;
    let ground = Ground::on(&cluster).await;
    let store = ground.store().await;
    let tenant = suite::tenant(&store).await;
    everything_is_had_again(&store, &tenant).await;

    cluster.stop();
    nothing_is_had(&store, &tenant).await;
    nothing_is_had(&store, &tenant).await;
    cluster.cont();
    everything_is_had_again(&store, &tenant).await;

    cluster.kill().await;
    nothing_is_had(&store, &tenant).await;
    cluster.start().await.unwrap();
    everything_is_had_again(&store, &tenant).await;
}
