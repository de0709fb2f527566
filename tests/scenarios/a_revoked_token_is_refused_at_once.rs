//! A revoked token opens nothing any more, on REST and gRPC, within five seconds.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ground, Role, on_each_store, until};

on_each_store!(a_revoked_token_is_refused_at_once);

async fn a_revoked_token_is_refused_at_once(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let (id, caller) = world.admin().make_token("leaver", Role::Engineer).await.unwrap();
    let grpc = caller.grpc().await;
    caller.run("uptime").await.unwrap();

    assert_eq!(
        world.admin().delete(&format!("/api/tokens/{id}")).await.status,
        204
    );

    let refused = until(Duration::from_secs(5), || async {
        caller.run("uptime").await.err()
    })
    .await
    .expect("refused");
    assert_eq!(
        (refused.status, refused.reason.as_str()),
        (401, "CREDENTIAL_INVALID")
    );
    let status = grpc
        .call("ssh.run_whitelisted_command", json!({"command": "uptime"}))
        .await
        .unwrap_err();
    assert_eq!(status.code() as i32, 16, "UNAUTHENTICATED: {status:?}");
    assert_eq!(world.audit_of("token.revoked").await.len(), 1);
}
