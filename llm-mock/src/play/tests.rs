use serde_json::json;

use super::{Said, matches, play};
use crate::{
    conversation::Conversation,
    script::Script,
    tool::{Form, Toolbox},
};

fn asked(message: &str, choice: &str) -> Conversation {
    let tool = |name: &str| json!({"type": "function", "name": name});
    let body = json!({
        "tools": [tool("gitea_list_repos"), tool("github_list_repos")],
        "tool_choice": choice,
    });
    let mut conversation = Conversation::new(Toolbox::read(&body, Form::Responses).expect("a toolbox"));
    conversation.user(message.to_owned());
    conversation
}

fn calls(round: &str, conversation: &Conversation) -> Vec<(String, String, String)> {
    let script = Script::parse(&format!(r#"{{"model": "m", "rounds": [{round}]}}"#)).expect("a script");
    match play(&script, conversation) {
        Said::Calls(calls) => calls
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect(),
        Said::Text(text) => vec![("text".into(), text, String::new())],
    }
}

fn names(round: &str, conversation: &Conversation) -> Vec<String> {
    calls(round, conversation)
        .into_iter()
        .map(|call| call.1)
        .collect()
}

#[test]
fn a_tool_is_picked_by_what_the_user_wants_by_name_or_by_pattern() {
    let conversation = asked("call github_list_repos", "auto");
    assert_eq!(
        names(r#"{"call": [{"tool": "wanted"}]}"#, &conversation),
        ["github_list_repos"]
    );
    let by_name = r#"{"call": [{"tool": {"named": "gitea_list_repos"}}]}"#;
    assert_eq!(names(by_name, &conversation), ["gitea_list_repos"]);
    let by_pattern = r#"{"call": [{"tool": {"matching": "*hub_*"}}]}"#;
    assert_eq!(names(by_pattern, &conversation), ["github_list_repos"]);
    let missing = names(r#"{"call": [{"tool": {"named": "list_vms"}}]}"#, &conversation);
    assert_eq!(
        missing,
        ["There is no tool list_vms among 2: [gitea_list_repos, github_list_repos]."]
    );
}

#[test]
fn arguments_are_those_of_the_script_else_of_the_message_else_none() {
    let message = asked(r#"call github_list_repos {"n": 9007199254740993}"#, "auto");
    let own = r#"{"call": [{"tool": "wanted", "arguments": {"m":  1.50}}]}"#;
    assert_eq!(calls(own, &message)[0].2, r#"{"m":  1.50}"#);
    let raw = r#"{"call": [{"tool": "wanted", "raw_arguments": "{oops"}]}"#;
    assert_eq!(calls(raw, &message)[0].2, "{oops");
    let none = r#"{"call": [{"tool": "wanted"}]}"#;
    assert_eq!(calls(none, &message)[0].2, r#"{"n": 9007199254740993}"#);
    assert_eq!(calls(none, &asked("github_list_repos", "auto"))[0].2, "{}");
}

#[test]
fn ids_of_calls_differ_within_a_round_and_between_rounds() {
    let round = r#"{"call": [{"tool": "wanted"}, {"tool": "wanted"}], "repeat": "forever"}"#;
    let mut conversation = asked("github_list_repos", "auto");
    let ids = |conversation: &Conversation| -> Vec<String> {
        calls(round, conversation)
            .into_iter()
            .map(|call| call.0)
            .collect()
    };
    assert_eq!(ids(&conversation), ["call_000_00", "call_000_01"]);
    conversation.called();
    assert_eq!(ids(&conversation), ["call_001_00", "call_001_01"]);
    conversation.user("again github_list_repos".into());
    assert_eq!(
        ids(&conversation),
        ["call_001_00", "call_001_01"],
        "the history still holds call_000"
    );
}

#[test]
fn a_choice_of_the_request_is_kept() {
    let round = r#"{"call": [{"tool": "wanted"}]}"#;
    assert_eq!(
        names(round, &asked("github_list_repos", "none")),
        ["I may call no tool."]
    );
    assert_eq!(names(round, &asked("hello", "required")), ["gitea_list_repos"]);
    let mut single = asked("github_list_repos", "auto");
    single.toolbox.parallel = false;
    assert_eq!(
        names(r#"{"call": [{"tool": "wanted"}, {"tool": "wanted"}]}"#, &single).len(),
        1
    );
}

#[test]
fn a_star_stands_for_any_text() {
    let cases = [
        ("a", "a", true),
        ("a", "ab", false),
        ("*", "", true),
        ("a*", "ab", true),
        ("*b", "ab", true),
        ("a*c*e", "abcde", true),
        ("a*c*e", "abde", false),
        ("ab*ba", "aba", false),
        ("*_list_*", "github_list_repos", true),
    ];
    for (pattern, name, expected) in cases {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}
