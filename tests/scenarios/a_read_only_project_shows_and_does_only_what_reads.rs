//! Under `access: read_only` only the tools of a project that say of themselves that they only read are listed and can be called,
//! through the list and through the pipe; a call of another is a rejected write, on the record, and the project hears nothing.

use serde_json::{Value, json};
use toolgate_test_support::{
    Dialect, McpClient, Revision, Told, World,
    project::{CREATE, WHO},
};

/// What is no `true` is no promise.
const HALF: &str = r#"{"name":"half","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"true"}}"#;
const DENIES: &str = r#"{"name":"denies","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"destructiveHint":false}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_project_shows_and_does_only_what_reads() {
    let world = World::new()
        .unlimited()
        .read_only_project("alpha", &[WHO, CREATE, HALF, DENIES])
        .default_project("alpha")
        .start()
        .await;
    let (admin, alpha) = (world.admin(), world.project("alpha"));
    let pipe = McpClient::open(admin, "/mcp/project/alpha", Revision::November2025).await;
    assert_eq!(pipe.names().await, ["who_are_you"]);
    let mut attempts = 0;
    for dialect in Dialect::ALL {
        let speaker = admin.by(dialect).await;
        let tools = speaker.tools().await;
        assert!(tools.contains(&"who_are_you".to_owned()), "{dialect:?} {tools:?}");
        for writes in ["create_story", "half", "denies"] {
            assert!(!tools.contains(&writes.to_owned()), "{dialect:?} {tools:?}");
            for arguments in [json!({"name": "x"}), json!({"name": "x", "project": "alpha"})] {
                let told = speaker.call(writes, &arguments).await;
                assert_eq!(told.reason(), "WRITE_REJECTED", "{dialect:?} {writes}: {told:?}");
                attempts += 1;
            }
        }
        let told = speaker.call("who_are_you", &json!({})).await;
        assert!(
            matches!(told, Told::Result { is_error: false, .. }),
            "{dialect:?}: {told:?}"
        );
    }
    for writes in ["create_story", "half", "denies"] {
        let told = pipe.call(writes, r#"{"name":"x"}"#).await;
        assert_eq!(told.reason(), "WRITE_REJECTED", "{}", told.answer);
        attempts += 1;
    }
    // Without an id it is no notification, whatever a server would make of it.
    for method in ["tools/call", "resources/write", "initialize", "toolgate/close"] {
        let status = pipe
            .tell(method, r#"{"name":"create_story","arguments":{"name":"x"}}"#)
            .await;
        assert_eq!(status, 400, "{method}");
    }
    let refusal = world
        .call("create_story", json!({"name": "x"}))
        .await
        .unwrap_err();
    assert_eq!((refusal.status, refusal.reason.as_str()), (403, "WRITE_REJECTED"));
    attempts += 1;
    let told = alpha.seen().notified.into_iter().map(|told| told.method);
    let told: Vec<String> = told
        .filter(|method| !method.starts_with("notifications/"))
        .collect();
    assert_eq!(told, Vec::<String>::new());
    let calls: Vec<String> = alpha.calls().into_iter().map(|(tool, _)| tool).collect();
    assert!(calls.iter().all(|tool| tool == "who_are_you"), "{calls:?}");
    let rows = world.audit_of("adapter.write_rejected").await;
    assert_eq!(rows.len(), attempts);
    assert!(
        rows.iter().all(|row| row["targetId"] == alpha.target()),
        "{:?}",
        rows.first()
    );

    // A tool that stops saying so is one that writes from then on.
    let was = WHO.replace(r#""readOnlyHint":true"#, r#""readOnlyHint":false"#);
    alpha.offers(&[&was]).await;
    admin.project_is_up("alpha", 1).await;
    let refusal = world.call("who_are_you", json!({})).await.unwrap_err();
    assert_eq!(refusal.reason, "WRITE_REJECTED");

    // An admin may open it.
    let body = json!({"config": {"access": "read_write"}});
    let opened = admin.patch("/api/fleet/projects/alpha", body).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    let told: Value = world
        .call("who_are_you", json!({}))
        .await
        .unwrap()
        .structured()
        .clone();
    assert_eq!(told["project"], "alpha");
}
