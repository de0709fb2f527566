//! A server that is shut down, killed or restarted under load: calls are refused while it is away, and carried soon
//! after it is back, without a restart of the gateway.

use toolgate_test_postgres::available;
use toolgate_test_support::Postgres;

use crate::drill::Drill;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_that_went_away_is_found_again() {
    if !available("a_postgres_that_went_away_is_found_again") {
        return;
    }
    let drill = Drill::on(Postgres::own().await.unwrap()).await;
    let cluster = drill.postgres.cluster();
    for way in ["killed", "shut down"] {
        match way {
            "killed" => cluster.kill().await,
            _ => cluster.shut_down().await,
        }
        drill.is_refused_before_contact(way).await;
        drill.is_unready(way).await;
        drill.is_refused_before_contact(way).await;

        cluster.start().await.unwrap();

        drill.is_back(way).await;
    }
    // So short that no call may fall into it.
    cluster.shut_down().await;
    cluster.start().await.unwrap();
    drill.is_back("restarted").await;
    drill.holds("went away").await;
}
