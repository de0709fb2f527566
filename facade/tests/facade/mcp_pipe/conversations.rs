//! Conversations over the pipe: how they begin, whose they are, and what is said in them both ways.

use super::*;

#[tokio::test]
async fn a_conversation_begins_with_initialize_and_is_named_from_then_on() {
    let world = World::start().await;
    *world.core.pipe.result.lock().unwrap() =
        Some(r#"{ "protocolVersion":"2025-11-25","serverInfo":{"name":"theirs"}, "x":1e400 }"#.into());
    let begun = r#"{"jsonrpc":"2.0","id":"a\u00e9","method":"initialize","params":{ "protocolVersion":"2025-11-25", "capabilities":{"x":[9007199254740993]} }}"#;
    let answer = world.pipe(&[], begun).await;
    assert_eq!(
        answer.text(),
        r#"{"jsonrpc":"2.0","id":"a\u00e9","result":{ "protocolVersion":"2025-11-25","serverInfo":{"name":"theirs"}, "x":1e400 }}"#
    );
    let session = answer.header("mcp-session-id").to_owned();
    assert_eq!(session, "2025-11-25.c0.bWFj");
    let listed = world
        .pipe(
            &[("mcp-session-id", &session)],
            request(2, "prompts/list", json!({})),
        )
        .await;
    assert_eq!(
        (listed.status.as_u16(), listed.header("mcp-session-id")),
        (200, "")
    );
    assert_eq!(listed.header("toolgate-correlation-id"), CALL_ID);
    let asked = world.core.pipe.asked.lock().unwrap().clone();
    let (before, first) = &asked[0];
    assert_eq!(
        (before, first.project.as_str(), first.stateless),
        (&None, "alpha", false)
    );
    assert_eq!(
        first.params,
        r#"{ "protocolVersion":"2025-11-25", "capabilities":{"x":[9007199254740993]} }"#
    );
    assert_eq!(asked[1].0.as_deref(), Some(session.as_str()));
    let metadata = &world.core.asked("Exchange")[1].metadata;
    assert_eq!(
        (&metadata["toolgate-facade"], &metadata["authorization"]),
        (
            &http::HeaderValue::from_static("mcp"),
            &http::HeaderValue::from_static("Bearer tgk_t_secret"),
        )
    );
}

/// As a server answers that is asked itself: a stream of one message where the client takes one. Errors are whole.
#[tokio::test]
async fn a_result_is_a_stream_where_the_client_takes_one() {
    let world = World::start().await;
    let session = world.conversation().await;
    let named = ("mcp-session-id", session.as_str());
    let ask = async |accept: &str| {
        let request = world.piped(
            &[named, ("accept", accept)],
            request(1, "prompts/list", json!({})),
        );
        client::send(world.address, request).await
    };
    let event = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    for accept in ["text/event-stream", BOTH.1] {
        let answer = ask(accept).await;
        assert_eq!(answer.header("content-type"), "text/event-stream");
        assert_eq!(answer.header("toolgate-correlation-id"), CALL_ID);
        let (priming, rest) = answer.text().split_once("\n\n").unwrap();
        assert!(priming.starts_with("id: ") && rest == event, "{}", answer.text());
    }
    assert_eq!(
        ask("application/json").await.header("content-type"),
        "application/json"
    );
}

#[tokio::test]
async fn outside_of_a_conversation_only_a_ping_is_answered() {
    let world = World::start().await;
    world.pipe(&[], request(1, "ping", json!({}))).await.result();
    assert!(world.core.asked("Exchange").is_empty());
    for body in [
        request(1, "tools/list", json!({})),
        request(1, "tools/call", json!({"name": "x"})),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.into(),
        r#"{"jsonrpc":"2.0","id":"s.1","result":{}}"#.into(),
    ] {
        world.pipe(&[], body).await.fault(400, -32600);
    }
    for verb in ["GET", "DELETE"] {
        world.ask(verb, PATH, &[], "").await.fault(400, -32600);
    }
    // Within one, the project's server is who answers.
    let session = world.conversation().await;
    *world.core.pipe.result.lock().unwrap() = Some(r#"{"theirs":1}"#.into());
    let answer = world
        .pipe(&[("mcp-session-id", &session)], request(1, "ping", json!({})))
        .await;
    assert_eq!(answer.result(), json!({"theirs": 1}));
}

/// A6: unknown, ended and other people's conversations are all the same, whatever is said in them.
#[tokio::test]
async fn a_conversation_that_is_not_the_callers_is_not_found() {
    let world = World::start().await;
    let session = world.conversation().await;
    let other = ("authorization", "Bearer tgk_t_other");
    let of = |session: &str| [("mcp-session-id", session.to_owned())];
    let bodies = [
        request(1, "tools/list", json!({})),
        request(1, "tools/call", json!({"name": "x"})),
        request(1, "ping", json!({})),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
        r#"{"jsonrpc":"2.0","id":"s.1","result":{}}"#.into(),
    ];
    for body in bodies {
        let say = async |session: &str, credential: (&str, &str)| {
            let [(name, session)] = of(session);
            let mut parts = world.piped(&[(name, &session)], body.clone());
            let value = http::HeaderValue::from_str(credential.1).unwrap();
            parts.headers_mut().insert("authorization", value);
            let answer = client::send(world.address, parts).await;
            answer.fault(404, 404);
            answer.body
        };
        let foreign = say(&session, other).await;
        let unknown = say("2025-11-25.x.bWFj", ("", "Bearer tgk_t_secret")).await;
        assert_eq!(foreign, unknown, "{body}");
    }
    let named = [("mcp-session-id", session.as_str())];
    assert_eq!(world.ask("DELETE", PATH, &named, "").await.status, 204);
    for verb in ["GET", "DELETE"] {
        world.ask(verb, PATH, &named, "").await.fault(404, 404);
    }
    world
        .pipe(&named, request(1, "tools/list", json!({})))
        .await
        .fault(404, 404);
}

#[tokio::test]
async fn what_a_server_says_and_asks_comes_before_its_answer_and_the_clients_answer_reaches_it() {
    let world = World::start().await;
    let session = world.conversation().await;
    let named = [("mcp-session-id", session.as_str())];
    let script = world.core.will_answer();
    tell(
        &script,
        says("notifications/message", r#"{ "level":"info","data":"\u00e9" }"#),
    )
    .await;
    tell(
        &script,
        says(
            "notifications/progress",
            r#"{"progressToken":9007199254740993,"progress":1.0}"#,
        ),
    )
    .await;
    tell(
        &script,
        asks(
            "r9.1",
            "sampling/createMessage",
            r#"{ "messages":[] ,"maxTokens":1e2}"#,
        ),
    )
    .await;
    let call = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":9007199254740993}}}"#;
    let mut live = world.live_pipe(&named, call).await;
    assert_eq!(live.headers["content-type"], "text/event-stream");
    let mut before = String::new();
    while data(&before).len() < 3 {
        before += &live.piece().await;
    }
    // The stream of revision 2025-11-25 begins with an id.
    assert!(before.starts_with("id: "), "{before}");
    assert_eq!(
        data(&before),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{ "level":"info","data":"\u00e9" }}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":1.0}}"#,
            r#"{"jsonrpc":"2.0","id":"r9.1","method":"sampling/createMessage","params":{ "messages":[] ,"maxTokens":1e2}}"#,
        ]
    );
    let answered = r#"{"jsonrpc":"2.0","id":"r9.1","result":{ "role":"assistant","n":9007199254740993 }}"#;
    let answer = world.pipe(&named, answered).await;
    assert_eq!((answer.status.as_u16(), answer.text()), (202, ""));
    let refused = r#"{"jsonrpc":"2.0","id":"r9.2","error":{ "code":-1, "message":"no" }}"#;
    assert_eq!(world.pipe(&named, refused).await.status, 202);
    let told = world.told();
    let check = |at: usize, id: &str, expected: client_answer::Answer| {
        let (of, tell_request::Message::Answer(answer)) = &told[at] else {
            panic!("{told:?}")
        };
        assert_eq!((of.as_deref(), answer.id.as_str()), (Some(session.as_str()), id));
        assert_eq!(answer.answer.as_ref(), Some(&expected));
    };
    check(
        0,
        "r9.1",
        client_answer::Answer::Result(r#"{ "role":"assistant","n":9007199254740993 }"#.into()),
    );
    check(
        1,
        "r9.2",
        client_answer::Answer::Error(r#"{ "code":-1, "message":"no" }"#.into()),
    );
    tell(&script, result(r#"{"content":[ ]}"#)).await;
    assert_eq!(
        data(&live.rest().await),
        [r#"{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[ ]}}"#]
    );
}

#[tokio::test]
async fn notifications_of_the_client_are_told_as_they_are() {
    let world = World::start().await;
    let session = world.conversation().await;
    let named = [("mcp-session-id", session.as_str())];
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/of_its_own","params":{ "n":1e400,"a":"\u00e9" }}"#,
    ] {
        let answer = world.pipe(&named, body).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (202, ""));
    }
    let notification = |method: &str, params: &'static str| {
        let params = params.into();
        tell_request::Message::Notification(ServerNotification {
            method: method.into(),
            params,
        })
    };
    assert_eq!(
        world.told(),
        [
            (
                Some(session.clone()),
                notification("notifications/initialized", "")
            ),
            (
                Some(session),
                notification("notifications/of_its_own", r#"{ "n":1e400,"a":"\u00e9" }"#)
            ),
        ]
    );
}

#[tokio::test]
async fn an_error_of_the_server_is_answered_as_it_is_with_the_status_of_the_revision() {
    let world = World::start().await;
    let session = world.conversation().await;
    let check = async |error: &str, status: u16| {
        let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        for is_modern in [false, true] {
            let script = world.core.will_answer();
            tell(
                &script,
                Event::Error(ExchangeError {
                    error: error.to_owned().into(),
                    correlation_id: CALL_ID.into(),
                }),
            )
            .await;
            let answer = match is_modern {
                true => modern(&world, "x/y", json!({}), &[]).await,
                false => {
                    world
                        .pipe(&[("mcp-session-id", &session)], request(1, "x/y", json!({})))
                        .await
                }
            };
            let expected_status = if is_modern { status } else { 200 };
            assert_eq!(
                (answer.status.as_u16(), answer.text()),
                (expected_status, expected.as_str())
            );
            assert_eq!(answer.header("toolgate-correlation-id"), CALL_ID);
        }
    };
    check(
        r#"{ "code":-32601,"message":"\u00e9","data":{"n":9007199254740993} }"#,
        404,
    )
    .await;
    check(r#"{"code":-32021,"message":"a capability","data":{}}"#, 400).await;
    check(r#"{"code":-32602,"message":"no"}"#, 200).await;
    check(r#"{"message":"none"}"#, 200).await;
}
