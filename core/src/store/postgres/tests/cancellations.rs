//! Callers that leave at any moment, and what must be left then: no open transaction, a whole pool.

use std::time::Duration;

use futures::{FutureExt, future::join_all};
use toolgate_contract::ids::TenantId;

use super::ground::{Ground, is_full};
use crate::store::{Store, StoreConfig, StoreError, params, suite};

const ADD: &str =
    "insert into policy (tenant_id, tool) values ($1, $2) on conflict (tenant_id, tool) do nothing";
const COUNT: &str = "select count(*) from policy where tenant_id = $1";

async fn add_and_count(store: Store, tenant: TenantId, tool: String) -> Result<i64, StoreError> {
    let owner = tenant.clone();
    store
        .with_tenant(&tenant, move |tx| {
            Box::pin(async move {
                tx.execute(ADD, params![&owner, &tool]).await?;
                tx.query(COUNT, params![&owner]).await?[0].int(0)
            })
        })
        .await
}

async fn count(store: Store, tenant: TenantId) -> Result<i64, StoreError> {
    let owner = tenant.clone();
    store
        .with_tenant_read(&tenant, move |tx| {
            Box::pin(async move { tx.query(COUNT, params![&owner]).await?[0].int(0) })
        })
        .await
}

/// The moments differ from call to call and cover all of a call, on a quick machine and on a busy one, without a random
/// number. Some callers stay.
fn moment(number: u64) -> Duration {
    let within = [3_000, 30_000, 300_000, 10_000_000][(number % 4) as usize];
    let least = if within == 10_000_000 { within } else { 0 };
    Duration::from_micros(least + (number * 7_919) % within)
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_leave_at_any_moment_leave_no_transaction_open() {
    const TEST: &str = "callers_that_leave_at_any_moment_leave_no_transaction_open";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let store = ground.store().await;
    let tenants = [suite::tenant(&store).await, suite::tenant(&store).await];
    let calls: u64 = if is_full() { 10_000 } else { 1_000 };
    let (mut left, mut served) = (0, 0);
    for round in 0..calls / 20 {
        let batch = (0..20).map(|place| {
            let number = round * 20 + place;
            let (store, tenant) = (store.clone(), tenants[(number % 2) as usize].clone());
            async move {
                let limit = moment(number);
                match number % 3 {
                    0 => tokio::time::timeout(limit, count(store, tenant)).await,
                    _ => tokio::time::timeout(limit, add_and_count(store, tenant, number.to_string())).await,
                }
            }
        });
        for ended in join_all(batch).await {
            match ended {
                Ok(answer) => {
                    answer.unwrap();
                    served += 1;
                }
                Err(_) => left += 1,
            }
        }
    }
    assert!(left > 0 && served > 0, "{left} left, {served} were served");

    ground
        .until(
            "select count(*) from pg_stat_activity where datname = current_database() \
        and state like 'idle in transaction%'",
            "0",
        )
        .await;
    // Every place of the pool is there, and none of them is stuck.
    let reads = join_all((0..40).map(|_| count(store.clone(), tenants[0].clone()))).await;
    assert!(reads.iter().all(Result::is_ok), "{reads:?}");
    let open = "select count(*) from pg_stat_activity where datname = current_database() and usename = 'toolgate_app'";
    let open: usize = ground.database.column(open).await.unwrap()[0].parse().unwrap();
    assert!(open <= 11, "{open} connections of ten and the journal's");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn past_the_places_of_the_queue_work_is_refused_as_overload() {
    const TEST: &str = "past_the_places_of_the_queue_work_is_refused_as_overload";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let config = StoreConfig {
        connections: 1,
        queue: 1,
        ..ground.config()
    };
    let store = Store::open(config).await.unwrap();
    let tenant = suite::tenant(&store).await;
    let (started, has_started) = tokio::sync::oneshot::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (holding, holder) = (store.clone(), tenant.clone());
    let holding = tokio::spawn(async move {
        let held: Result<(), StoreError> = holding
            .with_tenant_read(&holder, move |_| {
                Box::pin(async move {
                    started.send(()).unwrap();
                    tokio::task::block_in_place(|| released.recv()).unwrap();
                    Ok(())
                })
            })
            .await;
        held
    });
    has_started.await.unwrap();
    // The place of what was done before is given back a moment after its answer.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let queued = loop {
        assert!(std::time::Instant::now() < until, "a place is free by now");
        let mut queued = Box::pin(count(store.clone(), tenant.clone()));
        match (&mut queued).now_or_never() {
            None => break queued,
            Some(told) => assert_eq!(told, Err(StoreError::Overloaded)),
        }
        tokio::task::yield_now().await;
    };
    let refused = count(store.clone(), tenant.clone()).await;
    assert_eq!(refused, Err(StoreError::Overloaded));
    release.send(()).unwrap();
    holding.await.unwrap().unwrap();
    queued.await.unwrap();
    assert_eq!(count(store, tenant).await, Ok(0));
}
