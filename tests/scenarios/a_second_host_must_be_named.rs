//! Gate E3, 024. One host needs no name; of two the caller must choose, and is told which there are.

use serde_json::json;
use toolgate_test_support::{Ground, on_each_store};

on_each_store!(a_second_host_must_be_named);

async fn a_second_host_must_be_named(ground: Ground) {
    let world = ground.world().host("web-1").host("web-2").start().await;

    let refusal = world.run("uptime").await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (400, "TARGET_REQUIRED")
    );
    assert_eq!(refusal.problem["title"], "target required");
    let mut listed: Vec<&str> = refusal.problem["targets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["name"].as_str().unwrap())
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, ["web-1", "web-2"]);

    let id = world.target("web-2");
    let beside =
        json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}, "targetId": id});
    let body = world
        .admin()
        .invoke_with(&beside, &[("prefer", "wait")])
        .await
        .ok()
        .unwrap();
    assert_eq!(body["_meta"]["toolgate/target"]["id"], id);
    let inside = json!({"command": "uptime", "target_id": id});
    world.call("ssh.run_whitelisted_command", inside).await.unwrap();
    assert_eq!(world.host("web-1").received(), [""; 0]);
    assert_eq!(world.host("web-2").received(), ["uptime", "uptime"]);

    let other = world.target("web-1");
    let both = json!({"name": "ssh.run_whitelisted_command",
        "arguments": {"command": "uptime", "target_id": other}, "targetId": id});
    let answer = world.admin().invoke_with(&both, &[("prefer", "wait")]).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
}
