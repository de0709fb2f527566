use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Frame, events, whole};
use crate::play::{Call, Said};

fn frame(body: &Value) -> Frame<'_> {
    Frame {
        id: "resp_1".into(),
        model: "mock",
        body,
        parallel: true,
        input_tokens: 3,
    }
}

fn call(number: usize, arguments: &str) -> Call {
    Call {
        id: format!("call_{number}"),
        name: format!("tool_{number}"),
        arguments: arguments.to_owned(),
    }
}

fn read(events: &[String]) -> Vec<Value> {
    let data = events.iter().enumerate().map(|(number, event)| {
        let (head, data) = event.split_once('\n').expect("two lines");
        let data = data
            .strip_prefix("data: ")
            .and_then(|data| data.strip_suffix("\n\n"));
        let data: Value = serde_json::from_str(data.expect("data")).expect("JSON");
        assert_eq!(head, format!("event: {}", data["type"].as_str().expect("a type")));
        assert_eq!(data["sequence_number"], number);
        data
    });
    data.collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().expect("a type"))
        .collect();
    kinds.dedup();
    kinds
}

proptest! {
    #[test]
    fn deltas_of_each_item_are_its_arguments(arguments in proptest::collection::vec(any::<String>(), 1..4)) {
        let body = json!({});
        let calls: Vec<Call> = arguments.iter().enumerate().map(|(n, text)| call(n, text)).collect();
        let events = read(&events::write(&frame(&body), &Said::Calls(calls)));
        for (index, expected) in arguments.iter().enumerate() {
            let of = |kind: &'static str| {
                events.iter().filter(move |event| event["type"] == kind && event["output_index"] == index)
            };
            let told: String = of("response.function_call_arguments.delta").filter_map(|event| event["delta"].as_str()).collect();
            prop_assert_eq!(&told, expected);
            let done = of("response.function_call_arguments.done").next().expect("done");
            prop_assert_eq!(done["arguments"].as_str(), Some(expected.as_str()));
            let item = &of("response.output_item.done").next().expect("an item")["item"];
            prop_assert_eq!(item["arguments"].as_str(), Some(expected.as_str()));
            prop_assert_eq!(&item["id"], &done["item_id"]);
        }
    }
}

#[test]
fn a_call_is_added_told_in_deltas_and_done() {
    let body = json!({"tools": [{"type": "function", "name": "tool_0"}]});
    let events = read(&events::write(
        &frame(&body),
        &Said::Calls(vec![call(0, "{\"a\": 1}")]),
    ));
    assert_eq!(
        kinds(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let added = &events[2]["item"];
    assert_eq!(
        (&added["status"], &added["arguments"]),
        (&json!("in_progress"), &json!(""))
    );
    let completed = &events.last().expect("the end")["response"];
    assert_eq!(completed["output"][0]["call_id"], "call_0");
    assert_ne!(completed["output"][0]["id"], completed["output"][0]["call_id"]);
    assert_eq!(completed["tools"], body["tools"]);
}

#[test]
fn a_text_is_told_in_deltas_of_its_part() {
    let body = json!({});
    let events = read(&events::write(&frame(&body), &Said::Text("grüße an alle".into())));
    assert_eq!(
        kinds(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let told: String = events
        .iter()
        .filter_map(|event| event["delta"].as_str())
        .collect();
    assert_eq!(told, "grüße an alle");
    let frame = frame(&body);
    let whole = whole::write(&frame, &whole::items(&frame, &Said::Text("grüße an alle".into())));
    assert_eq!(whole, events.last().expect("the end")["response"]);
}
