//! Streamable HTTP: verbs, forms of answers, revisions in headers, and what is refused before anything is carried out.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_contract::v1::ErrorReason;
use toolgate_facade::FacadeConfig;

use crate::{
    core::ScriptedCore,
    mcp::{BOTH, MODERN, events, request},
    world::World,
};

fn ping() -> String {
    request(1, "ping", json!({}))
}

/// JR4, and what is no message at all: refused with the code that says why, and nothing is carried out.
#[tokio::test]
async fn what_is_no_message_is_refused_and_nothing_is_carried_out() {
    let world = World::start().await;
    let check = async |body: &str, code: i64| {
        let answer = world.say(&[], body.to_owned()).await;
        answer.fault(400, code);
    };
    let call = request(1, "tools/call", json!({"name": "a.b"}));
    for unparseable in [
        "",
        " ",
        "{",
        "{]",
        "nonsense",
        "{\"a\":1}}",
        "\u{feff}{}",
        &call[1..],
        "{'a':1}",
    ] {
        check(unparseable, -32700).await;
    }
    for batch in [
        format!("[{call}]"),
        format!("[{call},{call}]"),
        "[]".into(),
        "[1]".into(),
    ] {
        check(&batch, -32600).await;
    }
    for no_message in [
        "{}",
        "1",
        "null",
        "\"text\"",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a\nb"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":[1]}"#,
    ] {
        check(no_message, -32600).await;
    }
    for asked in ["Call", "Run", "GetSelf", "ListTools"] {
        assert!(world.core.asked(asked).is_empty(), "{asked}");
    }
}

/// The parser differentials of `security.md` §3: what two readers could see differently is refused.
#[tokio::test]
async fn a_message_that_two_readers_could_see_differently_is_refused() {
    let world = World::start().await;
    let check = async |body: String, code: i64| {
        let answer = world.say(&[], body.clone()).await;
        assert_eq!(answer.json()["error"]["code"], code, "{body}");
    };
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    for member in [
        r#""method":"ping""#,
        r#""Method":"ping""#,
        r#""METHOD":"ping""#,
        r#""method\u0000":"ping""#,
        r#""\u006dethod":"ping""#,
        r#""ſethod":"ping""#,
        r#""id":2"#,
        r#""Id":2"#,
        r#""jsonrpc":"2.0""#,
        r#""extra":1"#,
        r#""params":{}"#,
    ] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a.b"}},{member}}}"#);
        check(body, -32600).await;
    }
    for params in [
        r#"{"name":"a.b","name":"c.d"}"#,
        r#"{"name":"a.b","Name":"c.d"}"#,
        r#"{"name":"a.b","NAME":"c.d"}"#,
        r#"{"name":"a.b","name\u0000":"c.d"}"#,
        r#"{"name":"a.b","arguments":{},"arguments":{}}"#,
        r#"{"name":"a.b","Arguments":{}}"#,
        r#"{"name":"a.b","_meta":{"progressToken":1,"progressToken":2}}"#,
        r#"{"name":"a.b","_meta":{"ProgressToken":1}}"#,
        r#"{"name":"a.b","x":1,"x":1}"#,
        r#"{"name":7}"#,
        r#"{"arguments":{}}"#,
        r#"{"name":"a.b","arguments":[]}"#,
        r#"{"name":"a.b","arguments":"x"}"#,
        r#"{"name":"a.b","_meta":[]}"#,
        "[]",
        "7",
    ] {
        check(call(params), -32602).await;
    }
    assert!(world.core.asked("Call").is_empty());
}

#[tokio::test]
async fn bodies_are_bounded_in_size_depth_and_number_before_they_are_parsed() {
    let world = World::start().await;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a.b","arguments":{arguments}}}}}"#
        )
    };
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    world.say(&[], call(&nested(64))).await.result();
    world.say(&[], call(&nested(65))).await.fault(400, -32600);
    world.say(&[], "[".repeat(900_000)).await.fault(400, -32600);
    let many = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(11_000));
    world.say(&[], call(&many)).await.fault(400, -32600);
    let large = format!(r#"{{"a":"{}"}}"#, "a".repeat(1024 * 1024));
    world.say(&[], call(&large)).await.fault(413, -32600);
    assert_eq!(world.core.asked("Call").len(), 1);
}

/// The record counts what the facade refuses by itself, as it does in the other dialects.
#[tokio::test]
async fn refusals_of_the_facade_are_reported_to_the_record() {
    let world = World::start().await;
    world.say(&[], "[]").await.fault(400, -32600);
    world
        .say(&[], request(1, "tools/call", json!({})))
        .await
        .fault(200, -32602);
    let mut refused = world.core.refused.subscribe();
    let wait = refused.wait_for(|refused| refused.len() >= 2);
    tokio::time::timeout(Duration::from_secs(10), wait)
        .await
        .unwrap()
        .unwrap();
    let refused = world.core.refused.borrow().clone();
    for (reason, told) in &refused {
        assert_eq!(*reason, ErrorReason::RequestMalformed);
        assert_eq!(told["toolgate-facade"], "mcp");
        assert_eq!(told["authorization"], "Bearer tgk_t_secret");
    }
}

/// H1, H7 without a session, and report #9: no verb meets a 404.
#[tokio::test]
async fn other_verbs_are_told_which_ones_there_are() {
    let world = World::start().await;
    // With a slash at the end it is what people type by mistake.
    for path in ["/mcp", "/mcp/p/hosts", "/mcp/"] {
        for verb in ["PUT", "PATCH", "TRACE"] {
            let answer = world.ask(verb, path, &[], "").await;
            assert_eq!(answer.status, 405, "{verb}");
            for allowed in ["GET", "POST", "DELETE"] {
                assert!(
                    answer.header("allow").contains(allowed),
                    "{verb}: {}",
                    answer.header("allow")
                );
            }
        }
        let answer = world
            .ask("GET", path, &[("accept", "text/event-stream")], "")
            .await;
        assert_eq!((answer.status.as_u16(), answer.header("allow")), (405, "POST"));
    }
    assert_eq!(world.ask("POST", "/mcp/", &[], ping()).await.status, 200);
    for path in ["/mcp//", "/mcp/p/", "/mcp/x", "/MCP"] {
        assert_eq!(world.ask("POST", path, &[], ping()).await.status, 404, "{path}");
    }
}

/// H2, H4, and report #30: whoever takes JSON gets it, and whoever says nothing does so too.
#[tokio::test]
async fn the_form_of_an_answer_is_one_that_the_client_takes() {
    let world = World::start().await;
    let check = async |accept: &str, expected: &str| {
        let answer = world.say(&[("accept", accept)], ping()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, expected),
            "{accept}"
        );
        let json = match expected {
            "application/json" => answer.json(),
            _ => events(answer.text()).remove(0),
        };
        assert_eq!(json, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    };
    check("application/json, text/event-stream", "application/json").await;
    check("text/event-stream, application/json", "application/json").await;
    check("application/json", "application/json").await;
    check("*/*", "application/json").await;
    check("text/html", "application/json").await;
    check("", "application/json").await;
    check("text/event-stream", "text/event-stream").await;
    check("Text/Event-Stream; charset=utf-8", "text/event-stream").await;
    check("text/event-stream;q=0, application/json", "application/json").await;
    let bare = world.ask("POST", "/mcp", &[], ping()).await;
    assert_eq!(bare.header("content-type"), "application/json");
}

/// JR2, H3, and report #25: what wants no answer gets none.
#[tokio::test]
async fn a_notification_or_a_response_is_accepted_without_a_body() {
    let world = World::start().await;
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows"}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"4","error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
    ] {
        let answer = world.say(&[], message).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0), "{message}");
    }
    // Each was looked at: a message without an answer is no way around the credential (row A3).
    assert_eq!(world.core.asked("GetSelf").len(), 7);
    for wrong in [
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":7}"#,
    ] {
        world.say(&[], wrong).await.fault(400, -32600);
    }
}

/// V1, and report #16.
#[tokio::test]
async fn a_revision_that_is_not_spoken_is_refused_in_the_header() {
    let world = World::start().await;
    for revision in [
        "1999-01-01",
        "2025-06-19",
        "v999.0.0",
        "nonsense",
        "2025-06-18,2025-06-18",
    ] {
        let headers = [
            ("mcp-protocol-version", revision),
            ("mcp-session-id", "2025-06-18.a.b"),
        ];
        let answer = world.say(&headers, ping()).await.fault(400, -32022);
        assert_eq!(answer["id"], 1);
        assert_eq!(answer["error"]["data"]["requested"], revision);
        assert_eq!(answer["error"]["data"]["supported"][0], MODERN);
        for verb in ["GET", "DELETE"] {
            let answer = world.ask(verb, "/mcp", &headers, "").await;
            assert_eq!(answer.status, 400, "{verb}");
        }
    }
    for odd in ["", "2025 06 18"] {
        world
            .say(&[("mcp-protocol-version", odd)], ping())
            .await
            .fault(400, -32600);
    }
    let twice = [
        ("mcp-protocol-version", "2025-06-18"),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    assert_eq!(world.say(&twice, ping()).await.status, 400);
    assert!(world.core.asked("GetSelf").is_empty());
}

/// V2.
#[tokio::test]
async fn whoever_names_no_revision_is_served() {
    let world = World::start().await;
    world.say(&[], ping()).await.result();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        world
            .say(&[("mcp-protocol-version", revision)], ping())
            .await
            .result();
    }
}

/// O1, and the matrix of `security.md` §3: foreign origins are refused before anything is read.
#[tokio::test]
async fn a_foreign_origin_or_host_is_refused_before_the_message_is_read() {
    let world = World::with(
        ScriptedCore::new(),
        FacadeConfig {
            allowed_hosts: vec!["gate.example".into()],
            ..FacadeConfig::default()
        },
    )
    .await;
    let port = world.address.port();
    let ours = format!("http://127.0.0.1:{port}");
    let check = async |headers: &[(&str, &str)], expected: u16| {
        assert_eq!(world.say(headers, ping()).await.status, expected, "{headers:?}");
    };
    check(&[], 200).await;
    check(&[("origin", &ours)], 200).await;
    check(&[("origin", "https://gate.example")], 200).await;
    for origin in [
        "http://evil.example",
        "null",
        "https://gate.example.evil",
        "file://",
        "",
    ] {
        check(&[("origin", origin)], 403).await;
        for verb in ["GET", "DELETE", "OPTIONS"] {
            assert_eq!(
                world.ask(verb, "/mcp", &[("origin", origin)], "").await.status,
                403
            );
        }
    }
    check(&[("host", "evil.example")], 403).await;
    assert_eq!(world.core.asked("GetSelf").len(), 3);
}

/// Report #41.
#[tokio::test]
async fn a_page_of_an_origin_that_is_served_may_send_and_read_what_the_protocol_does() {
    let world = World::with(
        ScriptedCore::new(),
        FacadeConfig {
            allowed_hosts: vec!["gate.example".into()],
            ..FacadeConfig::default()
        },
    )
    .await;
    let origin = ("origin", "https://gate.example");
    let preflight = world.ask("OPTIONS", "/mcp", &[origin], "").await;
    assert_eq!(preflight.status, 204);
    for header in [
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "authorization",
    ] {
        assert!(
            preflight.header("access-control-allow-headers").contains(header),
            "{header}"
        );
    }
    assert_eq!(
        preflight.header("access-control-allow-methods"),
        "GET, POST, DELETE"
    );
    let begun = world
        .say(
            &[origin],
            request(1, "initialize", crate::mcp::initialize("2025-06-18")),
        )
        .await;
    assert_eq!(
        begun.header("access-control-allow-origin"),
        "https://gate.example"
    );
    assert!(
        begun
            .header("access-control-expose-headers")
            .contains("mcp-session-id")
    );
    assert!(begun.header("access-control-allow-credentials").is_empty());
    let plain = world.say(&[], ping()).await;
    assert!(plain.header("access-control-allow-origin").is_empty());
    assert_eq!(world.ask("OPTIONS", "/mcp", &[], "").await.status, 405);
}

/// A4: a token in the address is no token.
#[tokio::test]
async fn a_token_in_the_address_is_not_read() {
    let world = World::start().await;
    let body = request(1, "tools/call", json!({"name": "a.b"}));
    let bytes = format!(
        "POST /mcp?access_token=tgk_t_secret HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        world.address,
        body.len()
    );
    world.raw(bytes).await;
    let call = world.core.asked("Call").remove(0);
    assert!(call.metadata.get("authorization").is_none());
}

#[tokio::test]
async fn the_core_hears_the_dialect_and_the_profile_of_the_address() {
    let world = World::start().await;
    let body = request(1, "tools/call", json!({"name": "a.b"}));
    world
        .ask("POST", "/mcp/p/agent-hosts", &[BOTH], body.clone())
        .await
        .result();
    world
        .ask(
            "POST",
            "/mcp",
            &[BOTH, ("toolgate-profile", "hosts")],
            body.clone(),
        )
        .await
        .result();
    // The address takes the place of the header.
    world
        .ask(
            "POST",
            "/mcp/p/a%2Db",
            &[BOTH, ("toolgate-profile", "hosts")],
            body,
        )
        .await
        .result();
    let told: Vec<_> = world
        .core
        .asked("Call")
        .into_iter()
        .map(|asked| {
            assert_eq!(asked.metadata["toolgate-facade"], "mcp");
            asked.metadata["toolgate-profile"].to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(told, ["agent-hosts", "hosts", "a-b"]);
    let odd = world.ask("POST", "/mcp/p/a%0Ab", &[BOTH], ping()).await;
    assert_eq!(odd.status, 400, "{:?}", odd.body);
}

/// A method of the older revisions that there is none of is an error HTTP knows nothing of.
#[tokio::test]
async fn an_unknown_method_is_told_by_its_code() {
    let world = World::start().await;
    for method in [
        "resources/list",
        "prompts/get",
        "server/discover",
        "subscriptions/listen",
        "tools/Call",
    ] {
        let answer = world.say(&[], request(5, method, Value::Null)).await;
        // Parameters of null are no object.
        answer.fault(200, -32602);
        let answer = world
            .say(&[], request(5, method, json!({})))
            .await
            .fault(200, -32601);
        assert_eq!(answer["id"], 5);
    }
}
