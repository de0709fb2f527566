use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Frame, chunks, whole};
use crate::play::{Call, Said};

fn frame() -> Frame<'static> {
    Frame {
        id: "chatcmpl-1".into(),
        model: "mock",
        prompt_tokens: 3,
    }
}

fn call(number: usize, arguments: &str) -> Call {
    Call {
        id: format!("call_{number}"),
        name: format!("tool_{number}"),
        arguments: arguments.to_owned(),
    }
}

/// The chunks of a stream, as a client reads them.
fn read(events: &[String]) -> Vec<Value> {
    let (last, events) = events.split_last().expect("events");
    assert_eq!(last, "data: [DONE]\n\n");
    events
        .iter()
        .map(|event| {
            let data = event
                .strip_prefix("data: ")
                .and_then(|event| event.strip_suffix("\n\n"));
            let data = data.expect("one event of one line");
            assert!(!data.contains('\n'));
            serde_json::from_str(data).expect("JSON")
        })
        .collect()
}

/// Puts the deltas together by index, as a client does.
fn together(chunks: &[Value]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for delta in chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]) {
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = part["index"].as_u64().expect("an index") as usize;
            let arguments = part["function"]["arguments"].as_str().expect("a fragment");
            if index == calls.len() {
                assert_eq!(
                    (part["type"].as_str(), arguments),
                    (Some("function"), ""),
                    "the first delta"
                );
                let text = |value: &Value| value.as_str().expect("a text").to_owned();
                calls.push((text(&part["id"]), text(&part["function"]["name"]), String::new()));
            } else {
                assert_eq!(part.get("id"), None, "later deltas hold the fragment alone");
                calls[index].2.push_str(arguments);
            }
        }
    }
    calls
}

proptest! {
    #[test]
    fn fragments_by_index_are_the_arguments(arguments in proptest::collection::vec(any::<String>(), 1..4)) {
        let calls: Vec<Call> = arguments.iter().enumerate().map(|(n, text)| call(n, text)).collect();
        let chunks = read(&chunks::write(&frame(), &Said::Calls(calls.clone()), false));
        let expected: Vec<_> = calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect();
        prop_assert_eq!(together(&chunks), expected);
    }

    #[test]
    fn fragments_of_a_text_are_the_text(text in any::<String>()) {
        let chunks = read(&chunks::write(&frame(), &Said::Text(text.clone()), false));
        let told: String = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
        prop_assert_eq!(told, text);
    }
}

#[test]
fn the_last_chunk_has_an_empty_delta_and_the_reason_of_the_end() {
    let reasons = [
        (Said::Text("x".into()), "stop"),
        (Said::Calls(vec![call(0, "{}")]), "tool_calls"),
    ];
    for (said, reason) in reasons {
        let chunks = read(&chunks::write(&frame(), &said, false));
        let (last, rest) = chunks.split_last().expect("chunks");
        assert_eq!(last["choices"][0]["delta"], json!({}));
        assert_eq!(last["choices"][0]["finish_reason"], reason);
        assert!(
            rest.iter()
                .all(|chunk| chunk["choices"][0]["finish_reason"].is_null())
        );
        assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));
    }
}

#[test]
fn usage_comes_last_and_only_when_asked_for() {
    let chunks = read(&chunks::write(&frame(), &Said::Text("x".into()), true));
    let (last, rest) = chunks.split_last().expect("chunks");
    assert_eq!(
        (&last["choices"], &last["usage"]["total_tokens"]),
        (&json!([]), &json!(4))
    );
    assert!(rest.iter().all(|chunk| chunk["usage"].is_null()));
}

#[test]
fn an_answer_that_calls_has_no_content_and_arguments_as_a_text() {
    let answer = whole::write(&frame(), &Said::Calls(vec![call(0, "{\"n\": 9007199254740993}")]));
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], Value::Null);
    assert_eq!(
        choice["message"]["tool_calls"],
        json!([{"id": "call_0", "type": "function", "function": {"name": "tool_0", "arguments": "{\"n\": 9007199254740993}"}}])
    );
    let answer = whole::write(&frame(), &Said::Text("done".into()));
    assert_eq!(answer["choices"][0]["message"]["content"], "done");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
}
