//! An answer in one piece.

use serde_json::{Value, json};

use super::Frame;
use crate::{
    play::{Call, Said},
    stamp::{CREATED, tokens},
};

pub(super) fn write(frame: &Frame<'_>, said: &Said) -> Value {
    let message = match said {
        Said::Text(text) => json!({"role": "assistant", "content": text, "refusal": null, "annotations": []}),
        Said::Calls(calls) => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": calls})
        }
    };
    json!({
        "id": frame.id,
        "object": "chat.completion",
        "created": CREATED,
        "model": frame.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish(said)}],
        "usage": usage(frame, said),
        "service_tier": "default",
        "system_fingerprint": null,
    })
}

/// Why the answer ends.
pub(super) fn finish(said: &Said) -> &'static str {
    match said {
        Said::Text(_) => "stop",
        Said::Calls(_) => "tool_calls",
    }
}

pub(super) fn usage(frame: &Frame<'_>, said: &Said) -> Value {
    let bytes = match said {
        Said::Text(text) => text.len(),
        Said::Calls(calls) => calls
            .iter()
            .map(|call| call.name.len() + call.arguments.len())
            .sum(),
    };
    let spoken = tokens(bytes);
    json!({
        "prompt_tokens": frame.prompt_tokens,
        "completion_tokens": spoken,
        "total_tokens": frame.prompt_tokens + spoken,
    })
}

fn call(call: &Call) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    })
}
