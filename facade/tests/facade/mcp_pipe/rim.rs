//! What stands around the pipe: what is no message, what is too large, who may, and readers that are slow.

use super::*;

#[tokio::test]
async fn what_is_no_message_or_too_large_reaches_nobody() {
    let world = World::start().await;
    let large = format!(r#"{{"a":"{}"}}"#, "a".repeat(1024 * 1024));
    for (body, status, code) in [
        ("[]".to_owned(), 400, -32600),
        ("{".into(), 400, -32700),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.into(),
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#.into(),
            200,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}"#.into(),
            200,
            -32602,
        ),
        (large, 413, -32600),
    ] {
        world.pipe(&[], body).await.fault(status, code);
    }
    let session = world.conversation().await;
    let no_object = r#"{"jsonrpc":"2.0","id":"r.1","result":[]}"#;
    world
        .pipe(&[("mcp-session-id", &session)], no_object)
        .await
        .fault(400, -32600);
    assert!(world.told().is_empty());
    assert_eq!(world.core.asked("Exchange").len(), 1);
}

#[tokio::test]
async fn the_pipe_has_the_rim_of_every_path() {
    let config = FacadeConfig {
        allowed_hosts: vec!["app.example".into()],
        public_url: Some("https://gate.example".into()),
        authorization_servers: vec!["https://issuer.example".into()],
        ..FacadeConfig::default()
    };
    let refusing = Failure::new(ErrorReason::CredentialInvalid, "no");
    let world = World::with(ScriptedCore::failing(refusing), config).await;
    let metadata = "/.well-known/oauth-protected-resource/mcp/project/alpha";
    let refused = modern(&world, "prompts/list", json!({}), &[]).await;
    assert!(
        refused
            .header("www-authenticate")
            .contains(&format!("https://gate.example{metadata}"))
    );
    assert_eq!(
        world.get(metadata).await.json()["resource"],
        "https://gate.example/mcp/project/alpha"
    );
    let evil = world
        .pipe(
            &[("origin", "https://evil.example")],
            request(1, "ping", json!({})),
        )
        .await;
    assert_eq!(evil.status, 403);
    let foreign = world
        .pipe(&[("host", "evil.example")], request(1, "ping", json!({})))
        .await;
    assert_eq!(foreign.status, 403);
    let preflight = world
        .ask("OPTIONS", PATH, &[("origin", "https://app.example")], "")
        .await;
    assert_eq!(preflight.status, 204);
    assert!(
        preflight
            .header("access-control-expose-headers")
            .contains("mcp-session-id")
    );
    let put = world.ask("PUT", PATH, &[], "").await;
    assert_eq!(put.status, 405);
}

/// A server that says more than its client reads waits; it costs the gateway no memory, and others nothing.
#[tokio::test]
async fn a_flood_waits_for_its_reader() {
    let world = World::start().await;
    let session = world.conversation().await;
    let named = [("mcp-session-id", session.as_str())];
    let script = world.core.will_answer();
    let live = world.live_pipe(&named, request(1, "tools/call", json!({"name": "x"})));
    let flood = async {
        let params = format!(r#"{{"x":"{}"}}"#, "a".repeat(256 * 1024));
        for sent in 0..10_000_usize {
            let room = script.send(event(says("notifications/x", &params)));
            if tokio::time::timeout(Duration::from_millis(300), room)
                .await
                .is_err()
            {
                return sent;
            }
        }
        10_000
    };
    let (live, sent) = tokio::join!(live, flood);
    assert!(sent < 1_000, "{sent} messages of 256 KiB were taken");
    world
        .pipe(&named, request(2, "prompts/list", json!({})))
        .await
        .result();
    drop(live);
}
