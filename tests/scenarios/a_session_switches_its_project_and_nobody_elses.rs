//! Gate C13. `switch_project` in a session: list and calls follow, and the session is told that its list changed; other
//! sessions of the same caller keep theirs. Without a session the caller's calls follow and the list does not, because there it
//! may not depend on what was asked before. A call that names its project changes none of it.

use serde_json::json;
use toolgate_test_support::{Dialect, McpClient, Revision, Role, World};

const ALPHA: &str = r#"{"name":"of_alpha","inputSchema":{"type":"object"}}"#;
const BETA: &str = r#"{"name":"of_beta","inputSchema":{"type":"object"}}"#;
const BOTH: &str = r#"{"name":"who_are_you","inputSchema":{"type":"object"}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_switches_its_project_and_nobody_elses() {
    let world = world().await;
    let one = McpClient::open(world.admin(), "/mcp", Revision::November2025).await;
    let other = McpClient::open(world.admin(), "/mcp", Revision::June2025).await;
    let mut hears = one.listen().await;

    let told = one.call("switch_project", r#"{"project":"beta"}"#).await;
    assert_eq!(
        told.value()["structuredContent"]["project"],
        "beta",
        "{}",
        told.answer
    );
    assert_eq!(told.value()["structuredContent"]["scope"], "session");
    assert!(
        hears.next_of("notifications/tools/list_changed").await.is_some(),
        "the session is told that its list changed"
    );
    for (client, project) in [(&one, "beta"), (&other, "alpha")] {
        assert_eq!(client.call("who_are_you", "{}").await.project(), project);
        let names = client.names().await;
        assert!(names.contains(&format!("of_{project}")), "{names:?}");
        assert_eq!(
            names.iter().filter(|name| name.starts_with("of_")).count(),
            1,
            "{names:?}"
        );
    }
    // By name, once, in both: neither default moves.
    for client in [&one, &other] {
        assert_eq!(
            client
                .call("who_are_you", r#"{"project":"alpha"}"#)
                .await
                .project(),
            "alpha"
        );
        assert_eq!(
            client
                .call("who_are_you", r#"{"project":"beta"}"#)
                .await
                .project(),
            "beta"
        );
    }
    assert_eq!(one.call("who_are_you", "{}").await.project(), "beta");
    assert_eq!(other.call("who_are_you", "{}").await.project(), "alpha");
    // Nor did the caller's own default beside all sessions.
    assert_eq!(
        world.call("who_are_you", json!({})).await.unwrap().text(),
        "alpha"
    );

    let unknown = one.call("switch_project", r#"{"project":"gamma"}"#).await;
    assert_eq!(unknown.code(), -32602, "{}", unknown.answer);
    assert_eq!(one.call("who_are_you", "{}").await.project(), "beta");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_session_the_callers_calls_follow_and_the_list_does_not() {
    let world = world().await;
    let (ann, ben) = (world.as_principal("ann"), world.as_principal("ben"));
    let client = McpClient::open(ann, "/mcp", Revision::July2026).await;
    let before = client.tools().await;
    let told = client.call("switch_project", r#"{"project":"beta"}"#).await;
    assert_eq!(
        told.value()["structuredContent"]["scope"],
        "principal",
        "{}",
        told.answer
    );

    assert_eq!(
        client.tools().await,
        before,
        "the list may not depend on earlier calls"
    );
    assert_eq!(client.call("who_are_you", "{}").await.project(), "beta");
    for dialect in [Dialect::Rest, Dialect::Grpc, Dialect::Mcp(Revision::July2026)] {
        let told = ann.by(dialect).await.call("who_are_you", &json!({})).await;
        assert_eq!(told.structured()["project"], "beta", "{dialect:?}: {told:?}");
        let told = ben.by(dialect).await.call("who_are_you", &json!({})).await;
        assert_eq!(told.structured()["project"], "alpha", "{dialect:?}: {told:?}");
    }
    // A tool of the new default is found although the list does not show it.
    assert_eq!(client.call("of_beta", "{}").await.project(), "beta");
}

async fn world() -> World {
    World::new()
        .unlimited()
        .project_with("alpha", &[ALPHA, BOTH])
        .project_with("beta", &[BETA, BOTH])
        .default_project("alpha")
        .principal("ann", Role::Engineer)
        .principal("ben", Role::Engineer)
        .start()
        .await
}
