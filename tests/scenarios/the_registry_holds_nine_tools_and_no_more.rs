//! Gate 015. The list of tools is closed, complete and says of each what a model has to know.

use std::fmt::Write as _;

use toolgate_test_support::World;

use crate::golden;

#[tokio::test]
async fn the_registry_holds_nine_tools_and_no_more() {
    let world = World::new().start().await;

    let answer = world.admin().get("/api/mcp/tools").await;
    let listed = answer.json();

    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 9, "{}", answer.text);
    let mut told =
        String::from("# The nine tools as REST lists them. UPDATE=1 cargo test rewrites this file.\n");
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert!(
            tool["inputSchema"]["properties"]["target_id"].is_object(),
            "{tool}"
        );
        writeln!(told, "{}", serde_json::to_string_pretty(tool).unwrap()).unwrap();
    }
    golden::check("tools.txt", &told);

    let tag = answer.header("etag").expect("an ETag").to_owned();
    let admin = world.admin();
    let unchanged = admin
        .request("GET".parse().unwrap(), "/api/mcp/tools")
        .header("if-none-match", tag);
    assert_eq!(admin.send(unchanged).await.status, 304);
}
