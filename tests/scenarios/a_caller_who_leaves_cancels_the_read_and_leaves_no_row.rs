//! Gate E8. The last reader leaves before the host answered: the host is told within 100 ms, and no row says that
//! anything was invoked.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_test_support::{Ground, Reply, on_each_store};

const TOLD_WITHIN: Duration = Duration::from_millis(100);

on_each_store!(a_caller_who_leaves_cancels_the_read_and_leaves_no_row);

async fn a_caller_who_leaves_cancels_the_read_and_leaves_no_row(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let (admin, host) = (world.admin(), world.host("web-1"));
    host.replies(Reply::Hang);

    let mut lags = Vec::new();
    for round in 1..=20 {
        let call = admin
            .invoke("ssh.run_whitelisted_command", json!({"command": "uptime"}))
            .await
            .unwrap();
        let events = admin.watch(&call).await.unwrap();
        host.wait(Duration::from_secs(5), |seen| seen.commands.len() == round)
            .await;
        let left = Instant::now();
        drop(events);
        let seen = host
            .wait(Duration::from_secs(5), |seen| seen.cancelled_at.len() == round)
            .await;
        assert_eq!(seen.cancelled_at.len(), round, "the host was not told");
        lags.push(seen.cancelled_at[round - 1].saturating_duration_since(left));
    }

    lags.sort();
    // The slowest of twenty may be the machine's fault, not the gateway's.
    assert!(lags[18] <= TOLD_WITHIN, "{lags:?}");
    host.replies(Reply::Prints("up\n".into()));
    world.run("uptime").await.expect("the relay still serves");
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
}

on_each_store!(a_caller_who_hangs_up_while_waiting_cancels_as_well);

async fn a_caller_who_hangs_up_while_waiting_cancels_as_well(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let host = world.host("web-1");
    host.replies(Reply::Hang);

    let waiting = world.run("uptime");
    let gone = tokio::time::timeout(Duration::from_millis(300), waiting).await;

    assert!(gone.is_err(), "the host hangs");
    let seen = host
        .wait(Duration::from_secs(5), |seen| !seen.cancelled_at.is_empty())
        .await;
    assert_eq!(seen.cancelled_at.len(), 1);
    assert_eq!(world.audit_of("adapter.capability_invoked").await.len(), 0);
}
