//! The newest revision over the pipe: requests that stand for themselves, and headers that say what bodies say.

use super::*;

#[tokio::test]
async fn a_request_of_the_newest_revision_stands_for_itself() {
    let world = World::start().await;
    let answer = modern(
        &world,
        "server/discover",
        json!({}),
        &[("mcp-session-id", "2025-11-25.c0.bWFj")],
    )
    .await;
    // Nothing is added: what the server leaves out is its own affair.
    assert_eq!(answer.text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(answer.header("mcp-session-id"), "");
    let (session, asked) = world.core.pipe.asked.lock().unwrap().remove(0);
    assert!(session.is_none() && asked.stateless);
    let version = [("mcp-protocol-version", MODERN)];
    for verb in ["GET", "DELETE"] {
        let answer = world.ask(verb, PATH, &version, "").await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "POST"));
    }
}

#[tokio::test]
async fn headers_of_the_newest_revision_say_what_the_body_says() {
    let world = World::start().await;
    let check = async |method: &str, params: Value, name: Option<&str>, fits: bool| {
        let name = name.map(|name| ("mcp-name", name));
        let answer = modern(&world, method, params, name.as_slice()).await;
        match fits {
            true => drop(answer.result()),
            false => drop(answer.fault(400, -32020)),
        }
    };
    for (method, member) in [
        ("tools/call", "name"),
        ("prompts/get", "name"),
        ("resources/read", "uri"),
    ] {
        check(method, json!({ member: "test://a" }), Some("test://a"), true).await;
        check(
            method,
            json!({ member: "test://a" }),
            Some("=?base64?dGVzdDovL2E=?="),
            true,
        )
        .await;
        check(method, json!({ member: "test://a" }), Some("test://b"), false).await;
        check(method, json!({ member: "test://a" }), None, false).await;
    }
    check("resources/list", json!({}), None, true).await;
    let other = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];
    let params = json!({"_meta": modern_meta()});
    world
        .pipe(&other, request(1, "prompts/list", params))
        .await
        .fault(400, -32020);
    let future = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}});
    let headers = [
        ("mcp-protocol-version", "2099-01-01"),
        ("mcp-method", "tools/list"),
    ];
    // Which revisions it speaks is the server's to say.
    world
        .pipe(&headers, request(1, "tools/list", future))
        .await
        .result();
    let session = world.conversation().await;
    let garbage = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "nonsense"),
    ];
    world
        .pipe(&garbage, request(1, "tools/list", json!({})))
        .await
        .fault(400, -32022);
}

/// Row x-mcp-header: only the gateway sees the headers, so that it says what a server would have said.
#[tokio::test]
async fn arguments_that_a_schema_wants_in_headers_say_the_same_there() {
    let world = World::start().await;
    let tools = r#"{"tools":[{"name":"t","inputSchema":{"properties":{"r":{"type":"string","x-mcp-header":"Region"},
        "o":{"properties":{"n":{"type":"integer","x-mcp-header":"Count"}}}}}}]}"#;
    let call = async |arguments: Value, headers: &[(&str, &str)], fits: bool| {
        let mut all = vec![("mcp-name", "t")];
        all.extend_from_slice(headers);
        let answer = modern(
            &world,
            "tools/call",
            json!({"name": "t", "arguments": arguments}),
            &all,
        )
        .await;
        match fits {
            true => drop(answer.result()),
            false => drop(answer.fault(400, -32020)),
        }
    };
    // Who was told of no schema is held to none.
    call(json!({"r": "eu"}), &[], true).await;
    *world.core.pipe.result.lock().unwrap() = Some(tools.into());
    modern(&world, "tools/list", json!({}), &[]).await.result();
    let region = |value: &'static str| [("mcp-param-region", value)];
    call(json!({}), &[], true).await;
    call(json!({"r": null}), &[], true).await;
    call(json!({"r": "eu"}), &region("eu"), true).await;
    call(json!({"r": "Hello"}), &region("=?base64?SGVsbG8=?="), true).await;
    call(
        json!({"r": "=?base64?SGVsbG8="}),
        &region("=?base64?SGVsbG8="),
        true,
    )
    .await;
    call(json!({"r": "Hello"}), &region("=?base64?SGVsbG8?="), false).await;
    call(json!({"r": "eu"}), &[], false).await;
    call(json!({"r": "eu"}), &region("EU"), false).await;
    call(json!({}), &region("eu"), false).await;
    call(json!({"r": "eu"}), &[region("eu")[0], region("us")[0]], false).await;
    call(json!({"o": {"n": 5}}), &[("Mcp-Param-Count", "5.0")], true).await;
    call(json!({"o": {"n": 5}}), &[("Mcp-Param-Count", "6")], false).await;
    let [even, odd] = [9_007_199_254_740_992_u64, 9_007_199_254_740_993];
    call(
        json!({"o": {"n": even}}),
        &[("Mcp-Param-Count", &odd.to_string())],
        false,
    )
    .await;
    // Another project's tool of the same name is another tool.
    let mut other = world.piped(
        &[
            ("mcp-protocol-version", MODERN),
            ("mcp-method", "tools/call"),
            ("mcp-name", "t"),
        ],
        request(
            1,
            "tools/call",
            json!({"name": "t", "arguments": {"r": "eu"}, "_meta": modern_meta()}),
        ),
    );
    *other.uri_mut() = "/mcp/project/beta".parse().unwrap();
    one(client::send(world.address, other).await).result();
}

#[tokio::test]
async fn messages_of_a_subscription_name_it_by_the_clients_id() {
    let world = World::start().await;
    let script = world.core.will_answer();
    let named = r#"{ "_meta":{"io.modelcontextprotocol/subscriptionId": "7" , "a":1e400} }"#;
    let expected = r#"{ "_meta":{"io.modelcontextprotocol/subscriptionId": "\u00e9" , "a":1e400} }"#;
    tell(&script, says("notifications/subscriptions/acknowledged", named)).await;
    tell(&script, says("notifications/tools/list_changed", "{}")).await;
    tell(&script, result(named)).await;
    let params = json!({"_meta": modern_meta(), "notifications": {}});
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":"\u00e9","method":"subscriptions/listen","params":{params}}}"#);
    let headers = [
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "subscriptions/listen"),
    ];
    let answer = world.pipe(&headers, body.clone()).await;
    assert_eq!(
        data(answer.text()),
        [
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{expected}}}"#
            ),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}"#.into(),
            format!(r#"{{"jsonrpc":"2.0","id":"\u00e9","result":{expected}}}"#),
        ]
    );
    let without_stream = [headers[0], headers[1], ("accept", "application/json")];
    world.pipe(&without_stream, body).await.fault(200, -32602);
}
