use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{Cluster, Setup, SmallDisk, available, not_run};

#[tokio::test]
async fn the_shared_server_answers_and_each_database_is_empty() {
    if !available("the_shared_server_answers_and_each_database_is_empty") {
        return;
    }
    let cluster = Cluster::shared().await;
    let (one, other) = (cluster.database().await, cluster.database().await);

    one.execute("create table t (a int)").await.unwrap();

    let tables = "select count(*) from pg_tables where schemaname = 'public'";
    assert_eq!(one.column(tables).await.unwrap(), ["1"]);
    assert_eq!(other.column(tables).await.unwrap(), ["0"]);
    let version = one.column("show server_version").await.unwrap();
    assert!(version[0].starts_with("16."), "{version:?}");
    assert_eq!(Cluster::shared().await.port(), cluster.port());
}

#[tokio::test]
async fn a_dropped_database_of_the_shared_server_is_gone() {
    if !available("a_dropped_database_of_the_shared_server_is_gone") {
        return;
    }
    let cluster = Cluster::shared().await;
    let (kept, left) = (cluster.database().await, cluster.database().await);
    let there = format!("select 1 from pg_database where datname = '{}'", left.name());
    assert_eq!(kept.column(&there).await.unwrap(), ["1"]);

    drop(left);

    let end = Instant::now() + Duration::from_secs(10);
    while !kept.column(&there).await.unwrap().is_empty() {
        assert!(Instant::now() < end, "still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn an_own_server_is_up_in_two_seconds_durable_and_not_root() {
    if !available("an_own_server_is_up_in_two_seconds_durable_and_not_root") {
        return;
    }
    drop(Cluster::own().await); // The first one of a process pays for initdb.
    let began = Instant::now();
    let cluster = Cluster::own().await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");

    let database = cluster.database().await;
    for (setting, expected) in [
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("listen_addresses", "127.0.0.1"),
        ("unix_socket_directories", ""),
    ] {
        let told = database.column(&format!("show {setting}")).await.unwrap();
        assert_eq!(told, [expected], "{setting}");
    }
    let pid = std::fs::read_to_string(cluster.data_dir().join("postmaster.pid")).unwrap();
    let status = format!("/proc/{}/status", pid.lines().next().unwrap());
    let status = std::fs::read_to_string(status).unwrap();
    assert!(!status.contains("Uid:\t0"), "{status}");
}

#[tokio::test]
async fn a_killed_server_comes_back_with_what_was_committed() {
    if !available("a_killed_server_comes_back_with_what_was_committed") {
        return;
    }
    let cluster = Cluster::own().await;
    let database = cluster.database().await;
    database
        .execute("create table t (a int); insert into t values (1)")
        .await
        .unwrap();
    for round in 2..5 {
        cluster.kill().await;
        assert!(!cluster.is_running());
        database.column("select 1").await.expect_err("nobody listens");

        cluster.start().await.unwrap();

        database
            .execute(&format!("insert into t values ({round})"))
            .await
            .unwrap();
        let count = database.column("select count(*) from t").await.unwrap();
        assert_eq!(count, [round.to_string()]);
    }
    assert!(
        cluster.log().contains("not properly shut down"),
        "{}",
        cluster.log()
    );
}

#[tokio::test]
async fn a_server_that_is_shut_down_needs_no_recovery() {
    if !available("a_server_that_is_shut_down_needs_no_recovery") {
        return;
    }
    let cluster = Cluster::own().await;
    cluster.shut_down().await;
    cluster.start().await.unwrap();
    assert!(
        !cluster.log().contains("not properly shut down"),
        "{}",
        cluster.log()
    );
}

#[tokio::test]
async fn a_stopped_server_answers_nothing_until_it_goes_on() {
    if !available("a_stopped_server_answers_nothing_until_it_goes_on") {
        return;
    }
    let cluster = Cluster::own().await;
    let database = cluster.database().await;
    for stop in [Cluster::stop, Cluster::stop_postmaster] {
        stop(&cluster);
        let asked = tokio::time::timeout(Duration::from_millis(300), database.column("select 1")).await;
        assert!(asked.is_err(), "answered while stopped: {asked:?}");

        cluster.cont();

        assert_eq!(database.column("select 1").await.unwrap(), ["1"]);
    }
}

#[tokio::test]
async fn a_full_disk_stops_its_database_and_a_freed_one_lets_it_go_on() {
    let name = "a_full_disk_stops_its_database_and_a_freed_one_lets_it_go_on";
    if !available(name) {
        return;
    }
    let disk = match SmallDisk::mount(24) {
        Ok(disk) => disk,
        Err(why) => return not_run(name, &why),
    };
    let cluster = Cluster::own().await;
    let database = cluster.database_on(&disk).await.unwrap();
    database.execute("create table t (a text)").await.unwrap();
    let insert = "insert into t select repeat('x', 1000) from generate_series(1, 1000)";
    database.execute(insert).await.unwrap();

    disk.fill().unwrap();
    let refused = database.execute(insert).await.unwrap_err();
    assert!(refused.starts_with("53100"), "{refused}");
    assert!(cluster.is_running());

    disk.free().unwrap();
    database.execute(insert).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_of_the_log_ends_the_server_and_a_freed_one_lets_it_come_back() {
    let name = "a_full_disk_of_the_log_ends_the_server_and_a_freed_one_lets_it_come_back";
    if !available(name) {
        return;
    }
    let disk = match SmallDisk::mount(120) {
        Ok(disk) => disk,
        Err(why) => return not_run(name, &why),
    };
    let cluster = Setup::default().wal_on(disk).start().await.unwrap();
    let database = cluster.database().await;
    database.execute("create table t (a text)").await.unwrap();
    let disk = cluster.wal_disk().unwrap();

    disk.fill().unwrap();
    let insert = "insert into t select repeat('x', 1000) from generate_series(1, 100000)";
    database.execute(insert).await.expect_err("no place for the log");
    assert!(cluster.log().contains("PANIC"), "{}", cluster.log());

    disk.free().unwrap();
    if cluster.answers(Duration::from_secs(20)).await.is_err() {
        cluster.kill().await;
        cluster.start().await.unwrap();
    }
    database.execute("insert into t values ('y')").await.unwrap();
}

#[test]
#[allow(clippy::disallowed_methods, reason = "told by itself, no configuration")]
fn nothing_outlives_the_process_even_when_it_is_killed() {
    let name = "nothing_outlives_the_process_even_when_it_is_killed";
    if !available(name) {
        return;
    }
    if std::env::var_os("TOOLGATE_TEST_TO_BE_KILLED").is_some() {
        return be_killed();
    }
    // The test runs itself once more as the process that is killed.
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("tests::{name}"), "--nocapture"])
        .env("TOOLGATE_TEST_TO_BE_KILLED", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let folder = lines.find_map(|line| Some(PathBuf::from(line.unwrap().split_once("server in ")?.1)));
    let folder = folder.expect("it ended before it had a server");
    assert!(folder.is_dir());

    child.kill().unwrap();
    child.wait().unwrap();

    let end = Instant::now() + Duration::from_secs(15);
    while folder.parent().unwrap().exists() {
        assert!(Instant::now() < end, "{} is still there", folder.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn be_killed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cluster = runtime.block_on(Cluster::own());
    cluster.stop();
    println!("server in {}", cluster.data_dir().display());
    loop {
        std::thread::park();
    }
}
