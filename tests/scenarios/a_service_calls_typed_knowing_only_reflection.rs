//! A service that has no generated client calls a tool as a typed method, knowing only what reflection tells.

use data_encoding::BASE64;
use serde_json::json;
use toolgate_test_support::{BackEnds, World, back_ends::Says};

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

#[tokio::test]
async fn a_typed_call_of_a_back_end_is_the_request_of_any_other_and_its_answer_whole() {
    let world = World::new().start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let grpc = world.admin().grpc().await;
    let body = "{\"id\": 9007199254740993 }";
    back_ends.memory.says(Says::status(200, body));
    // Bytes are base64 in proto JSON; what they hold is the argument, as it was written.
    let patch = r#"{"n": 9007199254740993, "x": 1.50}"#;
    let request = json!({"id": "a/b", "patch": BASE64.encode(patch.as_bytes())});
    let answer = grpc
        .call_typed("toolgate.tools.v1.AgentMemoryService", "PatchEntity", request)
        .await
        .unwrap();
    assert_eq!(answer, json!({"body": body}));
    let asked = back_ends.memory.last().unwrap();
    assert_eq!(
        (asked.line().as_str(), asked.text().as_str()),
        ("PATCH /entities/a%2Fb", r#"{"n":9007199254740993,"x":1.50}"#)
    );

    let item = json!({"text": "t", "metadata": BASE64.encode(br#"{"k":"v"}"#)});
    let request = json!({"items": [item], "reconcileFiles": true});
    grpc.call_typed(
        "toolgate.tools.v1.AgentMemoryService",
        "BulkCreateMemories",
        request,
    )
    .await
    .unwrap();
    assert_eq!(
        back_ends.memory.last().unwrap().json(),
        json!({"items": [{"text": "t", "metadata": {"k": "v"}}], "reconcile_files": true})
    );
    back_ends.memory.says(Says::status(404, "no such entity"));
    let request = json!({"id": "e"});
    let status = grpc
        .call_typed("toolgate.tools.v1.AgentMemoryService", "GetEntity", request)
        .await
        .unwrap_err();
    assert!(status.message().contains("no such entity"), "{status:?}");
}
