//! Changes by themselves; `ground` is what the tests of other rooms stand on.

pub(crate) mod ground;

use serde_json::json;
use toolgate_contract::v1::ErrorReason;

use self::ground::Ground;
use super::*;
use crate::{error::Missing, store::params};

const SWITCH_OFF: &str = "insert into policy (tenant_id, tool) values ($1, $2)";

async fn switch_off(ground: &Ground, facts: usize, then: Result<(), Error>) -> Result<(), Error> {
    let tenant = ground.tenant().clone();
    let work = ground.changes.make(ground.admin(), move |tx| {
        Box::pin(async move {
            tx.execute(SWITCH_OFF, params![&tenant, "github.list_repos"])
                .await?;
            then?;
            let fact = || Fact::new(EventKind::PolicyChanged, json!({"n": facts}));
            Ok(((), (0..facts).map(|_| fact()).collect()))
        })
    });
    work.await
}

async fn version(ground: &Ground) -> i64 {
    ground
        .store
        .tenant(ground.tenant())
        .await
        .unwrap()
        .unwrap()
        .version
}

#[tokio::test]
async fn a_change_and_its_rows_stand_or_fall_together() {
    let ground = Ground::new().await;
    let before = version(&ground).await;
    let failed = switch_off(&ground, 1, Err(Error::NotFound(Missing::Target)))
        .await
        .unwrap_err();
    assert_eq!(failed.reason(), ErrorReason::TargetNotFound);
    assert_eq!(
        (version(&ground).await, ground.since_start().await.len()),
        (before, 0)
    );

    // The former one left nothing behind, or this would be a duplicate.
    switch_off(&ground, 2, Ok(())).await.unwrap();
    assert_eq!(
        (version(&ground).await, ground.since_start().await.len()),
        (before + 1, 2)
    );
}

#[tokio::test]
async fn a_change_without_facts_is_none_to_other_instances() {
    let ground = Ground::new().await;
    let before = version(&ground).await;
    switch_off(&ground, 0, Ok(())).await.unwrap();
    assert_eq!(
        (version(&ground).await, ground.since_start().await.len()),
        (before, 0)
    );
}

#[tokio::test]
async fn the_home_tenant_is_the_oldest_that_is_not_reserved() {
    let ground = Ground::new().await;
    ground.stranger().await;
    assert_eq!(
        ground.changes.home_tenant().await.unwrap().as_ref(),
        Some(ground.tenant())
    );
}
