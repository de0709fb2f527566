//! The disk of the tables, or of the write-ahead log, is full: calls are refused, the gateway lives and says why it is
//! not ready, and carries on by itself when there is room again.

use toolgate_test_postgres::{Cluster, Setup, SmallDisk, available, not_run};
use toolgate_test_support::Postgres;

use crate::drill::{Drill, SOON};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_data_disk_refuses_calls_until_it_is_freed() {
    let test = "a_full_data_disk_refuses_calls_until_it_is_freed";
    let Some(disk) = disk(test, 24) else { return };
    let cluster = Cluster::own().await;
    let database = cluster.database_on(&disk).await.unwrap();
    let drill = Drill::on(Postgres::on(cluster, database).await.unwrap()).await;

    disk.fill().unwrap();
    until_refused(&drill).await;
    // An intent may find a place where the row does not; then the host is asked and its answer withheld.
    drill.is_refused("data disk full").await;
    drill.is_unready("data disk full").await;
    assert!(drill.postgres.cluster().is_running(), "the server lives");
    let log = drill.postgres.cluster().log();
    assert!(log.contains("No space left on device"), "{log}");

    disk.free().unwrap();
    drill.is_back("data disk freed").await;
    drill.holds("data disk freed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_of_the_log_refuses_calls_until_it_is_freed() {
    let test = "a_full_disk_of_the_log_refuses_calls_until_it_is_freed";
    let Some(disk) = disk(test, 120) else { return };
    let cluster = Setup::default().wal_on(disk).start().await.unwrap();
    let database = cluster.database().await;
    let drill = Drill::on(Postgres::on(cluster, database).await.unwrap()).await;
    let cluster = drill.postgres.cluster();
    let disk = cluster.wal_disk().unwrap();

    disk.fill().unwrap();
    until_refused(&drill).await;
    drill.is_refused_before_contact("log disk full").await;
    drill.is_unready("log disk full").await;
    assert!(cluster.log().contains("PANIC"), "{}", cluster.log());

    disk.free().unwrap();
    // A server that found no room for its recovery either has ended; its keeper starts it again.
    if cluster.answers(SOON).await.is_err() {
        cluster.kill().await;
        cluster.start().await.unwrap();
    }
    drill.is_back("log disk freed").await;
    drill.holds("log disk freed").await;
}

/// Calls until the store takes no more: what room there was in pages and segments is used up.
async fn until_refused(drill: &Drill) {
    let switch = "select pg_switch_wal()";
    for _ in 0..5_000 {
        // A segment of the log that is begun has room for a long time; another one is wanted. May fail, that is the drill.
        let _ = drill.postgres.database().execute(switch).await;
        if drill.call().await.is_err() {
            return;
        }
    }
    panic!("calls are carried on a full disk");
}

fn disk(test: &str, mebibytes: u32) -> Option<SmallDisk> {
    if !available(test) {
        return None;
    }
    match SmallDisk::mount(mebibytes) {
        Ok(disk) => Some(disk),
        Err(why) => {
            not_run(test, &why);
            None
        }
    }
}
