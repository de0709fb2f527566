//! A turn of a model's conversation, as OpenAI's Chat Completions have it.

use serde_json::{Value, json};

/// Where a turn is sent.
pub const TOOL_CALLS: &str = "/openai/v1/tool_calls";

/// An assistant message that asks for calls of (id, name, arguments).
#[must_use]
pub fn message(calls: &[(&str, &str, &str)]) -> Value {
    let call = |(id, name, arguments): &(&str, &str, &str)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    json!({"role": "assistant", "content": null, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
}

/// The id and content of each tool message of an answer.
#[must_use]
pub fn told(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = answer["messages"].as_array().cloned().unwrap_or_default();
    messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| (text(&message["tool_call_id"]), text(&message["content"])))
        .collect()
}

/// The reason in the content of a tool message; empty where it is no error.
#[must_use]
pub fn reason(content: &str) -> String {
    let content: Value = serde_json::from_str(content).unwrap_or_default();
    content["error"]["reason"].as_str().unwrap_or_default().to_owned()
}
