//! The client of a turn leaves before its calls are answered: the host is told of each within 100 ms, and no row says that
//! anything was invoked.

use std::time::{Duration, Instant};

use toolgate_test_support::{
    Ground, Reply, on_each_store,
    turn::{TOOL_CALLS, message},
};

const RUN: &str = "ssh_run_whitelisted_command";

on_each_store!(a_client_who_leaves_a_turn_cancels_all_its_calls);

async fn a_client_who_leaves_a_turn_cancels_all_its_calls(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let host = world.host("web-1");
    host.replies(Reply::Hang);
    let turn = message(&[
        ("call_1", RUN, r#"{"command":"uptime"}"#),
        ("call_2", RUN, r#"{"command":"df -h"}"#),
        ("call_3", RUN, r#"{"command":"free -m"}"#),
    ]);
    let asking = tokio::spawn({
        let admin = world.admin().clone();
        async move { admin.post(TOOL_CALLS, turn).await }
    });
    host.wait(Duration::from_secs(5), |seen| seen.commands.len() == 3)
        .await;

    let left = Instant::now();
    asking.abort();

    let seen = host
        .wait(Duration::from_secs(5), |seen| seen.cancelled_at.len() == 3)
        .await;
    assert_eq!(seen.cancelled_at.len(), 3, "the host was not told");
    let mut lags: Vec<_> = seen
        .cancelled_at
        .iter()
        .map(|at| at.saturating_duration_since(left))
        .collect();
    lags.sort();
    assert!(lags[1] <= Duration::from_millis(100), "{lags:?}");
    assert_eq!(world.audit_of("adapter.capability_invoked").await.len(), 0);
}
