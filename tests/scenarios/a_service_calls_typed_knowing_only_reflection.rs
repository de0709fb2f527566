//! A service that has no generated client calls a tool as a typed method, knowing only what reflection tells.

use serde_json::json;
use toolgate_test_support::World;

#[tokio::test]
async fn a_service_calls_typed_knowing_only_reflection() {
    let world = World::new().host("web-1").start().await;
    let grpc = world.admin().grpc().await;

    let services = grpc.services().await;
    assert!(
        services.iter().any(|name| name == "toolgate.tools.v1.SshService"),
        "{services:?}"
    );
    let answer = grpc
        .call_typed(
            "toolgate.tools.v1.SshService",
            "RunWhitelistedCommand",
            json!({"command": "uptime"}),
        )
        .await
        .unwrap();

    assert_eq!(answer["command"], "uptime");
    assert!(
        answer["stdout"].as_str().unwrap().contains("load average"),
        "{answer}"
    );
    let generic = grpc
        .call("ssh.run_whitelisted_command", json!({"command": "uptime"}))
        .await
        .unwrap();
    assert!(!generic.result.unwrap().is_error);
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(
        rows.iter()
            .filter(|row| row["facade"] == "grpc" && row["result"] == "success")
            .count(),
        2
    );
}
