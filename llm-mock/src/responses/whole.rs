//! An answer in one piece, and its output items.

use serde_json::{Value, json};

use super::Frame;
use crate::{
    play::{Call, Said},
    stamp::{CREATED, tokens},
};

/// The output items of an answer, each complete.
pub(super) fn items(frame: &Frame<'_>, said: &Said) -> Vec<Value> {
    match said {
        Said::Text(text) => vec![message(frame, text)],
        Said::Calls(calls) => calls.iter().map(|call| function_call(frame, call)).collect(),
    }
}

pub(super) fn write(frame: &Frame<'_>, items: &[Value]) -> Value {
    let mut response = opened(frame);
    let spoken = tokens(items.iter().map(|item| item.to_string().len()).sum());
    response["status"] = json!("completed");
    response["output"] = json!(items);
    response["usage"] = json!({
        "input_tokens": frame.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": spoken,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": frame.input_tokens + spoken,
    });
    response
}

/// A response that has only begun.
pub(super) fn opened(frame: &Frame<'_>) -> Value {
    let told = |field: &str, default: Value| frame.body.get(field).cloned().unwrap_or(default);
    json!({
        "id": frame.id,
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": told("instructions", Value::Null),
        "max_output_tokens": null,
        "model": frame.model,
        "output": [],
        "parallel_tool_calls": frame.parallel,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "store": false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": told("tool_choice", json!("auto")),
        "tools": told("tools", json!([])),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": null,
        "metadata": {},
    })
}

fn message(frame: &Frame<'_>, text: &str) -> Value {
    json!({
        "id": frame.id.replacen("resp_", "msg_", 1),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
    })
}

/// The item's own id is not the `call_id`: whoever pairs by it is found out.
fn function_call(frame: &Frame<'_>, call: &Call) -> Value {
    json!({
        "id": format!("{}_{}", frame.id.replacen("resp_", "fc_", 1), call.id.trim_start_matches("call_")),
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    })
}
