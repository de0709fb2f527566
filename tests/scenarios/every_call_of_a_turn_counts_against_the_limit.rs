//! Many calls in one request are many calls: those over the limit are refused, each by its answer.

use toolgate_test_support::{
    Role, World,
    turn::{TOOL_CALLS, message, told},
};

const RUN: &str = "ssh_run_whitelisted_command";

#[tokio::test]
async fn every_call_of_a_turn_counts_against_the_limit() {
    let world = World::new().host("web-1").start().await;
    let (_, caller) = world.admin().make_token("eager", Role::Engineer).await.unwrap();
    let ids: Vec<_> = (0..100).map(|n| format!("call_{n}")).collect();
    let calls: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), RUN, r#"{"command":"uptime"}"#))
        .collect();

    let answer = caller.post(TOOL_CALLS, message(&calls)).await.ok().unwrap();

    let told = told(&answer);
    assert!(told.iter().map(|(id, _)| id).eq(ids.iter()));
    let limited: Vec<_> = answer["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|call| call["reason"] == "RATE_LIMITED")
        .collect();
    let carried = world.host("web-1").received().len();
    assert_eq!(limited.len() + carried, 100);
    // A token a second comes back while they run.
    assert!((60..=70).contains(&carried), "{carried}");
    assert!(
        limited.iter().all(|call| call["retryAfter"].as_u64() >= Some(1)),
        "{limited:?}"
    );
}
