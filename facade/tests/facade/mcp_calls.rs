//! `tools/call`: what reaches the core, what comes back, what is told on the way, and how a call is taken back.

use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tonic::Status;
use toolgate_contract::v1::{
    CallLog, CallProgress, CallResponse, ErrorReason, Failure, RunResponse, TargetChoice, ToolResult,
    Violation, run_response::Event,
};
use toolgate_facade::FacadeConfig;

use crate::{
    client,
    core::{CALL_ID, ScriptedCore},
    mcp::{BOTH, events, request},
    world::World,
};

fn call(params: Value) -> String {
    request(1, "tools/call", params)
}

type Script = mpsc::Sender<Result<RunResponse, Status>>;

impl ScriptedCore {
    /// Scripts the next run.
    fn will_run(&self) -> Script {
        let (tell, events) = mpsc::channel(64);
        self.runs.lock().unwrap().push_back(events);
        tell
    }
}

async fn tell(script: &Script, event: Event) {
    script.send(Ok(RunResponse { event: Some(event) })).await.unwrap();
}

fn progress(progress: f64, total: Option<f64>) -> Event {
    Event::Progress(CallProgress {
        progress,
        total,
        message: None,
    })
}

fn log(level: &str, data: &'static str) -> Event {
    Event::Log(CallLog {
        level: level.into(),
        logger: "toolgate".into(),
        data: data.into(),
    })
}

fn outcome(text: &str) -> Event {
    Event::Outcome(CallResponse {
        correlation_id: CALL_ID.into(),
        result: Some(ToolResult {
            content: json!([{"type": "text", "text": text}]).to_string().into(),
            ..Default::default()
        }),
        duration_ms: 1,
    })
}

#[tokio::test]
async fn a_target_may_stand_beside_the_arguments_in_either_spelling_once() {
    let world = World::start().await;
    for key in ["targetId", "target_id"] {
        let call = json!({"name": "proxmox_list_vms", "arguments": {}, key: "01JDZ3V8Q4T7X9K2M5N6P8R0TG"});
        assert_eq!(world.modern("tools/call", call).await.status, 200);
        let asked = world.core.asked.lock().unwrap().pop().unwrap();
        assert!(asked.message.contains("01JDZ3V8Q4T7X9K2M5N6P8R0TG"), "{asked:?}");
    }
    let refused = [
        json!({"name": "a", "arguments": {}, "targetId": 5}),
        json!({"name": "a", "arguments": {}, "targetId": "x", "target_id": "x"}),
    ];
    for call in refused {
        let answer = world.modern("tools/call", call.clone()).await.json();
        assert_eq!(answer["error"]["code"], -32602, "{call}");
    }
    assert!(world.core.asked.lock().unwrap().is_empty());
}

/// Reports #18, #21 and #22: nothing is rounded, reordered or dropped, in either direction.
#[tokio::test]
async fn arguments_and_results_pass_byte_for_byte() {
    let world = World::start().await;
    let arguments =
        r#"{"z": 9007199254740993,"a":[1.10,1e400, "\u0041"],"big":123456789012345678901234567890}"#;
    let structured = r#"{"id":9007199254740993,"b":1.10,"a":{"$ref":"x"}}"#;
    let meta = r#"{"toolgate/target":{"id":"T","name":"web"},"x/unknown":[1]}"#;
    world.core.result.lock().unwrap().result = Some(ToolResult {
        content: r#"[{"type":"text","text":"one"},{"type":"new/kind","q":1.0}]"#.into(),
        structured_content: structured.into(),
        meta: meta.into(),
        is_error: false,
        ..Default::default()
    });
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"arguments":{arguments},"name":"a_b","inputResponses":{{}},"requestState":"s","task":{{"ttl":1}}}}}}"#
    );
    let answer = world.say(&[], body).await;
    assert_eq!(world.core.arguments.lock().unwrap()[0], arguments.as_bytes());
    let asked = world.core.asked("Call").remove(0);
    assert!(asked.message.contains("name: \"a_b\""), "{}", asked.message);
    let text = answer.text();
    assert!(
        text.contains(&format!(r#""structuredContent":{structured},"isError":false"#)),
        "{text}"
    );
    assert!(text.contains(r#"{"type":"new/kind","q":1.0}"#), "{text}");
    let result = answer.result();
    assert_eq!(result["_meta"]["x/unknown"], json!([1]));
    assert_eq!(result["_meta"]["toolgate/correlationId"], CALL_ID);
    assert!(result.get("resultType").is_none());
}

#[tokio::test]
async fn a_call_without_arguments_is_a_call() {
    let world = World::start().await;
    for params in [json!({"name": "a.b"}), json!({"name": "a.b", "arguments": null})] {
        world.say(&[], call(params)).await.result();
    }
    world
        .say(&[], call(json!({"name": "a.b", "arguments": {}})))
        .await
        .result();
    let arguments = world.core.arguments.lock().unwrap().clone();
    assert_eq!(arguments, ["", "", "{}"]);
}

/// T3, T4 and the outcome table: which failures a model hears of, and which the client.
#[tokio::test]
async fn a_failure_is_a_result_where_a_model_can_mend_it() {
    let check = async |failure: Failure, expected: &str| {
        let reason = failure.reason().name();
        let world = World::with(ScriptedCore::failing(failure), FacadeConfig::default()).await;
        for params in [
            json!({"name": "a.b"}),
            json!({"name": "a.b", "_meta": {"progressToken": "t"}}),
        ] {
            let answer = world.say(&[], call(params)).await;
            assert_eq!(answer.header("content-type"), "application/json");
            let json = answer.json();
            let told = match json.get("error") {
                Some(error) => {
                    assert_eq!(error["data"]["reason"], reason);
                    format!("{} {}", answer.status.as_u16(), error["code"])
                }
                None => {
                    assert_eq!(json["result"]["_meta"]["toolgate/reason"], reason);
                    assert_eq!(json["result"]["isError"], true);
                    assert_eq!(answer.status, StatusCode::OK);
                    "isError".to_owned()
                }
            };
            assert_eq!(told, expected, "{reason}");
        }
    };
    let failure = |reason| Failure::new(reason, "what happened; what to do");
    check(failure(ErrorReason::ToolNotFound), "200 -32602").await;
    check(failure(ErrorReason::ProjectNotFound), "200 -32602").await;
    check(failure(ErrorReason::ProjectOffline), "200 -32603").await;
    check(failure(ErrorReason::Internal), "200 -32603").await;
    check(failure(ErrorReason::CredentialInvalid), "401 401").await;
    for reason in [
        ErrorReason::WriteRejected,
        ErrorReason::RoleForbidden,
        ErrorReason::ArgumentsInvalid,
        ErrorReason::UpstreamTimeout,
        ErrorReason::RelayOffline,
    ] {
        check(failure(reason), "isError").await;
    }
}

/// T6: limits say how long to wait, in the result and, where HTTP tells it, in the header.
#[tokio::test]
async fn a_refusal_says_what_to_do_next() {
    let failure = Failure::new(
        ErrorReason::ArgumentsInvalid,
        "the arguments do not match the schema of a.b",
    )
    .with_metadata("correlationId", CALL_ID)
    .with_violations([Violation {
        pointer: "/vmid".into(),
        keyword: "type".into(),
        message: "is no integer".into(),
    }])
    .with_targets([TargetChoice {
        id: "01T".into(),
        name: "web-1".into(),
    }])
    .retry_after(std::time::Duration::from_millis(2100));
    let world = World::with(ScriptedCore::failing(failure), FacadeConfig::default()).await;
    let answer = world.say(&[], call(json!({"name": "a.b"}))).await;
    assert_eq!(answer.header("retry-after"), "3");
    let result = answer.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    for part in [
        "do not match",
        "try again in 3 s",
        "/vmid: is no integer",
        "01T (web-1)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let meta = &result["_meta"];
    assert_eq!(meta["toolgate/retryAfter"], 3);
    assert_eq!(meta["toolgate/correlationId"], CALL_ID);
    assert_eq!(meta["toolgate/violations"][0]["pointer"], "/vmid");
    assert_eq!(meta["toolgate/targets"], json!([{"id": "01T", "name": "web-1"}]));
    // A structured part would have to be what the tool's schema says (row T5, report #17).
    assert!(result.get("structuredContent").is_none());
}

/// A2, A5, and reports #11 and #12: the address is the configured one, whatever the client calls us.
#[tokio::test]
async fn a_credential_that_is_not_accepted_is_challenged() {
    let failure = Failure::new(ErrorReason::CredentialInvalid, "the credential is not accepted");
    let config = FacadeConfig {
        public_url: Some("https://gate.example.org".into()),
        authorization_servers: vec!["https://login.example.org".into()],
        ..FacadeConfig::default()
    };
    let world = World::with(ScriptedCore::failing(failure.clone()), config).await;
    let metadata = r#"resource_metadata="https://gate.example.org/.well-known/oauth-protected-resource/mcp""#;
    for method in ["ping", "tools/list", "tools/call", "initialize", "no/such"] {
        let params = json!({"name": "a.b", "protocolVersion": "2025-06-18"});
        let answer = world.say(&[], request(3, method, params)).await;
        assert_eq!(answer.fault(401, 401)["id"], 3);
        assert_eq!(
            answer.header("www-authenticate"),
            format!("Bearer realm=\"toolgate\", error=\"invalid_token\", {metadata}"),
            "{method}"
        );
    }
    let without = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{}",
        world.address,
        call(json!({"name": "a.b"})).len(),
        call(json!({"name": "a.b"}))
    );
    let answer = world.raw(without).await;
    assert!(
        answer.contains(&format!(
            "www-authenticate: Bearer realm=\"toolgate\", {metadata}"
        )),
        "{answer}"
    );

    let world = World::with(ScriptedCore::failing(failure), FacadeConfig::default()).await;
    let answer = world.say(&[], call(json!({"name": "a.b"}))).await;
    assert_eq!(
        answer.header("www-authenticate"),
        "Bearer realm=\"toolgate\", error=\"invalid_token\""
    );
    assert_eq!(
        world
            .ask("DELETE", "/mcp", &[("mcp-session-id", "2025-06-18.a.b")], "")
            .await
            .status,
        401
    );
}

/// P1, and reports #26 and #27: the client's token as it was, growing amounts, and nothing after the answer.
#[tokio::test]
async fn progress_is_told_with_the_clients_own_token_and_only_grows() {
    let world = World::start().await;
    for token in ["\"abc\"", "7", "\"7\"", "9007199254740993"] {
        let script = world.core.will_run();
        for event in [
            progress(0.0, Some(100.0)),
            progress(50.0, Some(100.0)),
            progress(50.0, Some(100.0)),
            progress(20.0, None),
            progress(50.5, None),
            outcome("done"),
            progress(99.0, None),
        ] {
            tell(&script, event).await;
        }
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a.b","_meta":{{"progressToken":{token}}}}}}}"#
        );
        let answer = world.say(&[("mcp-protocol-version", "2025-06-18")], body).await;
        assert_eq!(answer.header("content-type"), "text/event-stream");
        assert_eq!(answer.header("x-accel-buffering"), "no");
        let said = events(answer.text());
        assert!(
            answer.text().contains(&format!("\"progressToken\":{token},")),
            "{}",
            answer.text()
        );
        let amounts: Vec<_> = said[..said.len() - 1]
            .iter()
            .map(|message| {
                assert_eq!(message["method"], "notifications/progress");
                (
                    message["params"]["progress"].clone(),
                    message["params"]["total"].clone(),
                )
            })
            .collect();
        assert_eq!(
            amounts,
            [
                (json!(0), json!(100)),
                (json!(50), json!(100)),
                (json!(50.5), Value::Null)
            ]
        );
        assert_eq!(said.last().unwrap()["result"]["content"][0]["text"], "done");
    }
    assert!(world.core.asked("Run")[0].message.contains("progress: true"));
}

#[tokio::test]
async fn who_does_not_ask_for_progress_or_take_streams_gets_none() {
    let world = World::start().await;
    world.say(&[], call(json!({"name": "a.b"}))).await.result();
    let asking = call(json!({"name": "a.b", "_meta": {"progressToken": 1}}));
    world
        .say(&[("accept", "application/json")], asking)
        .await
        .result();
    assert_eq!(
        (world.core.asked("Call").len(), world.core.asked("Run").len()),
        (2, 0)
    );
    for token in [
        json!(null),
        json!(1.5),
        json!({}),
        json!([]),
        json!(true),
        json!("t".repeat(2000)),
    ] {
        let answer = world
            .say(
                &[],
                call(json!({"name": "a.b", "_meta": {"progressToken": token}})),
            )
            .await;
        let expected = if token.is_null() { 200 } else { 400 };
        assert_eq!(answer.status, expected, "{token}");
    }
}

/// A call that has its answer at once needs no stream, even of a client that asked for progress.
#[tokio::test]
async fn a_call_with_nothing_to_tell_on_the_way_is_answered_as_json() {
    let world = World::start().await;
    let answer = world
        .say(&[], call(json!({"name": "a.b", "_meta": {"progressToken": 1}})))
        .await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.result()["content"][0]["text"], "up 3 days");
    assert_eq!(world.core.asked("Run").len(), 1);
}

/// LC3, LG1: log messages come to a conversation that asked for them, from its level on, on the call's own stream.
#[tokio::test]
async fn log_messages_come_to_the_session_that_set_a_level() {
    let world = World::start().await;
    let id = world.session("2025-11-25").await;
    let session = ("mcp-session-id", id.as_str());
    let set = |level: Value| request(9, "logging/setLevel", json!({"level": level}));
    // Before `initialized` was said, as early clients do.
    let answer = world.say(&[session], set(json!("warning"))).await;
    assert_eq!(answer.text(), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    let script = world.core.will_run();
    for event in [
        log("error", "{\"a\":\n1}"),
        log("alert", "\"two\""),
        outcome("done"),
    ] {
        tell(&script, event).await;
    }
    let answer = world.say(&[session], call(json!({"name": "a.b"}))).await;
    let said = events(answer.text());
    assert_eq!(said[0]["method"], "notifications/message");
    assert_eq!(
        said[0]["params"],
        json!({"level": "error", "logger": "toolgate", "data": {"a": 1}})
    );
    assert_eq!(said[1]["params"]["data"], "two");
    assert_eq!(said[2]["id"], 1);
    let asked = world.core.asked("Run").remove(0);
    assert!(asked.message.contains("Some(\"warning\")") && asked.message.contains("progress: false"));
    // Nobody else's calls.
    world.say(&[], call(json!({"name": "a.b"}))).await.result();
    world
        .say(
            &[("mcp-session-id", "2025-11-25.other.x")],
            call(json!({"name": "a.b"})),
        )
        .await
        .result();
    assert_eq!(world.core.asked("Call").len(), 2);
    for bad in [json!("loud"), json!("WARNING"), json!(3), json!(null)] {
        world.say(&[session], set(bad)).await.fault(200, -32602);
    }
}

/// Report #31: the empty first event is for readers who know it.
#[tokio::test]
async fn a_stream_begins_with_an_empty_event_from_2025_11_25_on() {
    let world = World::start().await;
    let check = async |revision: Option<&str>, primed: bool| {
        let script = world.core.will_run();
        tell(&script, progress(1.0, None)).await;
        tell(&script, outcome("done")).await;
        let headers: Vec<_> = revision
            .map(|name| ("mcp-protocol-version", name))
            .into_iter()
            .collect();
        let body = call(json!({"name": "a.b", "_meta": {"progressToken": 1}}));
        let answer = world.say(&headers, body).await;
        let text = answer.text();
        assert_eq!(
            text.starts_with("id: ") && text.contains("\ndata: \n\n"),
            primed,
            "{revision:?}: {text}"
        );
        assert_eq!(events(text).len(), 2);
    };
    check(None, false).await;
    check(Some("2025-03-26"), false).await;
    check(Some("2025-06-18"), false).await;
    check(Some("2025-11-25"), true).await;
}

/// H5: a failure on the way ends the stream with an answer.
#[tokio::test]
async fn a_call_that_fails_on_the_way_is_answered_on_its_stream() {
    let check = async |failure: Option<Failure>, expected: Value| {
        let world = World::start().await;
        let script = world.core.will_run();
        tell(&script, progress(1.0, None)).await;
        if let Some(failure) = failure {
            script.send(Err(failure.into_status())).await.unwrap();
        }
        drop(script);
        let body = call(json!({"name": "a.b", "_meta": {"progressToken": 1}}));
        let said = events(world.say(&[], body).await.text());
        assert_eq!(said.len(), 2);
        let last = &said[1];
        assert_eq!(last["id"], 1);
        let told = last["result"]["_meta"]["toolgate/reason"].clone();
        assert_eq!(
            if told.is_null() {
                last["error"]["code"].clone()
            } else {
                told
            },
            expected
        );
    };
    let failure = |reason| Some(Failure::new(reason, "no"));
    check(failure(ErrorReason::UpstreamTimeout), json!("UPSTREAM_TIMEOUT")).await;
    check(failure(ErrorReason::ProjectOffline), json!(-32603)).await;
    check(failure(ErrorReason::CredentialInvalid), json!(401)).await;
    check(None, json!(-32603)).await;
}

fn cancel(id: Value) -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}})
        .to_string()
}

/// C1, C2, and reports #23 and #24: at once, within the session, and without an answer.
#[tokio::test]
async fn a_call_that_is_taken_back_is_stopped_and_not_answered() {
    let world = World::start().await;
    world.core.hang.send_replace(true);
    let session = ("mcp-session-id", "2025-06-18.mine.x");
    let asked = world.request("POST", "/mcp", &[BOTH, session], call(json!({"name": "a.b"})));
    let running = tokio::spawn(client::send(world.address, asked));
    world.core.until_open(1).await;
    // Unknown ids, ids of another type, other sessions and callers without one reach nothing.
    for (headers, id) in [
        (vec![session], json!(2)),
        (vec![session], json!("1")),
        (vec![session], json!(null)),
        (vec![("mcp-session-id", "2025-06-18.other.x")], json!(1)),
        (vec![], json!(1)),
    ] {
        let answer = world.say(&headers, cancel(id)).await;
        assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    }
    assert!(!running.is_finished());
    assert_eq!(*world.core.open.borrow(), 1);
    assert_eq!(world.say(&[session], cancel(json!(1))).await.status, 202);
    world.core.until_open(0).await;
    let answer = running.await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.body.len()), (202, 0));
    // Late.
    assert_eq!(world.say(&[session], cancel(json!(1))).await.status, 202);
}

#[tokio::test]
async fn a_stream_that_is_taken_back_ends_without_an_answer() {
    let world = World::start().await;
    let script = world.core.will_run();
    tell(&script, progress(1.0, None)).await;
    let session = ("mcp-session-id", "2025-06-18.mine.x");
    let body = call(json!({"name": "a.b", "_meta": {"progressToken": 1}}));
    let request = world.request("POST", "/mcp", &[BOTH, session], body);
    let mut live = client::live(world.address, request).await;
    assert!(live.piece().await.contains("notifications/progress"));
    world.say(&[session], cancel(json!(1))).await;
    assert_eq!(live.rest().await, "");
    world.core.until_open(0).await;
}

/// Without sessions two clients of one credential may have equal ids; nobody can say which call is meant.
#[tokio::test]
async fn of_two_equal_ids_of_one_credential_none_is_stopped() {
    let world = World::start().await;
    world.core.hang.send_replace(true);
    let ask = || world.request("POST", "/mcp", &[BOTH], call(json!({"name": "a.b"})));
    let first = tokio::spawn(client::send(world.address, ask()));
    let second = tokio::spawn(client::send(world.address, ask()));
    world.core.until_open(2).await;
    world.say(&[], cancel(json!(1))).await;
    assert_eq!(*world.core.open.borrow(), 2);
    world.core.hang.send_replace(false);
    first.await.unwrap().result();
    second.await.unwrap().result();
}

/// H6: a reader who leaves stops its own reading, and nothing else.
#[tokio::test]
async fn a_client_that_leaves_stops_its_call() {
    let world = World::start().await;
    world.core.hang.send_replace(true);
    let request = world.request("POST", "/mcp", &[BOTH], call(json!({"name": "a.b"})));
    let running = tokio::spawn(client::send(world.address, request));
    world.core.until_open(1).await;
    running.abort();
    world.core.until_open(0).await;
}

/// Answers of two clients that use the same ids never meet.
#[tokio::test]
async fn equal_ids_of_two_callers_are_two_calls() {
    let world = World::start().await;
    let calls = (0..32).map(|n: u64| {
        let id = request(1, "tools/call", json!({"name": "a.b", "arguments": {"n": n}}));
        world.say(&[], id)
    });
    for answer in futures::future::join_all(calls).await {
        assert_eq!(answer.json()["id"], 1);
    }
    assert_eq!(world.core.asked("Call").len(), 32);
}
