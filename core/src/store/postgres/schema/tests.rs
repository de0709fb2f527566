//! Databases are set up, brought up to date, and refused when they do not fit.

use futures::future::join_all;
use toolgate_test_postgres::{Cluster, Setup, available};

use super::*;
use crate::store::{
    DatabaseUrl, Store, StoreConfig, StoreError, migrations::POSTGRES, postgres::tests::ground::Ground,
};

fn versions() -> Vec<(i64, String)> {
    POSTGRES
        .iter()
        .map(|step| (step.version, step.name.to_owned()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_database_is_set_up_once_and_found_in_order_from_then_on() {
    const TEST: &str = "an_empty_database_is_set_up_once_and_found_in_order_from_then_on";
    if !available(TEST) {
        return;
    }
    // Of its own, since roles are made here for the first time.
    let cluster = Setup::default().setting("fsync=off").start().await.unwrap();
    let database = cluster.database().await;
    let url = |role: &str| -> DatabaseUrl { database.url_as(role).parse().unwrap() };

    let checks = check(&url("postgres")).await.unwrap();
    let failed: Vec<&str> = checks
        .iter()
        .filter(|c| !c.faults.is_empty())
        .map(|c| c.name)
        .collect();
    assert_eq!(failed, ["durability", "migrations", "rights"]);

    let first = migrate(&url("postgres"), Some("s3cret")).await.unwrap();
    assert_eq!(first.roles.len(), 5);
    assert_eq!((first.applied, first.password_set), (versions(), true));
    let second = migrate(&url("postgres"), None).await.unwrap();
    assert_eq!(
        (second.roles.len(), second.applied.len(), second.version),
        (0, 0, first.version)
    );
    migrate(&url("toolgate_migrator"), None).await.unwrap();

    let verifier = "select rolpassword from pg_authid where rolname = 'toolgate_app'";
    let verifier = database.column(verifier).await.unwrap().remove(0);
    assert!(
        verifier.starts_with("SCRAM-SHA-256$") && !verifier.contains("s3cret"),
        "{verifier}"
    );
    for role in ["postgres", "toolgate_app", "toolgate_auditor"] {
        let checks = check(&url(role)).await.unwrap();
        assert!(
            checks
                .iter()
                .all(|c| c.faults.is_empty() || c.name == "durability"),
            "{checks:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_admins_at_once_set_a_database_up_together() {
    const TEST: &str = "several_admins_at_once_set_a_database_up_together";
    if !available(TEST) {
        return;
    }
    let cluster = Setup::default().setting("fsync=off").start().await.unwrap();
    let databases = [cluster.database().await, cluster.database().await];
    let admins = (0..6).map(|number| {
        let url: DatabaseUrl = databases[number % 2].admin_url().parse().unwrap();
        async move { migrate(&url, None).await }
    });
    let mut applied = 0;
    for done in join_all(admins).await {
        applied += done.unwrap().applied.len();
    }
    assert_eq!(applied, 2 * POSTGRES.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_who_may_not_make_roles_is_told_so() {
    let Some(ground) = Ground::shared("somebody_who_may_not_make_roles_is_told_so").await else {
        return;
    };
    // Another database, of which this role knows nothing.
    let other = Cluster::shared().await.database().await;
    let refused = migrate(&other.url_as("toolgate_app").parse().unwrap(), None)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("as a superuser once"), "{refused}");
    drop(ground);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_version_is_refused_with_what_to_run() {
    const TEST: &str = "a_database_of_another_version_is_refused_with_what_to_run";
    let newest = POSTGRES.last().unwrap().version;
    for (changed, expected) in [
        (
            format!("delete from toolgate.schema_migration where version = {newest}"),
            "db migrate --database-url postgres://ADMIN@127.0.0.1",
        ),
        (
            "insert into toolgate.schema_migration values (99, 'future', '', 0)".to_owned(),
            "schema version 99",
        ),
        (
            "update toolgate.schema_migration set checksum = 'other' where version = 1".to_owned(),
            "migration 1 differs",
        ),
        (
            "drop table toolgate.schema_migration".to_owned(),
            "has schema version 0",
        ),
        (
            "revoke all on schema toolgate from toolgate_app".to_owned(),
            "connect as toolgate_app",
        ),
    ] {
        let Some(ground) = Ground::shared(TEST).await else {
            return;
        };
        ground.database.execute(&changed).await.unwrap();
        let refused = Store::open(ground.config()).await.unwrap_err();
        assert!(refused.to_string().contains(expected), "{changed}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_lose_commits_is_refused() {
    let Some(ground) = Ground::shared("a_server_that_may_lose_commits_is_refused").await else {
        return;
    };
    let refused = Store::open(StoreConfig::postgres(ground.url("toolgate_app")))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("set fsync = on"), "{refused}");
    let role = format!(
        "alter role toolgate_app in database {} set synchronous_commit = off",
        ground.database.name()
    );
    ground.database.execute(&role).await.unwrap();
    let refused = Store::open(StoreConfig::postgres(ground.url("toolgate_app")))
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, StoreError::Unfit(fault) if fault.contains("synchronous_commit is off")),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_before_projects_is_brought_up_to_date_with_what_it_holds() {
    const TEST: &str = "a_database_of_before_projects_is_brought_up_to_date_with_what_it_holds";
    let Some(ground) = Ground::shared(TEST).await else {
        return;
    };
    let store = ground.store().await;
    let tenant = crate::store::suite::tenant(&store).await;
    drop(store);
    let back = "drop table toolgate.project_tools, toolgate.project_default; \
        alter table toolgate.token drop column method, drop column last_used_us; \
        delete from toolgate.schema_migration where version >= 4";
    ground.database.execute(back).await.unwrap();
    let admin: DatabaseUrl = ground.database.url_as("postgres").parse().unwrap();
    let migrated = migrate(&admin, None).await.unwrap();
    assert_eq!(migrated.applied, versions()[3..]);
    // The lint of the start holds the schema against a new one.
    let store = ground.store().await;
    assert!(store.tenant(&tenant).await.unwrap().is_some());
}
