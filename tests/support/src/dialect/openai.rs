//! OpenAI's tool calls: a model's message in, tool messages out.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Form, Told, names};
use crate::Caller;

pub(super) async fn call(caller: &Caller, form: Form, tool: &str, arguments: &str) -> Told {
    let (body, place) = match form {
        Form::Chat => (
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": arguments}}
            ]}),
            "/messages/0/content",
        ),
        Form::Responses => (
            json!({"output": [
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": tool, "arguments": arguments}
            ]}),
            "/output/0/output",
        ),
    };
    let request = caller.request(Method::POST, "/openai/v1/tool_calls").json(&body);
    let answer = caller.send(request).await;
    let json = answer.json();
    if answer.status != 200 {
        return Told::refused(json["reason"].as_str().unwrap_or_default(), None);
    }
    let text = json.pointer(place).map(text_of).unwrap_or_default();
    let read: Value = serde_json::from_str(&text).unwrap_or_default();
    match read["error"]["reason"].as_str() {
        Some(reason) => Told::refused(reason, read["error"]["retryAfter"].as_u64()),
        None => Told::Result {
            content: None,
            structured: Some(text),
            is_error: false,
        },
    }
}

/// The text of an output: itself, or its blocks put together as a tool message has them.
fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        other => {
            let blocks = other.as_array().into_iter().flatten();
            let texts = blocks.filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

pub(super) async fn tools(caller: &Caller, form: Form) -> Vec<String> {
    let (path, name) = match form {
        Form::Chat => ("/openai/v1/tools", "/function/name"),
        Form::Responses => ("/openai/v1/tools?format=responses", "/name"),
    };
    names(&caller.get(path).await.json()["tools"], name)
}
