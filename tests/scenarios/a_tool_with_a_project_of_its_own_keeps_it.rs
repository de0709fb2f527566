//! Gate C7. A tool that has an argument `project` of its own keeps it: it is listed and arrives as it was, and
//! `toolgate_project` routes instead, for that tool only.

use serde_json::{Value, json};
use toolgate_test_support::{Dialect, McpClient, Revision, Told, World, project::WHO};

const OWN: &str = r#"{"name":"assign","inputSchema":{"type":"object","properties":{"project":{"type":["integer","string"]}},"required":["project"]}}"#;
const NOT_OWN: &str =
    r#"{"name":"assign","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_with_a_project_of_its_own_keeps_it() {
    let world = World::new()
        .unlimited()
        .project_with("alpha", &[OWN, WHO])
        .project_with("beta", &[OWN, WHO])
        .project_with("gamma", &[NOT_OWN])
        .default_project("alpha")
        .start()
        .await;
    let client = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    let listed: Value = serde_json::from_str(&client.tool("assign").await.unwrap()).unwrap();
    let properties = &listed["inputSchema"]["properties"];
    assert_eq!(properties["project"], json!({"type": ["integer", "string"]}));
    assert_eq!(properties["toolgate_project"]["type"], "string");
    let other = client.tool("who_are_you").await.unwrap();
    assert!(!other.contains("toolgate_project"), "{other}");

    for dialect in Dialect::ALL {
        let speaker = world.admin().by(dialect).await;
        for (sent, project, arrives) in [
            (
                json!({"project": 7, "toolgate_project": "beta"}),
                "beta",
                json!({"project": 7}),
            ),
            (json!({"project": 7}), "alpha", json!({"project": 7})),
            // A text in it is the tool's own as well, even when it is the name of a project.
            (json!({"project": "beta"}), "alpha", json!({"project": "beta"})),
            (
                json!({"project": 7, "toolgate_project": ""}),
                "alpha",
                json!({"project": 7}),
            ),
            (
                json!({"toolgate_project": "gamma", "to": "x"}),
                "gamma",
                json!({"to": "x"}),
            ),
        ] {
            let told = speaker.call("assign", &sent).await;
            if matches!(dialect, Dialect::OpenAi(_)) {
                // A model is told the text.
                assert!(
                    matches!(&told, Told::Result { structured: Some(text), .. } if text == project),
                    "{told:?}"
                );
                continue;
            }
            let expected = json!({"project": project, "tool": "assign", "arguments": arrives});
            assert_eq!(told.structured(), expected, "{dialect:?} {sent}: {told:?}");
        }
    }

    // Where the current project's tool has none of its own, the plain name routes.
    world.admin().set_default_project("gamma").await.unwrap();
    let told = world
        .call("assign", json!({"to": "y", "project": "gamma"}))
        .await
        .unwrap();
    assert_eq!(told.structured()["arguments"], json!({"to": "y"}));
}
