use serde_json::{Value, json};

use super::read;

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "list", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": format!("answer of {id}")})
}

#[test]
fn a_sound_input_is_counted_in_rounds() {
    assert_eq!(read(&json!({"input": "hello"})).expect("sound").asked, "hello");
    let input = json!([
        {"role": "developer", "content": "be good"},
        {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        call("a"), call("b"), output("b"), output("a"),
        call("c"), {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "data:"}]},
    ]);
    let conversation = read(&json!({"input": input})).expect("sound");
    assert_eq!(conversation.asked, "hello");
    assert_eq!((conversation.round, conversation.steps), (2, 2));
    assert_eq!(conversation.results, ["answer of b", "answer of a", "x"]);
}

#[test]
fn an_input_that_openai_refuses_is_refused() {
    let cases = [
        (json!(null), "Missing required parameter: 'input'"),
        (json!(7), "an array"),
        (json!([call("a")]), "No tool output found for function call a."),
        (
            json!([output("a")]),
            "No tool call found for function call output with call_id a.",
        ),
        (json!([call("a"), output("a"), output("a")]), "No tool call found"),
        (json!([call("a"), output("fc_a")]), "No tool call found"),
        (json!([call("a"), call("a")]), "Duplicate"),
        (
            json!([call("a"), {"type": "function_call_output", "call_id": "a", "output": {"x": 1}}]),
            "input[1].output",
        ),
        (
            json!([call("a"), {"type": "function_call_output", "call_id": "a", "output": [{"type": "text", "text": "x"}]}]),
            "output[0].type",
        ),
        (
            json!([{"type": "function_call", "call_id": "a", "name": "a.b", "arguments": "{}"}]),
            "input[0].name",
        ),
        (json!([{"type": "tool", "role": "tool"}]), "input[0].type"),
        (json!([{"role": "tool", "content": "x"}]), "input[0].role"),
    ];
    for (input, expected) in cases {
        let refusal = read(&json!({"input": input})).expect_err(expected);
        assert!(
            refusal.message().contains(expected),
            "{input}: {}",
            refusal.message()
        );
    }
    let kept = json!({"input": "x", "previous_response_id": "resp_1"});
    assert_eq!(
        read(&kept).expect_err("not kept").param(),
        Some("previous_response_id")
    );
}
