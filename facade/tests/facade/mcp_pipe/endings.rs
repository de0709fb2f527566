//! How requests over the pipe end: taken back, left, answered without a stream, failed.

use super::*;

#[tokio::test]
async fn a_request_that_is_taken_back_is_dropped_and_only_that_one() {
    let world = World::start().await;
    let (first, second) = (world.conversation().await, world.conversation().await);
    world.core.until_open(0).await;
    let ask = |session: &str| {
        let script = world.core.will_answer();
        let named = [("mcp-session-id", session), ("accept", "application/json")];
        let request = world.piped(&named, request(7, "tools/call", json!({"name": "x"})));
        (script, tokio::spawn(client::send(world.address, request)))
    };
    let (_kept, mine) = ask(&first);
    world.core.until_open(1).await;
    let (others_script, others) = ask(&second);
    world.core.until_open(2).await;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let cancel = async |session: &str| world.pipe(&[("mcp-session-id", session)], cancelled).await.status;
    assert_eq!(cancel(&first).await, 202);
    let answer = mine.await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.text()), (202, ""));
    world.core.until_open(1).await;
    assert!(world.told().is_empty(), "the end of the request is what tells it");
    tell(&others_script, result("{}")).await;
    others.await.unwrap().result();
}

#[tokio::test]
async fn a_client_who_leaves_takes_its_request_back() {
    let world = World::start().await;
    let session = world.conversation().await;
    world.core.until_open(0).await;
    let script = world.core.will_answer();
    tell(&script, says("notifications/x", "{}")).await;
    let named = [("mcp-session-id", session.as_str())];
    let mut live = world
        .live_pipe(&named, request(1, "tools/call", json!({"name": "x"})))
        .await;
    live.piece().await;
    world.core.until_open(1).await;
    drop(live);
    world.core.until_open(0).await;
    let stream = world
        .live(PATH, &[named[0], ("accept", "text/event-stream")])
        .await;
    world.core.until_open(1).await;
    drop(stream);
    world.core.until_open(0).await;
}

#[tokio::test]
async fn a_client_that_takes_no_stream_hears_the_answer_and_is_asked_elsewhere_or_not_at_all() {
    let world = World::start().await;
    let session = world.conversation().await;
    let named = [
        ("mcp-session-id", session.as_str()),
        ("accept", "application/json"),
    ];
    let run = async |id: &str| {
        let script = world.core.will_answer();
        tell(&script, says("notifications/message", "{}")).await;
        tell(&script, asks(id, "roots/list", "")).await;
        tell(&script, result(r#"{"a":1}"#)).await;
        let answer = world
            .pipe(&named, request(1, "tools/call", json!({"name": "x"})))
            .await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.text(), r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#);
    };
    run("r.1").await;
    let told = world.told();
    let (_, tell_request::Message::Answer(answer)) = &told[0] else {
        panic!("{told:?}")
    };
    assert_eq!(answer.id, "r.1");
    assert!(matches!(answer.answer, Some(client_answer::Answer::Error(_))));
    let mut stream = world
        .live(PATH, &[named[0], ("accept", "text/event-stream")])
        .await;
    run("r.2").await;
    assert_eq!(
        data(&stream.piece().await),
        [r#"{"jsonrpc":"2.0","id":"r.2","method":"roots/list"}"#]
    );
    assert_eq!(world.told().len(), 1);
}

#[tokio::test]
async fn two_conversations_side_by_side_hear_each_their_own() {
    let world = World::start().await;
    let sessions = [world.conversation().await, world.conversation().await];
    assert_ne!(sessions[0], sessions[1]);
    let mut streams = Vec::new();
    for (n, session) in sessions.iter().enumerate() {
        let script = world.core.will_say();
        let stream = world
            .live(
                PATH,
                &[("mcp-session-id", session), ("accept", "text/event-stream")],
            )
            .await;
        assert_eq!(
            (stream.status.as_u16(), stream.headers["cache-control"].as_bytes()),
            (200, &b"no-store"[..])
        );
        let notification = ServerNotification {
            method: "notifications/x".into(),
            params: format!("{{ \"n\":{n} }}").into(),
        };
        let asked = ServerRequest {
            id: format!("r.{n}"),
            method: "ping".into(),
            params: Bytes::new(),
        };
        for message in [
            listen_response::Message::Notification(notification),
            listen_response::Message::Request(asked),
        ] {
            script
                .send(Ok(ListenResponse {
                    message: Some(message),
                }))
                .await
                .unwrap();
        }
        streams.push((stream, script));
    }
    for (n, (mut stream, script)) in streams.into_iter().enumerate() {
        drop(script);
        assert_eq!(
            data(&stream.rest().await),
            [
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{ "n":{n} }}}}"#),
                format!(r#"{{"jsonrpc":"2.0","id":"r.{n}","method":"ping"}}"#),
            ]
        );
    }
}

#[tokio::test]
async fn failures_of_the_gateway_are_told_as_everywhere() {
    let check =
        async |reason: ErrorReason, expected: Result<&str, (u16, i64)>, of_call: Result<&str, (u16, i64)>| {
            let world = World::with(
                ScriptedCore::failing(Failure::new(reason, "why it is so")),
                FacadeConfig::default(),
            )
            .await;
            for (method, expected) in [("prompts/list", &expected), ("tools/call", &of_call)] {
                let answer = modern(&world, method, json!({"name": "x"}), &[("mcp-name", "x")]).await;
                match expected {
                    Ok(name) => {
                        let result = answer.result();
                        assert_eq!(
                            (&result["isError"], &result["_meta"]["toolgate/reason"]),
                            (&json!(true), &json!(name))
                        );
                    }
                    Err((status, code)) => drop(answer.fault(*status, *code)),
                }
            }
            let begun = world
                .pipe(&[], request(0, "initialize", initialize("2025-11-25")))
                .await;
            let Err((status, code)) = expected else {
                panic!("a method has no result that is an error")
            };
            begun.fault(status, code);
        };
    use ErrorReason as R;
    check(R::ProjectNotFound, Err((200, -32602)), Err((200, -32602))).await;
    check(R::ProjectOffline, Err((200, -32603)), Err((200, -32603))).await;
    check(R::CredentialInvalid, Err((401, 401)), Err((401, 401))).await;
    check(R::RoleForbidden, Err((403, 403)), Ok("ROLE_FORBIDDEN")).await;
    check(R::WriteRejected, Err((403, 403)), Ok("WRITE_REJECTED")).await;
    check(R::ToolNotFound, Err((200, -32602)), Err((200, -32602))).await;
    check(R::RateLimited, Err((429, 429)), Ok("RATE_LIMITED")).await;
    check(R::Internal, Err((200, -32603)), Err((200, -32603))).await;
}

#[tokio::test]
async fn a_server_that_ends_before_its_answer_is_a_failure_also_within_a_stream() {
    let world = World::start().await;
    let session = world.conversation().await;
    let named = [("mcp-session-id", session.as_str())];
    for after_a_word in [false, true] {
        let script = world.core.will_answer();
        if after_a_word {
            tell(&script, says("notifications/x", "{}")).await;
        }
        let gone = Failure::new(ErrorReason::ProjectOffline, "alpha is not connected");
        script.send(Err(gone.into_status())).await.unwrap();
        let answer = world.pipe(&named, request(1, "prompts/list", json!({}))).await;
        let last = match after_a_word {
            true => data(answer.text()).pop().unwrap(),
            false => answer.text().to_owned(),
        };
        let last: Value = serde_json::from_str(&last).unwrap();
        assert_eq!(
            (&last["id"], &last["error"]["code"]),
            (&json!(1), &json!(-32603)),
            "{last}"
        );
    }
    drop(world.core.will_answer());
    world
        .pipe(&named, request(1, "prompts/list", json!({})))
        .await
        .fault(200, -32603);
}
