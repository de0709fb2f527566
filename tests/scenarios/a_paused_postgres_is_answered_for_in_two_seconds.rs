//! A server that is stopped takes connections and answers nothing. Every call is refused within two seconds, the gateway
//! says why it is not ready, and carries on when the server does.

use toolgate_test_postgres::{Cluster, available};
use toolgate_test_support::Postgres;

use crate::drill::Drill;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_postgres_is_answered_for_in_two_seconds() {
    if !available("a_paused_postgres_is_answered_for_in_two_seconds") {
        return;
    }
    let drill = Drill::on(Postgres::own().await.unwrap()).await;
    let cluster = drill.postgres.cluster();
    for round in 1..=3 {
        let when = format!("paused, round {round}");
        cluster.stop();
        drill.is_refused_before_contact(&when).await;
        drill.is_unready(&when).await;
        // Not only the first: several at once, and again.
        let calls: Vec<_> = (0..8).map(|_| drill.calling()).collect();
        for call in calls {
            let refusal = call.await.unwrap().expect("an answer").expect_err(&when);
            crate::drill::fits(&refusal, &when);
        }
        drill.is_refused_before_contact(&when).await;

        cluster.cont();

        drill.is_back(&when).await;
    }
    drill.holds("paused").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_postmaster_stops_nobody_who_is_connected() {
    if !available("a_paused_postmaster_stops_nobody_who_is_connected") {
        return;
    }
    let drill = Drill::on(Postgres::own().await.unwrap()).await;
    let cluster = drill.postgres.cluster();

    cluster.stop_postmaster();

    for _ in 0..5 {
        match drill.call().await {
            Ok(_) => {}
            // A connection that was needed and not there yet.
            Err(refusal) => crate::drill::fits(&refusal, "the postmaster stopped"),
        }
    }
    Cluster::cont(cluster);
    drill.is_back("the postmaster stopped").await;
    drill.holds("the postmaster stopped").await;
}
