use std::time::Duration;

use tokio_postgres::{Client, NoTls};
use toolgate_test_postgres::{Cluster, Database, available};

use super::{Catch, Proxy};

const SOON: Duration = Duration::from_secs(10);

async fn connect(database: &Database, proxy: &Proxy) -> Client {
    let url = format!(
        "postgres://postgres@127.0.0.1:{}/{}",
        proxy.port(),
        database.name()
    );
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn ground(test: &str) -> Option<(Database, Proxy)> {
    if !available(test) {
        return None;
    }
    let cluster = Cluster::shared().await;
    let database = cluster.database().await;
    database.execute("create table t (a bigint)").await.unwrap();
    Some((database, Proxy::before(cluster.port()).await.unwrap()))
}

async fn rows(database: &Database) -> String {
    database.column("select count(*) from t").await.unwrap().remove(0)
}

/// The ways a client commits: a begun transaction or not, prepared or simple.
async fn write(client: &Client, how: usize) -> Result<(), tokio_postgres::Error> {
    match how {
        0 => {
            client
                .batch_execute("begin; insert into t values (1); commit")
                .await
        }
        1 => client
            .execute("insert into t values ($1)", &[&1_i64])
            .await
            .map(drop),
        2 => {
            client.batch_execute("begin").await?;
            client.execute("insert into t values ($1)", &[&1_i64]).await?;
            client.batch_execute("COMMIT").await
        }
        _ => {
            client.batch_execute("begin").await?;
            client.execute("insert into t values ($1)", &[&1_i64]).await?;
            client.execute("commit", &[]).await.map(drop)
        }
    }
}

#[tokio::test]
async fn what_is_not_caught_passes() {
    let Some((database, proxy)) = ground("what_is_not_caught_passes").await else {
        return;
    };
    let client = connect(&database, &proxy).await;
    for how in 0..4 {
        write(&client, how).await.unwrap();
    }
    assert_eq!(rows(&database).await, "4");
}

#[tokio::test]
async fn a_commit_is_caught_before_or_after_it_happened() {
    let Some((database, proxy)) = ground("a_commit_is_caught_before_or_after_it_happened").await else {
        return;
    };
    let mut stand = 0;
    for how in 1..4 {
        for catch in [Catch::Before, Catch::After] {
            let client = connect(&database, &proxy).await;
            // What is not a commit passes all the same.
            proxy.catch(catch);
            client.query("select a from t", &[]).await.unwrap();
            let writing = tokio::spawn(async move { write(&client, how).await });
            assert!(proxy.caught(SOON).await, "{how} {catch:?}");
            let there = if catch == Catch::After { stand + 1 } else { stand };
            assert_eq!(rows(&database).await, there.to_string(), "{how} {catch:?}");

            proxy.let_go();

            writing.await.unwrap().unwrap();
            stand += 1;
            assert_eq!(rows(&database).await, stand.to_string(), "{how} {catch:?}");
        }
    }
}

#[tokio::test]
async fn a_commit_that_is_cut_is_an_error_whether_it_happened_or_not() {
    let Some((database, proxy)) = ground("a_commit_that_is_cut_is_an_error_whether_it_happened_or_not").await
    else {
        return;
    };
    for (catch, there) in [(Catch::Before, "0"), (Catch::After, "1")] {
        let client = connect(&database, &proxy).await;
        proxy.catch(catch);
        let writing = tokio::spawn(async move { write(&client, 2).await });
        assert!(proxy.caught(SOON).await);

        proxy.cut();

        writing.await.unwrap().expect_err("nobody knows");
        assert_eq!(rows(&database).await, there, "{catch:?}");
        write(&connect(&database, &proxy).await, 0).await.unwrap();
        database.execute("delete from t").await.unwrap();
    }
}

#[tokio::test]
async fn every_connection_can_be_cut() {
    let Some((database, proxy)) = ground("every_connection_can_be_cut").await else {
        return;
    };
    let client = connect(&database, &proxy).await;
    proxy.cut_all();
    client.query("select 1", &[]).await.expect_err("cut");
    connect(&database, &proxy)
        .await
        .query("select 1", &[])
        .await
        .unwrap();
}
