//! A token that is revoked opens nothing any more, whatever the turn asks for.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{
    Ground, Role, on_each_store,
    turn::{TOOL_CALLS, message},
    until,
};

const RUN: &str = "ssh_run_whitelisted_command";

on_each_store!(a_turn_of_a_revoked_token_is_refused_whole);

async fn a_turn_of_a_revoked_token_is_refused_whole(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let (id, caller) = world.admin().make_token("leaver", Role::Engineer).await.unwrap();
    let turn = message(&[("call_1", RUN, r#"{"command":"uptime"}"#)]);
    assert_eq!(caller.post(TOOL_CALLS, turn.clone()).await.status, 200);

    world.admin().delete(&format!("/api/tokens/{id}")).await;

    let refused = until(Duration::from_secs(5), || async {
        caller.post(TOOL_CALLS, turn.clone()).await.ok().err()
    })
    .await
    .expect("refused");
    assert_eq!(
        (refused.status, refused.reason.as_str()),
        (401, "CREDENTIAL_INVALID")
    );
    // Nor is it told what it asked for wrongly, or that it asked for nothing.
    for body in [
        json!({"output": []}),
        message(&[]),
        json!({"tool_calls": [{"id": "a"}]}),
    ] {
        assert_eq!(caller.post(TOOL_CALLS, body).await.status, 401);
    }
    assert_eq!(caller.get("/openai/v1/tools").await.status, 401);
}
