//! Sessions of the older revisions: whose they are, and what is left of one that is gone.

use serde_json::json;
use toolgate_contract::v1::{ErrorReason, Failure};
use toolgate_facade::FacadeConfig;

use crate::{
    core::ScriptedCore,
    mcp::{initialize, request},
    world::World,
};

fn no_session() -> Failure {
    Failure::new(
        ErrorReason::ResourceNotFound,
        "no such session; begin a new one with initialize",
    )
}

/// S1: minted by the core, told in the header.
#[tokio::test]
async fn a_beginning_opens_a_session_of_the_negotiated_revision() {
    let world = World::start().await;
    let id = world.session("2025-06-18").await;
    assert!(id.starts_with("2025-06-18."));
    assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    let asked = world.core.asked("OpenMcpSession").remove(0);
    assert!(asked.message.contains("2025-06-18"), "{}", asked.message);
    assert!(!asked.metadata.contains_key("toolgate-session"));
    // A new beginning leaves an older session alone.
    world
        .say(
            &[("mcp-session-id", &id)],
            request(2, "initialize", initialize("2025-11-25")),
        )
        .await
        .result();
    assert!(
        !world.core.asked("OpenMcpSession")[1]
            .metadata
            .contains_key("toolgate-session")
    );
}

/// A3, A6: the core sees credential and session on every message, and decides whether they belong together.
#[tokio::test]
async fn the_core_is_told_of_the_session_on_every_message() {
    let world = World::start().await;
    let id = world.session("2025-06-18").await;
    let headers = [
        ("mcp-session-id", id.as_str()),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    world.say(&headers, request(1, "ping", json!({}))).await.result();
    world
        .say(&headers, request(2, "tools/list", json!({})))
        .await
        .result();
    world
        .say(&headers, request(3, "tools/call", json!({"name": "a.b"})))
        .await
        .result();
    world
        .say(
            &headers,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )
        .await;
    let rpcs = ["GetSelf", "ListTools", "Call"];
    for asked in rpcs.iter().flat_map(|rpc| world.core.asked(rpc)) {
        assert_eq!(asked.metadata["toolgate-session"], id.as_str(), "{}", asked.rpc);
        assert_eq!(
            asked.metadata["authorization"], "Bearer tgk_t_secret",
            "{}",
            asked.rpc
        );
    }
    assert_eq!(world.core.asked("GetSelf").len(), 2);
}

/// S3, A6, reports #1, #2 and #33: unknown, ended and other people's sessions are all the same.
#[tokio::test]
async fn a_session_that_is_not_the_callers_is_not_found_whatever_is_asked() {
    let world = World::with(ScriptedCore::failing(no_session()), FacadeConfig::default()).await;
    let headers = [("mcp-session-id", "2025-06-18.someone.else")];
    let mut bodies = Vec::new();
    for (method, params) in [
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "a.b"})),
        (
            "tools/call",
            json!({"name": "a.b", "_meta": {"progressToken": 1}}),
        ),
        ("logging/setLevel", json!({"level": "info"})),
        ("no/such", json!({})),
    ] {
        let answer = world.say(&headers, request(1, method, params)).await;
        let json = answer.fault(404, 404);
        assert_eq!(
            (&json["id"], &json["error"]["data"]["reason"]),
            (&json!(1), &json!("RESOURCE_NOT_FOUND"))
        );
        bodies.push(answer.body);
    }
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]));
    let heard = world
        .say(
            &headers,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )
        .await;
    assert_eq!(heard.status, 404);
    for verb in ["GET", "DELETE"] {
        let answer = world.ask(verb, "/mcp", &headers, "").await;
        answer.fault(404, 404);
    }
}

/// Report #34: a failure that is not about the session stays a result, session or not.
#[tokio::test]
async fn without_a_session_a_missing_resource_is_the_calls_own_failure() {
    let world = World::with(ScriptedCore::failing(no_session()), FacadeConfig::default()).await;
    let answer = world
        .say(&[], request(1, "tools/call", json!({"name": "a.b"})))
        .await;
    assert_eq!(answer.result()["isError"], true);
}

/// S4: 204, because some clients take 202 for a failure.
#[tokio::test]
async fn a_session_is_ended_by_delete() {
    let world = World::start().await;
    let id = world.session("2025-11-25").await;
    let answer = world.ask("DELETE", "/mcp", &[("mcp-session-id", &id)], "").await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (204, 0));
    let asked = world.core.asked("CloseMcpSession").remove(0);
    assert!(asked.message.contains(&id));
    assert_eq!(asked.metadata["toolgate-session"], id.as_str());
    // S2: which session ends has to be said.
    world.ask("DELETE", "/mcp", &[], "").await.fault(400, -32600);
}

#[tokio::test]
async fn an_id_that_is_no_visible_text_is_refused() {
    let world = World::start().await;
    let long = "a".repeat(2000);
    for id in ["a b", "", "caf\u{e9}", long.as_str()] {
        let answer = world
            .say(&[("mcp-session-id", id)], request(1, "ping", json!({})))
            .await;
        assert_eq!(answer.status, 400, "{id}");
    }
    let twice = [("mcp-session-id", "a"), ("mcp-session-id", "b")];
    assert_eq!(world.say(&twice, request(1, "ping", json!({}))).await.status, 400);
    assert!(world.core.asked("GetSelf").is_empty());
}

/// Report #13 of two eras at once, and the revision without sessions.
#[tokio::test]
async fn the_newest_revision_takes_no_notice_of_sessions() {
    let world = World::start().await;
    let mut request = world.modern_request("tools/call", json!({"name": "a.b"}));
    request
        .headers_mut()
        .insert("mcp-session-id", "2025-11-25.a.b".parse().unwrap());
    request
        .headers_mut()
        .insert("last-event-id", "7".parse().unwrap());
    let answer = crate::client::send(world.address, request).await;
    answer.result();
    assert!(answer.header("mcp-session-id").is_empty());
    assert!(
        !world.core.asked("Call")[0]
            .metadata
            .contains_key("toolgate-session")
    );
}

/// S2, and report #4: no session is required, so a client that forgets its own is served as one without.
#[tokio::test]
async fn a_call_without_the_session_that_was_begun_is_a_call_of_no_session() {
    let world = World::start().await;
    world.session("2025-06-18").await;
    world
        .say(&[], request(1, "tools/call", json!({"name": "a.b"})))
        .await
        .result();
    assert!(
        !world.core.asked("Call")[0]
            .metadata
            .contains_key("toolgate-session")
    );
}

/// Rows LC1 and S1 under a profile of the address.
#[tokio::test]
async fn a_session_can_begin_under_a_profile() {
    let world = World::start().await;
    let answer = world
        .ask(
            "POST",
            "/mcp/p/hosts",
            &[],
            request(1, "initialize", initialize("2025-06-18")),
        )
        .await;
    assert_eq!(answer.result()["protocolVersion"], "2025-06-18");
    assert_eq!(
        world.core.asked("OpenMcpSession")[0].metadata["toolgate-profile"],
        "hosts"
    );
}
