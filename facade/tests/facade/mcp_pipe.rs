//! The pipe to a project's server over HTTP: nothing of what is said changes, and everything around it is the gateway's.

use std::time::Duration;

use bytes::Bytes;
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tonic::Status;
use toolgate_contract::v1::{
    ErrorReason, ExchangeError, ExchangeResponse, ExchangeResult, Failure, ListenResponse,
    ServerNotification, ServerRequest, client_answer, exchange_response::Event, listen_response,
    tell_request,
};
use toolgate_facade::FacadeConfig;

use crate::{
    client::{self, Answer, Live},
    core::{CALL_ID, ScriptedCore, event},
    mcp::{BOTH, MODERN, initialize, modern_meta, request},
    world::World,
};

const PATH: &str = "/mcp/project/alpha";

impl World {
    async fn pipe(&self, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        one(client::send(self.address, self.piped(headers, body)).await)
    }

    fn piped(
        &self,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> http::Request<http_body_util::Full<Bytes>> {
        let mut all = vec![BOTH, ("content-type", "application/json")];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend_from_slice(headers);
        self.request("POST", PATH, &all, body)
    }

    async fn live_pipe(&self, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Live {
        client::live(self.address, self.piped(headers, body)).await
    }

    /// Begins a conversation and gives its session.
    async fn conversation(&self) -> String {
        let answer = self
            .pipe(&[], request(0, "initialize", initialize("2025-11-25")))
            .await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        answer.header("mcp-session-id").to_owned()
    }

    fn told(&self) -> Vec<(Option<String>, tell_request::Message)> {
        let told = self.core.pipe.told.borrow().clone();
        told.into_iter()
            .map(|(session, told)| (session, told.message.unwrap()))
            .collect()
    }
}

/// An answer that is a stream of one message, as if it were that message.
fn one(mut answer: Answer) -> Answer {
    if answer.header("content-type") == "text/event-stream"
        && let [message] = &data(answer.text())[..]
    {
        answer.body = message.clone().into();
    }
    answer
}

fn result(result: &str) -> Event {
    Event::Result(ExchangeResult {
        result: result.to_owned().into(),
        correlation_id: CALL_ID.into(),
        session_id: String::new(),
    })
}

fn says(method: &str, params: &str) -> Event {
    Event::Notification(ServerNotification {
        method: method.into(),
        params: params.to_owned().into(),
    })
}

fn asks(id: &str, method: &str, params: &str) -> Event {
    Event::Request(ServerRequest {
        id: id.into(),
        method: method.into(),
        params: params.to_owned().into(),
    })
}

async fn tell(script: &mpsc::Sender<Result<ExchangeResponse, Status>>, event_: Event) {
    script.send(event(event_)).await.unwrap();
}

/// The data of a stream, line by line, as it was written.
fn data(text: &str) -> Vec<String> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| !data.is_empty()).map(str::to_owned).collect()
}

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

async fn modern(world: &World, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Answer {
    let mut meta = modern_meta();
    if let Some(given) = params.get("_meta").and_then(Value::as_object) {
        meta.as_object_mut().unwrap().extend(given.clone());
    }
    params["_meta"] = meta;
    let mut all = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
    all.extend_from_slice(headers);
    world.pipe(&all, request(1, method, params)).await
}

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

/// Requests and answers of every shape, both ways.
#[test]
fn no_byte_is_another_one_on_the_way_through_the_pipe() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, session) = runtime.block_on(async {
        let world = World::start().await;
        let session = world.conversation().await;
        (world, session)
    });
    let id = prop_oneof![
        "0|-?[1-9][0-9]{0,17}",
        Just("9007199254740993".to_owned()),
        "\"[^\\x00-\\x1f\"\\\\]{0,12}\"",
        "\"(\\\\u00[2-7][0-9a-f]|\\\\n|\\\\\"){0,6}\"",
    ];
    let value = prop_oneof![
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?",
        "\"[^\\x00-\\x1f\"\\\\]{0,24}\"",
        Just(r#"{"$defs":{"b":1, "a":[ null,true ]}}"#.to_owned()),
        Just("[ ]".to_owned()),
    ];
    let object = prop::collection::vec(("[a-z]{1,4}", value, " {0,2}"), 0..6).prop_map(|members| {
        let members: Vec<_> = members
            .into_iter()
            .enumerate()
            .map(|(n, (key, value, space))| format!("{space}\"x{key}{n}\"{space}:{value}{space}"))
            .collect();
        format!("{{{}}}", members.join(","))
    });
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let cases = (id, object.clone(), object.clone(), object);
    runner
        .run(&cases, |(id, params, said, answered)| {
            runtime.block_on(async {
                let script = world.core.will_answer();
                tell(&script, says("notifications/x", &said)).await;
                tell(&script, result(&answered)).await;
                let body = format!(r#"{{"id":{id}, "params":{params},"method":"x/y","jsonrpc":"2.0"}}"#);
                let answer = world.pipe(&[("mcp-session-id", &session)], body).await;
                let asked = world.core.pipe.asked.lock().unwrap().pop().unwrap().1;
                prop_assert_eq!(asked.params, params);
                prop_assert_eq!(
                    data(answer.text()),
                    [
                        format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{said}}}"#),
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answered}}}"#),
                    ]
                );
                Ok(())
            })
        })
        .unwrap();
}
