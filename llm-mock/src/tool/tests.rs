use serde_json::{Value, json};

use super::{Form, ToolChoice, Toolbox};

fn chat(body: Value) -> Result<Toolbox, String> {
    Toolbox::read(&body, Form::Chat).map_err(|refusal| refusal.message().to_owned())
}

fn wrapped(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
}

#[test]
fn a_tool_of_a_chat_stands_in_a_wrapper_and_one_of_a_response_is_flat() {
    let flat = json!({"type": "function", "name": "a", "parameters": {"type": "object", "properties": {}}});
    assert_eq!(chat(json!({"tools": [wrapped("a")]})).expect("read").names, ["a"]);
    let told = chat(json!({"tools": [flat]})).expect_err("flat in a chat");
    assert_eq!(told, "Missing required parameter: 'tools[0].function'.");

    let read = |tool: &Value| Toolbox::read(&json!({"tools": [tool]}), Form::Responses);
    assert_eq!(read(&flat).expect("read").names, ["a"]);
    let told = read(&wrapped("a")).expect_err("wrapped in a response");
    assert_eq!(told.message(), "Missing required parameter: 'tools[0].name'.");
}

#[test]
fn a_name_holds_letters_digits_underscores_and_dashes_only() {
    for name in ["a", "github_list_repos", "A-1", &"x".repeat(64)] {
        assert!(chat(json!({"tools": [wrapped(name)]})).is_ok(), "{name}");
    }
    for name in ["", "github.list_repos", "a b", "ä", "a/b", &"x".repeat(65)] {
        assert!(chat(json!({"tools": [wrapped(name)]})).is_err(), "{name}");
    }
}

#[test]
fn more_tools_than_openai_takes_are_refused() {
    let tools =
        |count: usize| json!({"tools": (0..count).map(|n| wrapped(&format!("t{n}"))).collect::<Vec<_>>()});
    assert!(chat(tools(128)).is_ok());
    assert!(chat(tools(129)).expect_err("129").contains("maximum length 128"));
}

#[test]
fn tool_choice_says_what_may_be_called() {
    let tools = json!([wrapped("a"), wrapped("b")]);
    let read = |choice: Value| chat(json!({"tools": tools, "tool_choice": choice}));
    let cases = [
        (json!("none"), ToolChoice::None, vec!["a", "b"]),
        (json!("auto"), ToolChoice::Auto, vec!["a", "b"]),
        (json!(null), ToolChoice::Auto, vec!["a", "b"]),
        (json!("required"), ToolChoice::Required, vec!["a", "b"]),
        (
            json!({"type": "function", "function": {"name": "b"}}),
            ToolChoice::Named("b".into()),
            vec!["a", "b"],
        ),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [wrapped("b")]}}),
            ToolChoice::Required,
            vec!["b"],
        ),
    ];
    for (choice, expected, names) in cases {
        let toolbox = read(choice.clone()).expect("read");
        assert_eq!(
            (toolbox.choice, toolbox.names),
            (expected, names.into_iter().map(str::to_owned).collect()),
            "{choice}"
        );
    }
    for choice in [
        json!("always"),
        json!(3),
        json!({"type": "function", "function": {"name": "c"}}),
        json!({"type": "function", "name": "a"}),
        json!({"type": "custom"}),
    ] {
        assert!(read(choice.clone()).is_err(), "{choice}");
    }
    assert!(chat(json!({"tool_choice": "required"})).is_err(), "without tools");
}
