//! The rows on both back ends.

use toolgate_contract::ids::{TargetId, TenantId};

use super::{super::rows, Owner};
use crate::store::{Store, StoreConfig, StoreError, params, postgres::tests::ground::Ground, suite::tenant};

macro_rules! on_both {
    ($($behaviour:ident)+) => {
        mod embedded {
            use super::*;

            $(#[tokio::test]
            async fn $behaviour() {
                let dir = tempfile::tempdir().unwrap();
                let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")));
                super::$behaviour(store.await.unwrap()).await;
            })+
        }

        mod on_postgres {
            use super::*;

            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $behaviour() {
                let Some(ground) = Ground::shared(stringify!($behaviour)).await else { return };
                super::$behaviour(ground.store().await).await;
            })+
        }
    };
}

on_both!(
    a_changed_list_of_tools_is_in_force_only_once_it_is_accepted
    defaults_of_projects_are_each_their_owners_and_go_with_their_project
);

const PROJECT: &str = "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us) \
    values ($1, $2, 'project', $2, '{}', '{}', 0, 0)";

/// Runs work in a tenant's door.
macro_rules! within {
    ($store:expr, $tenant:expr, |$tx:ident, $owner:ident| $work:expr) => {{
        let $owner = $tenant.clone();
        let done: Result<_, StoreError> = $store
            .with_tenant(&$tenant, move |$tx| Box::pin(async move { $work }))
            .await;
        done.unwrap()
    }};
}

async fn project(store: &Store, tenant: &TenantId) -> TargetId {
    let id = TargetId::mint();
    within!(store, tenant, |tx, owner| {
        tx.execute(PROJECT, params![&owner, id]).await
    });
    id
}

async fn a_changed_list_of_tools_is_in_force_only_once_it_is_accepted(store: Store) {
    let (one, other) = (tenant(&store).await, tenant(&store).await);
    let id = project(&store, &one).await;
    let in_force = async || within!(store, one, |tx, owner| rows::find_list(tx, &owner, id).await);
    let list = |hash: &str, withheld: Option<&str>| {
        Some(rows::InForce {
            hash: hash.to_owned(),
            withheld: withheld.map(str::to_owned),
        })
    };
    assert_eq!(in_force().await, None);
    // What is kept back stands beside what is in force, so the first list is never kept back.
    assert!(!within!(store, one, |tx, owner| rows::withhold_list(
        tx,
        &owner,
        id,
        Some("b"),
        1
    )
    .await));
    within!(store, one, |tx, owner| rows::set_list(tx, &owner, id, "a", 1)
        .await);
    assert_eq!(in_force().await, list("a", None));
    assert!(within!(store, one, |tx, owner| rows::withhold_list(
        tx,
        &owner,
        id,
        Some("b"),
        2
    )
    .await));
    assert_eq!(in_force().await, list("a", Some("b")));
    assert!(!within!(store, one, |tx, owner| rows::accept_list(
        tx, &owner, id, "c", 3
    )
    .await));
    assert!(!within!(store, other, |tx, owner| rows::accept_list(
        tx, &owner, id, "b", 3
    )
    .await));
    assert_eq!(in_force().await, list("a", Some("b")));
    assert!(within!(store, one, |tx, owner| rows::accept_list(
        tx, &owner, id, "b", 3
    )
    .await));
    assert_eq!(in_force().await, list("b", None));
    // Back to what was in force: nothing is kept back any more.
    within!(store, one, |tx, owner| rows::withhold_list(
        tx,
        &owner,
        id,
        Some("c"),
        4
    )
    .await);
    within!(store, one, |tx, owner| rows::withhold_list(
        tx, &owner, id, None, 5
    )
    .await);
    assert_eq!(in_force().await, list("b", None));
    assert_eq!(
        within!(store, other, |tx, owner| rows::find_list(tx, &owner, id).await),
        None
    );
    within!(store, one, |tx, owner| tx
        .execute(REMOVE, params![&owner, id])
        .await);
    assert_eq!(in_force().await, None);
}

const REMOVE: &str = "delete from target where tenant_id = $1 and id = $2";

async fn defaults_of_projects_are_each_their_owners_and_go_with_their_project(store: Store) {
    let (one, other) = (tenant(&store).await, tenant(&store).await);
    let (alpha, beta) = (project(&store, &one).await, project(&store, &one).await);
    let foreign = project(&store, &other).await;
    let find = async |tenant: &TenantId, whose| {
        within!(store, tenant, |tx, owner| rows::find_default(tx, &owner, &whose)
            .await)
    };
    let set = async |tenant: &TenantId, whose, target, at| {
        let owner = tenant.clone();
        let done: Result<(), StoreError> = store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move { rows::set_default(tx, &owner, &whose, target, at).await })
            })
            .await;
        done
    };
    let (session, young) = (Owner::Session("0a".into()), Owner::Session("0b".into()));
    set(&one, Owner::Tenant, alpha, 1).await.unwrap();
    set(&one, Owner::Principal("ada".into()), beta, 1).await.unwrap();
    set(&one, session.clone(), alpha, 1).await.unwrap();
    set(&one, session.clone(), beta, 2).await.unwrap();
    set(&one, young.clone(), beta, 9).await.unwrap();
    set(&other, Owner::Tenant, foreign, 1).await.unwrap();
    // Nobody's calls go to another tenant's project.
    assert!(set(&one, Owner::Tenant, foreign, 2).await.is_err());

    assert_eq!(find(&one, Owner::Tenant).await, Some(alpha));
    assert_eq!(find(&one, Owner::Principal("ada".into())).await, Some(beta));
    assert_eq!(find(&one, session.clone()).await, Some(beta));
    assert_eq!(find(&other, Owner::Principal("ada".into())).await, None);
    assert_eq!(find(&other, Owner::Tenant).await, Some(foreign));
    let sessions = within!(store, one, |tx, owner| rows::other_sessions(
        tx,
        &owner,
        &Owner::Session("0b".into())
    )
    .await);
    assert_eq!(sessions, 1);

    let swept = within!(store, one, |tx, owner| rows::sweep_sessions(tx, &owner, 5).await);
    assert_eq!(swept, 1);
    assert_eq!(find(&one, session).await, None);
    assert_eq!(find(&one, young.clone()).await, Some(beta));
    assert_eq!(find(&one, Owner::Tenant).await, Some(alpha));

    let cleared = async || {
        within!(store, one, |tx, owner| rows::clear_default(
            tx,
            &owner,
            &Owner::Tenant
        )
        .await)
    };
    assert!(cleared().await);
    assert!(!cleared().await);
    assert_eq!(find(&other, Owner::Tenant).await, Some(foreign));

    within!(store, one, |tx, owner| tx
        .execute(REMOVE, params![&owner, beta])
        .await);
    assert_eq!(find(&one, Owner::Principal("ada".into())).await, None);
    assert_eq!(find(&one, young).await, None);
}
