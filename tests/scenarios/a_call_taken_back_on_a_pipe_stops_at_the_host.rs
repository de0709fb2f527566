//! A call that its client on a pipe takes back stops at the host within 100 ms, is not answered, and leaves no row that says
//! anything was invoked.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_test_support::{Ground, Pipe, Reply, on_each_store};

const TOLD_WITHIN: Duration = Duration::from_millis(100);

on_each_store!(a_call_taken_back_on_a_pipe_stops_at_the_host);

async fn a_call_taken_back_on_a_pipe_stops_at_the_host(ground: Ground) {
    let world = ground.world().unlimited().host("web-1").start().await;
    let (admin, host) = (world.admin(), world.host("web-1"));
    host.replies(Reply::Hang);
    let environment = [("TOOLGATE_TOKEN", admin.token())];
    let mut pipe = Pipe::start(&["--core", admin.grpc_url()], &environment, world.data_dir()).unwrap();
    pipe.begin("2025-11-25").await.unwrap();

    let mut lags = Vec::new();
    for round in 1..=20 {
        let call = json!({"jsonrpc": "2.0", "id": round, "method": "tools/call",
            "params": {"name": "ssh_run_whitelisted_command", "arguments": {"command": "uptime"}}});
        pipe.say(&call).await.unwrap();
        host.wait(Duration::from_secs(5), |seen| seen.commands.len() == round)
            .await;
        let taken_back = Instant::now();
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": round}});
        pipe.say(&cancel).await.unwrap();
        let seen = host
            .wait(Duration::from_secs(5), |seen| seen.cancelled_at.len() == round)
            .await;
        assert_eq!(seen.cancelled_at.len(), round, "the host was not told");
        lags.push(seen.cancelled_at[round - 1].saturating_duration_since(taken_back));
    }

    lags.sort();
    // The slowest of twenty may be the machine's fault, not the gateway's.
    assert!(lags[18] <= TOLD_WITHIN, "{lags:?}");
    let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
    assert_eq!(
        pipe.ask(&ping).await.unwrap()["id"],
        "ping",
        "nothing was answered in between"
    );
    assert_eq!(world.audit_of("adapter.capability_invoked").await.len(), 0);
}
