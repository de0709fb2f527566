//! Gate 015. A tool that the tenant switched off is in no list and answers as one that does not exist, byte for byte.

use serde_json::{Value, json};
use toolgate_test_support::{Ground, Role, on_each_store};

on_each_store!(a_disabled_tool_answers_like_an_unknown_one);

async fn a_disabled_tool_answers_like_an_unknown_one(ground: Ground) {
    let world = ground
        .world()
        .host("web-1")
        .principal("reader", Role::Engineer)
        .start()
        .await;
    let admin = world.admin();
    let put = admin.request("PUT".parse().unwrap(), "/api/mcp/policy");
    let changed = admin
        .send(put.json(&json!({"disabledTools": ["ssh.run_whitelisted_command"]})))
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text);

    let reader = world.as_principal("reader");
    let listed = reader.get("/api/mcp/tools").await.json();
    let names: Vec<&Value> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert!(
        !names.contains(&&json!("ssh.run_whitelisted_command")),
        "{names:?}"
    );

    let disabled = reader.run("uptime").await.unwrap_err();
    let unknown = reader.call("nothing.of_the_kind", json!({})).await.unwrap_err();
    assert_eq!(
        (disabled.status, disabled.reason.as_str()),
        (404, "TOOL_NOT_FOUND")
    );
    let same = |problem: &Value, name: &str| {
        let mut problem = problem.clone();
        problem.as_object_mut().unwrap().remove("instance");
        problem.as_object_mut().unwrap().remove("correlationId");
        problem.to_string().replace(name, "NAME")
    };
    assert_eq!(
        same(&disabled.problem, "ssh.run_whitelisted_command"),
        same(&unknown.problem, "nothing.of_the_kind")
    );
    assert_eq!(world.host("web-1").received(), [""; 0]);
    assert_eq!(world.audit_of("policy.changed").await.len(), 1);

    let added = admin.request("PUT".parse().unwrap(), "/api/mcp/policy");
    let added = admin
        .send(added.json(&json!({"disabledTools": ["no.such_tool"]})))
        .await;
    assert_eq!(added.status, 400, "{}", added.text);
}
