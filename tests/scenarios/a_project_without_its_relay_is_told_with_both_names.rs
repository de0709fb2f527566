//! Gate C4. A project that is known and has no live uplink: the same error, naming project and relay, whether it was named or
//! is the default, and in every dialect the same reason.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Dialect, McpClient, Revision, World, until};

const WHO: &str = "who_are_you";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_without_its_relay_is_told_with_both_names() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .project("beta")
        .silent_project("gamma")
        .default_project("beta")
        .start()
        .await;
    world.project("beta").hang_up();
    let offline = until(Duration::from_secs(5), || async {
        (world.admin().told_of_project("beta").await["project"]["state"] == "offline").then_some(())
    });
    offline.await.expect("the gateway notices");

    for revision in [Revision::November2025, Revision::July2026] {
        let client = McpClient::open(world.admin(), "/mcp", revision).await;
        let named = client.call(WHO, r#"{"project":"beta"}"#).await;
        let default = client.call(WHO, "{}").await;
        assert_eq!(named.code(), -32603, "{}", named.answer);
        for part in ["code", "message"] {
            assert_eq!(named.error()[part], default.error()[part]);
        }
        let message = named.error()["message"].to_string();
        let relay = world.project("beta").relay();
        assert!(message.contains("beta") && message.contains(relay), "{message}");

        let alive = client.call(WHO, r#"{"project":"alpha"}"#).await;
        assert_eq!(alive.project(), "alpha");
    }
    for dialect in Dialect::ALL {
        let speaker = world.admin().by(dialect).await;
        for arguments in [json!({"project": "beta"}), json!({})] {
            let told = speaker.call(WHO, &arguments).await;
            assert_eq!(
                told.reason(),
                "PROJECT_OFFLINE",
                "{dialect:?} {arguments}: {told:?}"
            );
        }
    }
    let refusal = world.call(WHO, json!({"project": "beta"})).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "PROJECT_OFFLINE")
    );

    // It comes back, and serves.
    world.project("beta").dial(world.url()).await.unwrap();
    world.admin().project_is_up("beta", 2).await;
    assert_eq!(world.call(WHO, json!({})).await.unwrap().text(), "beta");
}
