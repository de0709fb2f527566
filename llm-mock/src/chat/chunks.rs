//! An answer as a stream of `chat.completion.chunk`.
//!
//! The first delta of a call holds its index, id, type and name with empty arguments; fragments of the arguments follow
//! by index; the last chunk has an empty delta and the reason of the end; then `data: [DONE]`.

use serde_json::{Value, json};

use super::{
    Frame,
    whole::{finish, usage},
};
use crate::{
    fragments::fragments,
    play::{Call, Said},
    stamp::CREATED,
};

pub(super) fn write(frame: &Frame<'_>, said: &Said, with_usage: bool) -> Vec<String> {
    let mut events: Vec<String> = deltas(said)
        .into_iter()
        .map(|delta| chunk(frame, &json!([choice(delta, None)]), &Value::Null, with_usage))
        .collect();
    let last = json!([choice(json!({}), Some(finish(said)))]);
    events.push(chunk(frame, &last, &Value::Null, with_usage));
    if with_usage {
        events.push(chunk(frame, &json!([]), &usage(frame, said), true));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn deltas(said: &Said) -> Vec<Value> {
    match said {
        Said::Text(text) => {
            let mut deltas = vec![json!({"role": "assistant", "content": "", "refusal": null})];
            deltas.extend(
                fragments(text)
                    .into_iter()
                    .map(|fragment| json!({"content": fragment})),
            );
            deltas
        }
        Said::Calls(calls) => {
            let mut deltas = vec![json!({"role": "assistant", "content": null})];
            for (index, call) in calls.iter().enumerate() {
                deltas.push(json!({"tool_calls": [opening(index, call)]}));
                deltas.extend(fragments(&call.arguments).into_iter().map(
                    |fragment| json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}),
                ));
            }
            deltas
        }
    }
}

fn opening(index: usize, call: &Call) -> Value {
    json!({
        "index": index,
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    })
}

fn choice(delta: Value, finish: Option<&str>) -> Value {
    json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish})
}

fn chunk(frame: &Frame<'_>, choices: &Value, usage: &Value, with_usage: bool) -> String {
    let mut chunk = json!({
        "id": frame.id,
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": frame.model,
        "service_tier": "default",
        "system_fingerprint": null,
        "choices": choices,
    });
    if with_usage {
        chunk["usage"] = usage.clone();
    }
    format!("data: {chunk}\n\n")
}
