//! Gate C3. An unknown project, and none named where there is no default: the registered names are told, in every dialect, and
//! no project hears of it.

use serde_json::json;
use toolgate_test_support::{Dialect, McpClient, Revision, World};

const WHO: &str = "who_are_you";
const NAMES: [&str; 2] = ["alpha", "beta"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_that_nobody_knows_is_told_with_those_that_there_are() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .project("beta")
        .stranger("other")
        .start()
        .await;
    for arguments in [
        r#"{"project":"gamma"}"#,
        "{}",
        r#"{"project":""}"#,
        r#"{"project":"ALPHA"}"#,
    ] {
        let given = serde_json::from_str(arguments).unwrap();
        for revision in [Revision::June2025, Revision::November2025, Revision::July2026] {
            let client = McpClient::open(world.admin(), "/mcp", revision).await;
            let heard = client.call(WHO, arguments).await;
            assert_eq!(heard.code(), -32602, "{revision:?} {arguments}: {}", heard.answer);
            let message = heard.error()["message"].to_string();
            for name in NAMES {
                assert!(message.contains(name), "{message}");
            }
        }
        for dialect in Dialect::ALL {
            let told = world.admin().by(dialect).await.call(WHO, &given).await;
            assert_eq!(
                told.reason(),
                "PROJECT_NOT_FOUND",
                "{dialect:?} {arguments}: {told:?}"
            );
        }
        let refusal = world.call(WHO, given).await.unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (404, "PROJECT_NOT_FOUND")
        );
        let detail = refusal.problem["detail"].as_str().unwrap_or_default();
        assert!(NAMES.iter().all(|name| detail.contains(name)), "{detail}");
    }

    // What is no name at all is no project either, and no text is told back unescaped or without end.
    for project in [
        json!(7),
        json!(null),
        json!({"a": 1}),
        json!("a\u{1b}[31m"),
        json!("x".repeat(500)),
    ] {
        let arguments = json!({ "project": project });
        let refusal = world.call(WHO, arguments.clone()).await.unwrap_err();
        assert!([400, 404].contains(&refusal.status), "{arguments}: {refusal:?}");
        let told = refusal.problem.to_string();
        assert!(!told.contains("\\u001b") && told.len() < 1_000, "{told}");
    }

    // A tenant without projects has no such tool, and is not told of the projects of others.
    let refusal = world
        .as_principal("other")
        .call(WHO, json!({"project": "alpha"}))
        .await
        .unwrap_err();
    assert_eq!(refusal.reason, "TOOL_NOT_FOUND");
    assert!(!refusal.problem.to_string().contains("beta"), "{refusal:?}");
    for name in NAMES {
        assert!(world.project(name).calls().is_empty());
    }
}
