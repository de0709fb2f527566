//! What holds for any turn and any result.

use bytes::Bytes;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};
use toolgate_contract::v1::{CallResponse, ToolResult};

use super::super::{Answered, Ending, Form, answer, read};

fn ran(result: ToolResult) -> Ending {
    Ending::Ran(CallResponse {
        correlation_id: "01JDZ3V8Q4T7X9K2M5N6P8R0SA".into(),
        result: Some(result),
        duration_ms: 1,
    })
}

fn text_result(text: &str) -> ToolResult {
    ToolResult {
        content: json!([{"type": "text", "text": text}]).to_string().into(),
        ..ToolResult::default()
    }
}

/// The same calls in every form they may come in.
fn bodies(calls: &[(String, String, String)]) -> [(Form, Value); 5] {
    let tool_calls: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
        .collect();
    let items: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({"type": "function_call", "id": "fc", "call_id": id, "name": name, "arguments": arguments})
        })
        .collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": tool_calls});
    [
        (Form::Chat, message.clone()),
        (
            Form::Chat,
            json!({"id": "x", "choices": [{"index": 0, "message": message}]}),
        ),
        (Form::Responses, json!(items)),
        (Form::Responses, json!({"output": items})),
        (
            Form::Responses,
            json!({"object": "response", "output": items, "tools": []}),
        ),
    ]
}

proptest! {
    #[test]
    fn any_text_arrives_as_the_model_wrote_it(
        calls in vec((any::<String>(), any::<String>(), any::<String>()), 0..8)
    ) {
        // Ids of their own: doubled ones have a rule, which is another test.
        let calls: Vec<_> = calls
            .into_iter()
            .enumerate()
            .map(|(n, (id, name, arguments))| (format!("{n}{id}"), name, arguments))
            .collect();
        for (form, body) in bodies(&calls) {
            let turn = read(&body.to_string().into()).unwrap();
            prop_assert_eq!(turn.form, form);
            let read: Vec<_> = turn
                .asked
                .into_iter()
                .map(|asked| {
                    let call = asked.call.unwrap();
                    (asked.id, call.name, String::from_utf8(call.arguments.to_vec()).unwrap())
                })
                .collect();
            prop_assert_eq!(&read, &calls);
        }
    }

    #[test]
    fn every_id_is_answered_once_in_the_order_asked(ids in vec("[a-d]", 0..12)) {
        let calls: Vec<_> = ids.iter().map(|id| (id.clone(), "t".into(), "{}".into())).collect();
        let mut expected = ids;
        let mut seen = std::collections::HashSet::new();
        let total = expected.clone();
        expected.retain(|id| seen.insert(id.clone()));
        for (form, body) in bodies(&calls) {
            let turn = read(&body.to_string().into()).unwrap();
            for asked in &turn.asked {
                let times = total.iter().filter(|id| **id == asked.id).count();
                prop_assert_eq!(asked.call.is_ok(), times == 1);
            }
            let answered: Vec<_> = turn
                .asked
                .into_iter()
                .map(|asked| Answered {
                    id: asked.id,
                    ending: match asked.call {
                        Ok(_) => ran(ToolResult::default()),
                        Err(failure) => Ending::Failed(failure),
                    },
                })
                .collect();
            let written: Value = serde_json::from_slice(&answer(form, &answered).unwrap()).unwrap();
            let (list, key) = match form {
                Form::Chat => ("messages", "tool_call_id"),
                Form::Responses => ("output", "call_id"),
            };
            let told: Vec<_> = written[list]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry[key].as_str().unwrap().to_owned())
                .collect();
            prop_assert_eq!(&told, &expected);
            prop_assert_eq!(written["calls"].as_array().unwrap().len(), expected.len());
        }
    }

    #[test]
    fn any_text_of_a_result_reaches_the_model(text in any::<String>()) {
        for (form, list, key) in [(Form::Chat, "messages", "content"), (Form::Responses, "output", "output")] {
            let answered = [Answered { id: "a".into(), ending: ran(text_result(&text)) }];
            let written: Value = serde_json::from_slice(&answer(form, &answered).unwrap()).unwrap();
            let expected = if text.is_empty() { "{}" } else { &text };
            prop_assert_eq!(&written[list][0][key], expected);
        }
    }

    #[test]
    fn structured_content_keeps_its_bytes(number in "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?", text in any::<String>()) {
        let structured = format!("{{ \"n\": {number}, \"t\":{} }}", json!(text));
        let result = ToolResult { structured_content: structured.clone().into(), ..text_result("a telling") };
        let answered = [Answered { id: "a".into(), ending: ran(result) }];
        let written: Value = serde_json::from_slice(&answer(Form::Chat, &answered).unwrap()).unwrap();
        prop_assert_eq!(&written["messages"][0]["content"], &structured);
    }

    #[test]
    fn whatever_comes_is_read_or_refused(body in vec(any::<u8>(), 0..200)) {
        let _ = read(&Bytes::from(body));
    }

    #[test]
    fn a_message_cut_anywhere_is_refused(at in 0_usize..200) {
        let [(_, body), ..] = bodies(&[("call_1".into(), "t".into(), "{\"a\":1}".into())]);
        let body = body.to_string();
        prop_assume!(at < body.len());
        prop_assert!(read(&Bytes::copy_from_slice(&body.as_bytes()[..at])).is_err());
    }
}
