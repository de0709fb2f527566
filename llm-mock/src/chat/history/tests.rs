use serde_json::{Value, json};

use super::read;

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "list", "arguments": "{}"}})
}

fn calling(ids: &[&str]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(|id| call(id)).collect::<Vec<_>>()})
}

fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": format!("answer of {id}")})
}

fn user() -> Value {
    json!({"role": "user", "content": "hello"})
}

#[test]
fn a_sound_history_is_counted_in_rounds() {
    let first = json!({"messages": [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "two"}]},
        calling(&["a", "b"]), tool("b"), tool("a"),
        calling(&["c"]), {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
    ]});
    let conversation = read(&first).expect("sound");
    assert_eq!(conversation.asked, "one\ntwo");
    assert_eq!((conversation.round, conversation.steps), (2, 2));
    assert_eq!(conversation.results, ["answer of b", "answer of a", "x\ny"]);

    let second = json!({"messages": [user(), calling(&["a"]), tool("a"), {"role": "assistant", "content": "done"}, user()]});
    let conversation = read(&second).expect("sound");
    assert_eq!(
        (conversation.round, conversation.steps, conversation.results.len()),
        (0, 1, 0)
    );
}

#[test]
fn a_history_that_openai_refuses_is_refused() {
    let open = "did not have response messages: b";
    let cases = [
        (json!([]), "empty array"),
        (json!("x"), "an array"),
        (json!([user(), calling(&["a", "b"]), tool("a")]), open),
        (
            json!([user(), calling(&["a", "b"]), tool("a"), user(), tool("b")]),
            open,
        ),
        (
            json!([user(), calling(&["a", "b"]), tool("a"), calling(&["c"])]),
            open,
        ),
        (
            json!([user(), calling(&["a"]), tool("a"), tool("a")]),
            "answered before",
        ),
        (json!([user(), calling(&["a"]), tool("x")]), "'x' not found"),
        (json!([user(), tool("a")]), "must be a response"),
        (
            json!([user(), calling(&["a"]), tool("a"), user(), tool("a")]),
            "must be a response",
        ),
        (json!([user(), calling(&["a", "a"])]), "Duplicate"),
        (json!([user(), calling(&[])]), "1 to 128"),
        (
            json!([user(), calling(&["a"]), {"role": "tool", "tool_call_id": "a"}]),
            "messages[2].content",
        ),
        (
            json!([user(), calling(&["a"]), {"role": "tool", "content": "x"}]),
            "messages[2].tool_call_id",
        ),
        (
            json!([user(), calling(&["a"]), {"role": "tool", "tool_call_id": "a", "content": {"x": 1}}]),
            "messages[2].content",
        ),
        (
            json!([user(), calling(&["a"]), {"role": "tool", "tool_call_id": "a", "content": [{"type": "image_url", "image_url": {}}]}]),
            "content[0].type",
        ),
        (json!([{"role": "wizard", "content": "x"}]), "messages[0].role"),
        (
            json!([{"role": "assistant", "content": null}]),
            "messages[0].content",
        ),
        (
            json!([{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "a.b", "arguments": "{}"}}]}]),
            "function.name",
        ),
        (
            json!([{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "a", "arguments": {}}}]}]),
            "function.arguments",
        ),
        (
            json!([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "a", "arguments": "{}"}}]}]),
            "tool_calls[0].type",
        ),
    ];
    for (messages, expected) in cases {
        let refusal = read(&json!({"messages": messages})).expect_err(expected);
        assert!(
            refusal.message().contains(expected),
            "{messages}: {}",
            refusal.message()
        );
        assert!(
            refusal.param().is_some_and(|param| param.starts_with("messages")),
            "{refusal:?}"
        );
    }
}
