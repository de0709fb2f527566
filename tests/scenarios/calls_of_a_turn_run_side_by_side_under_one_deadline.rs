//! A slow call keeps no other one waiting, and the turn takes no longer than its deadline.

use std::time::Duration;

use toolgate_test_support::{
    Lab, World,
    turn::{TOOL_CALLS, message, reason, told},
};

const RUN: &str = "ssh_run_whitelisted_command";

#[tokio::test]
async fn calls_of_a_turn_run_side_by_side_under_one_deadline() {
    let (world, lab) = (World::new().host("web-1").start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();
    lab.github.pace(Duration::from_secs(60));
    let turn = message(&[
        (
            "slow_1",
            "github_get_recent_ci_runs",
            r#"{"owner":"acme","repo":"shop"}"#,
        ),
        ("fast", RUN, r#"{"command":"uptime"}"#),
        (
            "slow_2",
            "github_get_recent_ci_runs",
            r#"{"owner":"acme","repo":"site"}"#,
        ),
    ]);

    let answer = world.admin().post(TOOL_CALLS, turn.clone()).await;

    // Each has ten seconds, and so has the turn.
    assert!(answer.took < Duration::from_millis(10_500), "{:?}", answer.took);
    let first = told(&answer.ok().unwrap());
    assert_eq!(reason(&first[0].1), "UPSTREAM_TIMEOUT");
    assert!(first[1].1.contains("stdout"), "{first:?}");
    assert_eq!(reason(&first[2].1), "UPSTREAM_TIMEOUT");

    // A caller with less time says so once, for all of them.
    let request = world
        .admin()
        .request("POST".parse().unwrap(), TOOL_CALLS)
        .json(&turn);
    let answer = world.admin().send(request.header("grpc-timeout", "500m")).await;
    assert!(answer.took < Duration::from_millis(1500), "{:?}", answer.took);
    let heard = told(&answer.ok().unwrap());
    assert_eq!(reason(&heard[0].1), "DEADLINE_EXCEEDED");
    assert!(heard[1].1.contains("stdout"), "{heard:?}");
}
