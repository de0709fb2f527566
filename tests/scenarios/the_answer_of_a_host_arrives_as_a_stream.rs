//! Gate J2-1, 017. A call is invoked, and its result arrives over SSE, settled before it is seen.

use serde_json::json;
use toolgate_test_support::{Ground, on_each_store};

on_each_store!(the_answer_of_a_host_arrives_as_a_stream);

async fn the_answer_of_a_host_arrives_as_a_stream(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let admin = world.admin();

    let call = admin
        .invoke("ssh.run_whitelisted_command", json!({"command": "uptime"}))
        .await
        .unwrap();
    let events = admin.watch(&call).await.unwrap().all().await;

    let told: Vec<(&str, &str)> = events
        .iter()
        .map(|each| (each.event.as_str(), each.id.as_str()))
        .collect();
    let (first, second) = (format!("{call}-1"), format!("{call}-2"));
    assert_eq!(told, [("tool_result", first.as_str()), ("done", second.as_str())]);
    let result = &events[0].data;
    assert_eq!(result["isError"], false);
    assert!(
        result["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("load average"),
        "{result}"
    );
    assert_eq!(result["structuredContent"]["command"], "uptime");
    assert!(events[1].data["durationMs"].is_u64(), "{:?}", events[1].data);

    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = &rows[0];
    assert_eq!(row["correlationId"], call.as_str());
    assert_eq!(
        (&row["result"], &row["capability"]),
        (&json!("success"), &json!("ssh.run_whitelisted_command"))
    );
    assert_eq!(row["targetId"], world.target("web-1"));
    assert_eq!(row["facade"], "rest");
    assert_eq!(world.host("web-1").received(), ["uptime"]);
}
