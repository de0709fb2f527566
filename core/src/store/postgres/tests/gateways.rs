//! One gateway for one database.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use toolgate_contract::ids::TenantId;

use super::{
    super::{connect::Connector, journal_line::JournalLine},
    ground::Ground,
};
use crate::store::{Store, StoreConfig, StoreError, suite};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_gateway_is_refused_and_takes_over_when_the_first_has_ended() {
    const TEST: &str = "a_second_gateway_is_refused_and_takes_over_when_the_first_has_ended";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let first = ground.store().await;
    let impatient = StoreConfig {
        take_over_within: Duration::from_millis(300),
        ..ground.config()
    };
    let refused = Store::open(impatient).await.unwrap_err();
    assert!(matches!(refused, StoreError::Served { .. }), "{refused:?}");
    assert!(refused.to_string().contains("stop it first"), "{refused}");

    // A reader beside it is no gateway.
    let reader = Store::open(StoreConfig::postgres_read_only(ground.url("toolgate_auditor")))
        .await
        .unwrap();
    assert_eq!(reader.tenants().await.unwrap().len(), 1);
    let written: Result<(), StoreError> = reader
        .with_tenant(&TenantId::mint(), |tx| {
            Box::pin(async move { tx.create_tenant("acme", 0).await })
        })
        .await;
    assert_eq!(written, Err(StoreError::Closed));

    let second = tokio::spawn(Store::open(ground.config()));
    drop(first);
    let second = second.await.unwrap().unwrap();
    suite::tenant(&second).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_sign_in_and_a_database_that_is_not_there_are_told_apart() {
    const TEST: &str = "a_role_that_may_not_sign_in_and_a_database_that_is_not_there_are_told_apart";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    for (url, told) in [
        (
            ground.database.url_as("toolgate_owner"),
            "is not permitted to log in",
        ),
        (ground.database.url_as("nobody_known"), "nobody_known"),
        (
            ground
                .database
                .url_as("toolgate_app")
                .replace(ground.database.name(), "no_such_database"),
            "no_such_database",
        ),
        (
            "postgres://toolgate_app@127.0.0.1:1/gate".to_owned(),
            "127.0.0.1:1",
        ),
    ] {
        let refused = Store::open(StoreConfig::postgres(url.parse().unwrap()))
            .await
            .unwrap_err();
        assert!(matches!(refused, StoreError::Connect { .. }), "{refused:?}");
        assert!(refused.to_string().contains(told), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_guards_what_this_side_cannot_any_more() {
    const ASK: &str = "select setting from pg_settings where name in ('client_connection_check_interval', \
        'idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout') order by name";
    let Some(ground) = Ground::shared("the_server_guards_what_this_side_cannot_any_more").await else {
        return;
    };
    for (config, expected) in [
        (ground.config(), ["500", "3500", "1000", "2000"]),
        (
            StoreConfig {
                insist_on_durability: false,
                ..StoreConfig::postgres_read_only(ground.url("toolgate_app"))
            },
            ["500", "60500", "1000", "30500"],
        ),
    ] {
        let store = Store::open(config).await.unwrap();
        let rows: Result<_, StoreError> = store
            .with_tenant_read(&TenantId::system(), |tx| {
                Box::pin(async move {
                    let crate::store::Tx::Postgres(tx) = tx else {
                        unreachable!()
                    };
                    tx.query_unscoped(ASK, &[]).await
                })
            })
            .await;
        let rows = rows.unwrap();
        let found: Vec<&str> = rows.iter().map(|row| row.text(0).unwrap()).collect();
        assert_eq!(found, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_its_own_that_the_server_did_not_see_go_is_ended() {
    const TEST: &str = "a_session_of_its_own_that_the_server_did_not_see_go_is_ended";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let tasks = TaskTracker::new();
    let connector = Connector::new(ground.url("toolgate_app"), tasks, Duration::from_secs(1)).unwrap();
    let gateway = JournalLine::new(connector.clone());
    let within = || Instant::now() + Duration::from_secs(2);
    let lost = gateway.open(within()).await.unwrap();

    // Its end never reached the server: the session is there and has the place.
    let again = gateway.open(within()).await.unwrap();

    assert!(lost.query_one("select 1", &[]).await.is_err());
    again.query_one("select 1", &[]).await.unwrap();
    let other = JournalLine::new(connector);
    let refused = other.open(Instant::now() + Duration::from_millis(300)).await;
    assert!(matches!(refused, Err(StoreError::Served { .. })), "{refused:?}");
}
