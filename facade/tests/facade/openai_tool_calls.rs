//! `POST /openai/v1/tool_calls`: what a model asks for is carried out, and each of its calls is answered.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_contract::v1::{CallResponse, ErrorReason, Failure, ToolResult};

use crate::{challenges::CHALLENGE, client::PATIENCE, core::CALL_ID, world::World};

const CALLS: &str = "/openai/v1/tool_calls";

fn message(calls: &[(&str, &str, &str)]) -> Value {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn items(calls: &[(&str, &str, &str)]) -> Value {
    calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": arguments})
        })
        .collect()
}

fn text(text: &str) -> CallResponse {
    CallResponse {
        correlation_id: CALL_ID.into(),
        result: Some(ToolResult {
            content: json!([{"type": "text", "text": text}]).to_string().into(),
            ..Default::default()
        }),
        duration_ms: 1,
    }
}

async fn scripted(calls: &[(&str, Option<Result<CallResponse, Failure>>)]) -> World {
    let world = World::start().await;
    let calls = calls
        .iter()
        .map(|(name, outcome)| ((*name).to_owned(), outcome.clone()));
    world.core.calls.lock().unwrap().extend(calls);
    world
}

#[tokio::test]
async fn the_calls_of_a_message_are_answered_in_order() {
    let world = scripted(&[("a", Some(Ok(text("from a")))), ("b", Some(Ok(text("from b"))))]).await;
    let body = message(&[
        ("call_2", "b", "{}"),
        ("call_1", "a", r#"{"n":9007199254740993}"#),
    ]);
    let answer = world.post(CALLS, body.to_string()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(
        answer.text(),
        format!(
            concat!(
                r#"{{"messages":[{{"role":"tool","tool_call_id":"call_2","content":"from b"}},"#,
                r#"{{"role":"tool","tool_call_id":"call_1","content":"from a"}}],"calls":["#,
                r#"{{"id":"call_2","isError":false,"correlationId":"{id}","durationMs":1}},"#,
                r#"{{"id":"call_1","isError":false,"correlationId":"{id}","durationMs":1}}]}}"#
            ),
            id = CALL_ID
        )
    );
    for asked in world.core.asked("Call") {
        assert_eq!(asked.metadata["toolgate-facade"], "openai");
        assert_eq!(asked.metadata["authorization"], "Bearer tgk_t_secret");
        assert_eq!(asked.metadata["toolgate-source"], "127.0.0.1");
    }
    let mut arguments = world.core.arguments.lock().unwrap().clone();
    arguments.sort();
    assert_eq!(arguments, [r#"{"n":9007199254740993}"#, "{}"]);
}

#[tokio::test]
async fn a_completion_and_a_response_are_taken_whole() {
    let world = World::start().await;
    let calls = [("call_1", "a", "{}")];
    let completion = json!({"choices": [{"message": message(&calls), "finish_reason": "tool_calls"}]});
    let answer = world.post(CALLS, completion.to_string()).await.json();
    assert_eq!(
        answer["messages"],
        json!([{"role": "tool", "tool_call_id": "call_1", "content": "up 3 days"}])
    );
    let expected = json!([{"type": "function_call_output", "call_id": "call_1", "output": "up 3 days"}]);
    for body in [
        json!({"object": "response", "output": items(&calls)}),
        json!({"output": items(&calls)}),
        items(&calls),
    ] {
        let answer = world.post(CALLS, body.to_string()).await.json();
        assert_eq!(answer["output"], expected, "{body}");
        assert!(answer.get("messages").is_none());
    }
}

#[tokio::test]
async fn what_goes_wrong_with_a_call_is_told_to_the_model() {
    let failure = |reason| {
        Some(Err(
            Failure::new(reason, "why and what next").retry_after(Duration::from_millis(1500))
        ))
    };
    let world = scripted(&[
        ("limited", failure(ErrorReason::RateLimited)),
        ("write", failure(ErrorReason::WriteRejected)),
        ("ours", failure(ErrorReason::Internal)),
    ])
    .await;
    let body = message(&[
        ("1", "limited", "{}"),
        ("2", "write", "{}"),
        ("3", "fine", "{}"),
        ("4", "ours", "{}"),
        ("5", "fine", "{}"),
        ("5", "fine", "{}"),
    ]);
    let mut refused = world.core.refused.subscribe();
    let answer = world.post(CALLS, body.to_string()).await;
    assert_eq!(answer.status, 200);
    let answer = answer.json();
    let reasons: Vec<_> = answer["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            let content = message["content"].as_str().unwrap();
            let told: Value = serde_json::from_str(content).unwrap_or_default();
            (
                message["tool_call_id"].as_str().unwrap().to_owned(),
                told["error"]["reason"].as_str().unwrap_or(content).to_owned(),
            )
        })
        .collect();
    let expected = [
        ("1", "RATE_LIMITED"),
        ("2", "WRITE_REJECTED"),
        ("3", "up 3 days"),
        ("4", "INTERNAL"),
        ("5", "REQUEST_MALFORMED"),
    ];
    assert_eq!(
        reasons,
        expected.map(|(id, reason)| (id.to_owned(), reason.to_owned()))
    );
    assert_eq!(answer["calls"][0]["retryAfter"], 2);
    // What the facade refused by itself is told to the core, as a refusal of this dialect.
    let told = tokio::time::timeout(PATIENCE, refused.wait_for(|refused| !refused.is_empty()));
    let (reason, metadata) = told.await.expect("the refusal is told").unwrap()[0].clone();
    assert_eq!(reason, ErrorReason::RequestMalformed);
    assert_eq!(metadata["toolgate-facade"], "openai");
}

#[tokio::test]
async fn arguments_that_are_no_json_are_the_cores_to_refuse() {
    let world = World::start().await;
    let body = r#"{"role":"assistant","tool_calls":[
        {"id":"1","type":"function","function":{"name":"a","arguments":"{\"a\":"}},
        {"id":"2","type":"function","function":{"name":"a","arguments":"\ud800"}},
        {"id":"3","type":"function","function":{"name":"a","arguments":"{ \"é\" : \"\\u00e9\", \"n\": 9007199254740993 }"}}]}"#;
    assert_eq!(world.post(CALLS, body).await.status, 200);
    let mut arguments = world.core.arguments.lock().unwrap().clone();
    arguments.sort();
    let expected: [&[u8]; 3] = [
        r#"{ "é" : "\u00e9", "n": 9007199254740993 }"#.as_bytes(),
        br#"{"a":"#,
        b"\xed\xa0\x80",
    ];
    assert_eq!(arguments, expected);
}

#[tokio::test]
async fn a_credential_that_is_not_accepted_ends_the_turn() {
    let refused = Failure::new(ErrorReason::CredentialInvalid, "sign in again");
    let world = scripted(&[("revoked", Some(Err(refused.clone()))), ("slow", None)]).await;
    let body = message(&[("1", "slow", "{}"), ("2", "revoked", "{}"), ("3", "fine", "{}")]);
    let answer = world.post(CALLS, body.to_string()).await;
    answer.problem(401, "CREDENTIAL_INVALID");
    assert_eq!(answer.header("www-authenticate"), CHALLENGE);
    world.core.until_open(0).await;
    // Where nothing is to be carried out, the core is asked all the same.
    *world.core.failure.lock().unwrap() = Some(refused);
    for body in [
        json!({"role": "assistant", "content": "done"}),
        json!({"role": "assistant", "tool_calls": [{"id": "1", "type": "custom"}]}),
        json!([]),
    ] {
        world
            .post(CALLS, body.to_string())
            .await
            .problem(401, "CREDENTIAL_INVALID");
    }
}

#[tokio::test]
async fn nothing_asked_for_is_nothing_answered() {
    let world = World::start().await;
    let answer = world
        .post(CALLS, r#"{"role":"assistant","content":"done"}"#)
        .await;
    assert_eq!(answer.text(), r#"{"messages":[],"calls":[]}"#);
    let answer = world.post(CALLS, r#"{"output":[]}"#).await;
    assert_eq!(answer.text(), r#"{"output":[],"calls":[]}"#);
    assert!(world.core.asked("Call").is_empty());
}

#[tokio::test]
async fn a_body_that_is_no_turn_is_refused_whole() {
    let world = World::start().await;
    let check = async |body: &str| {
        world
            .post(CALLS, body.to_owned())
            .await
            .problem(400, "REQUEST_MALFORMED")
    };
    for body in [
        "",
        "7",
        "{}",
        "{",
        "[1]",
        "\"x\"",
        r#"{"role":"user"}"#,
        r#"{"messages":[]}"#,
        r#"{"choices":[]}"#,
    ] {
        check(body).await;
    }
    let answer = world.post(CALLS, &b"{\"role\":\"\xff\"}"[..]).await;
    answer.problem(400, "REQUEST_MALFORMED");
    world
        .post(CALLS, " ".repeat(1024 * 1024 + 1))
        .await
        .problem(413, "REQUEST_TOO_LARGE");
    let many: Vec<_> = (0..129).map(|n| n.to_string()).collect();
    let many: Vec<_> = many.iter().map(|id| (id.as_str(), "a", "{}")).collect();
    world
        .post(CALLS, message(&many).to_string())
        .await
        .problem(413, "REQUEST_TOO_LARGE");
    let body = message(&many[..128]).to_string();
    let query = world.post(&format!("{CALLS}?format=chat"), body.clone()).await;
    query.problem(400, "REQUEST_MALFORMED");
    assert!(world.core.asked("Call").is_empty());
    let answer = world.post(CALLS, body).await.json();
    assert_eq!(answer["messages"].as_array().unwrap().len(), 128);
}

#[tokio::test]
async fn values_beside_the_calls_are_not_counted() {
    let world = World::start().await;
    let mut completion = json!({"choices": [{"message": message(&[("1", "a", "{}")])}]});
    completion["choices"][0]["logprobs"] = (0..20_000).collect();
    let answer = world.post(CALLS, completion.to_string()).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn calls_run_side_by_side_and_all_are_cancelled_when_the_client_leaves() {
    let world = scripted(&[("slow", None)]).await;
    let ids: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "slow", "{}")).collect();
    let request = world.request("POST", CALLS, &[], message(&calls).to_string());
    let client = tokio::spawn(crate::client::send(world.address, request));
    world.core.until_open(20).await;
    client.abort();
    world.core.until_open(0).await;
}

#[tokio::test]
async fn all_calls_of_a_turn_hear_what_is_left_of_one_deadline() {
    let world = World::start().await;
    let calls = message(&[("1", "a", "{}"), ("2", "a", "{}")]).to_string();
    let answer = world
        .ask("POST", CALLS, &[("grpc-timeout", "30S")], calls.clone())
        .await;
    assert_eq!(answer.status, 200);
    for asked in world.core.asked("Call") {
        let told = asked.metadata["grpc-timeout"].to_str().unwrap();
        let left: u64 = told.strip_suffix('u').unwrap().parse().unwrap();
        assert!((20_000_000..=30_000_000).contains(&left), "{told}");
    }
    world
        .ask("POST", CALLS, &[("grpc-timeout", "0n")], calls.clone())
        .await;
    let asked = world.core.asked("Call");
    assert_eq!(asked[2].metadata["grpc-timeout"], "1u");
    // Without one, each call has the time that the core gives it.
    world.post(CALLS, calls).await;
    let asked = world.core.asked("Call");
    assert!(!asked[4].metadata.contains_key("grpc-timeout"));
}

#[tokio::test]
async fn results_that_are_too_large_together_are_told_so() {
    let large = "x".repeat(12 * 1024 * 1024);
    let world = scripted(&[("large", Some(Ok(text(&large))))]).await;
    let body = message(&[("1", "large", "{}"), ("2", "large", "{}"), ("3", "large", "{}")]);
    let answer = world.post(CALLS, body.to_string()).await.json();
    let reasons: Vec<_> = answer["calls"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|call| call["reason"].as_str())
        .collect();
    assert_eq!(reasons, ["UPSTREAM_TOO_LARGE"]);
}
