//! Gate C6. Tools of the gateway, of infrastructure and of agents are listed to the byte as they are without any project, and
//! what they call `project` is theirs: no call of theirs leaves for a project because of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_test_support::{BackEnds, Dialect, McpClient, Revision, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tool_of_ours_routes_by_its_project() {
    let world = World::new().unlimited().host("web-1").start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let client = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    let before = by_name(&client).await;
    assert!(before.len() > 60, "{}", before.len());

    let with = World::new()
        .unlimited()
        .host("web-1")
        .project("beta")
        .default_project("beta")
        .start()
        .await;
    let other = BackEnds::added(with.admin(), "read_write").await.unwrap();
    let client = McpClient::open(with.admin(), "/mcp", Revision::November2025).await;
    let after = by_name(&client).await;
    for (name, tool) in &before {
        assert_eq!(
            Some(masked(tool)),
            after.get(name).map(|tool| masked(tool)),
            "{name}"
        );
    }
    for fleet in [
        "list_projects",
        "gateway_health",
        "aggregate_pipeline_status",
        "fleet_identity",
    ] {
        let tool: Value = serde_json::from_str(&after[fleet]).unwrap();
        assert!(tool["inputSchema"]["properties"]["project"].is_null(), "{tool}");
    }

    drop(back_ends);
    other.forget();
    with.project("beta").forget();
    for dialect in Dialect::ALL {
        let speaker = with.admin().by(dialect).await;
        speaker.call("project_get", &json!({"project": "beta"})).await;
        let asked = other.operator.last().expect("the operator is asked");
        assert!(
            asked.line().contains("/projects/beta"),
            "{dialect:?}: {}",
            asked.line()
        );
        other.forget();
        // Where there is no argument of that name, it is one too many and no route.
        let told = speaker
            .call(
                "ssh.run_whitelisted_command",
                &json!({"command": "uptime", "project": "beta"}),
            )
            .await;
        assert_eq!(told.reason(), "ARGUMENTS_INVALID", "{dialect:?}: {told:?}");
    }
    assert!(with.project("beta").calls().is_empty());
}

async fn by_name(client: &McpClient) -> BTreeMap<String, String> {
    let (names, tools) = (client.names().await, client.tools().await);
    names.into_iter().zip(tools).collect()
}

/// The text with every ULID struck out: targets are each world's own.
fn masked(text: &str) -> String {
    let is_id = |word: &str| word.len() == 26 && word.starts_with("01");
    let words = text
        .split('"')
        .map(|word| if is_id(word) { "ULID" } else { word });
    words.collect::<Vec<_>>().join("\"")
}
