//! Revision 2026-07-28: every request stands for itself, and its headers say what its body says.

use data_encoding::BASE64;
use http::HeaderValue;
use serde_json::{Value, json};

use crate::{
    client::{self, Answer},
    mcp::{BOTH, MODERN, events, initialize, modern_meta, request},
    world::World,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn without(key: &str) -> Value {
    let mut meta = modern_meta();
    meta.as_object_mut().unwrap().remove(key);
    meta
}

/// Posts a request whose headers are given one by one.
async fn raw(world: &World, headers: &[(&str, &str)], method: &str, params: Value) -> Answer {
    let mut all = vec![BOTH];
    all.extend_from_slice(headers);
    client::send(
        world.address,
        world.request("POST", "/mcp", &all, request(1, method, params)),
    )
    .await
}

fn told(method: &'static str) -> [(&'static str, &'static str); 2] {
    [("mcp-protocol-version", MODERN), ("mcp-method", method)]
}

/// §1.2 discover.
#[tokio::test]
async fn a_client_discovers_what_there_is_before_it_asks_for_it() {
    let world = World::start().await;
    let result = world.modern("server/discover", json!({})).await.result();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["supportedVersions"],
        json!([
            "2026-07-28",
            "2025-11-25",
            "2025-06-18",
            "2025-03-26",
            "2024-11-05"
        ])
    );
    assert_eq!(result["capabilities"], json!({"tools": {"listChanged": true}}));
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].as_u64().is_some());
    assert!(result["instructions"].as_str().is_some());
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({"name": "toolgate", "title": "Toolgate", "version": env!("CARGO_PKG_VERSION")})
    );
    assert_eq!(world.core.asked("GetSelf").len(), 1);
}

/// §1.2 lifecycle: what each request has to say of itself.
#[tokio::test]
async fn a_request_says_its_revision_and_what_its_client_can() {
    let world = World::start().await;
    let check = async |params: Value, status: u16| {
        let answer = raw(
            &world,
            &told("server/discover"),
            "server/discover",
            params.clone(),
        )
        .await;
        match status {
            200 => drop(answer.result()),
            _ => drop(answer.fault(status, -32602)),
        }
        assert_eq!(answer.json()["id"], 1, "{params}");
    };
    check(json!({}), 400).await;
    check(json!({"_meta": {}}), 400).await;
    check(json!({"_meta": without(VERSION)}), 400).await;
    check(json!({"_meta": without(CAPABILITIES)}), 400).await;
    check(
        json!({"_meta": without("io.modelcontextprotocol/clientInfo")}),
        200,
    )
    .await;
    let mut odd = modern_meta();
    odd[CAPABILITIES] = json!([]);
    check(json!({"_meta": odd}), 400).await;
    let mut odd = modern_meta();
    odd[VERSION] = json!(20_260_728);
    check(json!({"_meta": odd}), 400).await;
}

/// §1.2 version.
#[tokio::test]
async fn a_revision_that_is_not_spoken_is_answered_with_those_that_are() {
    let world = World::start().await;
    for revision in ["v999.0.0", "2025-11-25", "2026-07-29", ""] {
        let mut meta = modern_meta();
        meta[VERSION] = json!(revision);
        let headers = [
            ("mcp-protocol-version", revision),
            ("mcp-method", "server/discover"),
        ];
        let answer = raw(&world, &headers, "server/discover", json!({"_meta": meta})).await;
        if revision.is_empty() {
            // A header of nothing is no header that can be read.
            assert_eq!(answer.status, 400);
            continue;
        }
        let error = answer.fault(400, -32022);
        assert_eq!(error["id"], 1);
        assert_eq!(error["error"]["data"]["requested"], revision);
        assert_eq!(error["error"]["data"]["supported"][0], MODERN);
    }
}

/// §1.2 headers, and report #10.
#[tokio::test]
async fn headers_that_are_missing_or_differ_from_the_body_are_refused() {
    let world = World::start().await;
    let params = || json!({"name": "a_b", "_meta": modern_meta()});
    let check = async |headers: &[(&str, &str)], agrees: bool| {
        let answer = raw(&world, headers, "tools/call", params()).await;
        match agrees {
            true => drop(answer.result()),
            false => {
                assert_eq!(answer.fault(400, -32020)["id"], 1, "{headers:?}");
            }
        }
    };
    let version = ("mcp-protocol-version", MODERN);
    let method = ("mcp-method", "tools/call");
    let name = ("mcp-name", "a_b");
    check(&[version, method, name], true).await;
    check(
        &[
            ("MCP-PROTOCOL-VERSION", MODERN),
            ("Mcp-Method", "tools/call"),
            ("MCP-Name", "a_b"),
        ],
        true,
    )
    .await;
    check(
        &[version, ("mcp-method", "  tools/call "), ("mcp-name", "\ta_b")],
        true,
    )
    .await;
    check(&[version, method, ("mcp-name", "=?base64?YV9i?=")], true).await;
    check(&[method, name], false).await;
    check(&[version, name], false).await;
    check(&[version, method], false).await;
    check(&[("mcp-protocol-version", "2025-11-25"), method, name], false).await;
    check(&[version, ("mcp-method", "TOOLS/CALL"), name], false).await;
    check(&[version, ("mcp-method", "tools/list"), name], false).await;
    check(&[version, method, ("mcp-name", "A_B")], false).await;
    check(&[version, method, ("mcp-name", "a.b")], false).await;
    check(&[version, method, ("mcp-name", "")], false).await;
    check(&[version, method, ("mcp-name", "=?base64?YV9i")], false).await;
    check(&[version, method, ("mcp-name", "=?base64?YV9?=")], false).await;
    // Which of two is meant nobody knows, so the body is not read at all.
    for twice in [[version, method, name, name], [version, method, method, name]] {
        raw(&world, &twice, "tools/call", params())
            .await
            .fault(400, -32020);
    }
    assert_eq!(world.core.asked("Call").len(), 4);
    let body = request(1, "tools/call", params());
    let mut odd = world.request("POST", "/mcp", &[version, method, BOTH], body);
    odd.headers_mut()
        .insert("mcp-name", HeaderValue::from_bytes(b"a\xe9b").unwrap());
    client::send(world.address, odd).await.fault(400, -32020);
}

/// Names that are no ASCII travel wrapped.
#[tokio::test]
async fn a_name_of_any_letters_is_compared_unwrapped() {
    let world = World::start().await;
    let name = "größe 🚪";
    let wrapped = format!("=?base64?{}?=", BASE64.encode(name.as_bytes()));
    let headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", wrapped.as_str()),
    ];
    raw(
        &world,
        &headers,
        "tools/call",
        json!({"name": name, "_meta": modern_meta()}),
    )
    .await
    .result();
    assert!(world.core.asked("Call")[0].message.contains("größe"));
}

/// The mismatch is looked at before the revision is.
#[tokio::test]
async fn a_difference_is_told_before_anything_else() {
    let world = World::start().await;
    let mut meta = modern_meta();
    meta[VERSION] = json!("v999.0.0");
    raw(
        &world,
        &told("server/discover"),
        "server/discover",
        json!({"_meta": meta}),
    )
    .await
    .fault(400, -32020);
}

/// §1.2 unknown method and removed.
#[tokio::test]
async fn methods_that_are_gone_or_were_never_there_are_not_found() {
    let world = World::start().await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "resources/read",
        "prompts/list",
        "completion/complete",
        "unknown/method",
        "Tools/list",
    ] {
        let answer = world.modern(method, initialize(MODERN)).await;
        assert_eq!(answer.fault(404, -32601)["id"], 1, "{method}");
    }
}

/// Report #13: an `initialize` without a word of the newest revision in `_meta` is of the older ones.
#[tokio::test]
async fn a_beginning_belongs_to_the_older_revisions_unless_it_says_otherwise() {
    let world = World::start().await;
    let answer = raw(
        &world,
        &[("mcp-protocol-version", MODERN)],
        "initialize",
        initialize(MODERN),
    )
    .await;
    assert_eq!(answer.result()["protocolVersion"], "2025-11-25");
    let mut params = initialize(MODERN);
    params["_meta"] = modern_meta();
    raw(&world, &[], "initialize", params).await.fault(400, -32020);
}

/// §1.2 streams: no verb but POST, and nothing that only the older revisions have.
#[tokio::test]
async fn there_is_no_stream_and_no_session_to_get_or_end() {
    let world = World::start().await;
    for verb in ["GET", "DELETE"] {
        let headers = [
            ("mcp-protocol-version", MODERN),
            ("mcp-session-id", "2025-11-25.a.b"),
        ];
        let answer = world.ask(verb, "/mcp", &headers, "").await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("allow")),
            (405, "POST"),
            "{verb}"
        );
    }
    let heard = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        .to_string();
    let headers = |method| [BOTH, ("mcp-protocol-version", MODERN), ("mcp-method", method)];
    let answer = world
        .say(&headers("notifications/cancelled"), heard.clone())
        .await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    world
        .say(&headers("notifications/other"), heard)
        .await
        .fault(400, -32020);
    let answered = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    world.say(&headers("x"), answered).await.fault(400, -32600);
}

/// §1.2 results and logging: complete, signed, and silent unless this very request asked.
#[tokio::test]
async fn a_call_tells_only_what_its_own_request_asked_for() {
    let world = World::start().await;
    let result = world.modern("tools/call", json!({"name": "a_b"})).await.result();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "toolgate"
    );
    assert_eq!(world.core.asked("Run").len(), 0);

    let level = json!({"io.modelcontextprotocol/logLevel": "notice"});
    world
        .modern("tools/call", json!({"name": "a_b", "_meta": level}))
        .await
        .result();
    let asked = world.core.asked("Run").remove(0);
    assert!(asked.message.contains("Some(\"notice\")") && asked.message.contains("progress: false"));

    let level = json!({"io.modelcontextprotocol/logLevel": "loud"});
    let answer = world
        .modern("tools/call", json!({"name": "a_b", "_meta": level}))
        .await;
    assert_eq!(answer.json()["error"]["code"], -32602);

    // No level of a session is anybody's here.
    let id = world.session("2025-11-25").await;
    let set = request(1, "logging/setLevel", json!({"level": "debug"}));
    world.say(&[("mcp-session-id", &id)], set).await.result();
    let mut call = world.modern_request("tools/call", json!({"name": "a_b"}));
    call.headers_mut().insert("mcp-session-id", id.parse().unwrap());
    client::send(world.address, call).await.result();
    assert_eq!(world.core.asked("Run").len(), 1);
}

/// §1.2 cancel: closing the stream is the cancel; an equal id of the older revisions is another request.
#[tokio::test]
async fn a_request_is_taken_back_by_closing_it() {
    let world = World::start().await;
    world.core.hang.send_replace(true);
    let call = world.modern_request("tools/call", json!({"name": "a_b"}));
    let running = tokio::spawn(client::send(world.address, call));
    world.core.until_open(1).await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(world.say(&[], cancel).await.status, 202);
    assert_eq!(*world.core.open.borrow(), 1);
    running.abort();
    world.core.until_open(0).await;
}

/// Streams of this revision begin with a message: an empty event would be counted as one.
#[tokio::test]
async fn a_stream_of_a_call_has_its_messages_and_nothing_else() {
    use toolgate_contract::v1::{CallProgress, RunResponse, run_response::Event};
    let world = World::start().await;
    let (tell, runs) = tokio::sync::mpsc::channel(8);
    world.core.runs.lock().unwrap().push_back(runs);
    let half = Event::Progress(CallProgress {
        progress: 0.5,
        total: Some(1.0),
        message: Some("half\n\"way\"".into()),
    });
    let done = Event::Outcome(world.core.result.lock().unwrap().clone());
    for event in [half, done] {
        tell.send(Ok(RunResponse { event: Some(event) })).await.unwrap();
    }
    let meta = json!({"progressToken": "progress-test-1"});
    let answer = world
        .modern("tools/call", json!({"name": "a_b", "_meta": meta}))
        .await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert!(
        answer.text().starts_with("event: message\ndata: {"),
        "{}",
        answer.text()
    );
    let said = events(answer.text());
    assert_eq!(
        said[0],
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
            {"progressToken": "progress-test-1", "progress": 0.5, "total": 1, "message": "half\n\"way\""}})
    );
    assert_eq!(said[1]["result"]["resultType"], "complete");
}
