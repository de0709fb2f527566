use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Block, Issue, read};
use crate::{
    report::{CATEGORIES, Labels, Malformed, SEVERITIES},
    tool::REPORT_TOOL,
    turn::Turns,
};

/// What a line says, in owned words: blocks as `tool/turn`, issues as labels or the fault.
fn said_of(line: &[u8], turns: &mut Turns) -> (bool, Vec<String>) {
    let mut said = Vec::new();
    let understood = read(line, REPORT_TOOL, turns, &mut |block: &Block<'_>, issue| {
        let turn = block.turn_id.as_deref().unwrap_or("-");
        let issue = match issue {
            None => String::new(),
            Some(Ok(report)) => {
                let Labels { category, severity } = report.labels();
                format!(" {category}/{severity} {}", report.description)
            }
            Some(Err(why)) => format!(" malformed: {why}"),
        };
        said.push(format!("{}@{turn}{issue}", block.tool));
    });
    (understood, said)
}

fn said(line: &Value) -> Vec<String> {
    said_of(line.to_string().as_bytes(), &mut Turns::default()).1
}

fn call(name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": input})
}

fn agent(blocks: Value) -> Value {
    json!({"type": "assistant", "turnId": "t1", "message": {"id": "m1", "role": "assistant", "content": blocks}})
}

fn report(input: Value) -> Value {
    agent(json!([call(REPORT_TOOL, input)]))
}

#[test]
fn every_call_of_a_message_is_told_and_nothing_else_in_it() {
    let blocks = json!([
        {"type": "text", "text": "hello"},
        call("Bash", json!({"command": "ls"})),
        {"type": "thinking", "thinking": REPORT_TOOL},
        7, null, {"type": "tool_use"},
        call(REPORT_TOOL, json!({"category": "auth", "severity": "warn", "description": "d"})),
    ]);
    let name = REPORT_TOOL;
    assert_eq!(
        said(&agent(blocks)),
        ["Bash@t1".into(), "@t1".into(), format!("{name}@t1 auth/warn d")]
    );
}

#[test]
fn only_the_agent_calls_tools() {
    let blocks = json!([call(REPORT_TOOL, json!({"description": "d"}))]);
    let quiet = |line: Value| assert_eq!(said(&line), Vec::<String>::new(), "{line}");
    quiet(json!({"type": "user", "message": {"role": "user", "content": blocks}}));
    quiet(json!({"type": "progress", "message": {"role": "assistant", "content": blocks}}));
    quiet(json!({"type": "assistant", "message": {"content": "text"}}));
    quiet(json!({"type": "assistant", "message": 5}));
    quiet(json!({"type": "assistant"}));
    quiet(json!({"type": "summary", "summary": REPORT_TOOL}));
    let quoted = json!({"type": "tool_result", "content": [call(REPORT_TOOL, json!({}))]});
    quiet(agent(json!([quoted])));
    // A message as an API answers it stands without an envelope.
    assert_eq!(
        said(&json!({"type": "message", "role": "assistant", "content": blocks})).len(),
        1
    );
    assert_eq!(
        said(&json!({"message": {"role": "assistant", "content": blocks}})).len(),
        1
    );
}

#[test]
fn a_report_counts_as_what_it_says_and_as_other_and_error_where_that_is_not_known() {
    let check = |input: Value, expected: &str| {
        let told = said(&report(input.clone()));
        assert_eq!(told, [format!("{REPORT_TOOL}@t1 {expected}")], "{input}");
    };
    for category in CATEGORIES {
        for severity in SEVERITIES {
            let input = json!({"category": category, "severity": severity, "description": "d"});
            check(input, &format!("{category}/{severity} d"));
        }
    }
    check(json!({"category": "auth", "description": "d"}), "auth/error d");
    check(
        json!({"category": "auth", "severity": null, "description": "d"}),
        "auth/error d",
    );
    check(
        json!({"category": "auth", "severity": "fatal", "description": "d"}),
        "auth/error d",
    );
    check(
        json!({"category": "auth", "severity": "WARN", "description": "d"}),
        "auth/error d",
    );
    check(
        json!({"category": "weather", "severity": "warn", "description": "d"}),
        "other/warn d",
    );
    check(
        json!({"severity": "warn", "description": "d", "more": [1]}),
        "other/warn d",
    );
    check(json!({}), "other/error ");
}

#[test]
fn an_input_that_is_no_report_says_why() {
    let check = |input: Value, why: &str| {
        let told = said(&report(input.clone()));
        assert_eq!(told, [format!("{REPORT_TOOL}@t1 malformed: {why}")], "{input}");
    };
    check(json!("text"), "the input is no object");
    check(json!(null), "the input is no object");
    check(json!([]), "the input is no object");
    check(json!({"category": 5}), "`category` is no text");
    check(
        json!({"category": "auth", "description": ["d"]}),
        "`description` is no text",
    );
    let without = agent(json!([{"type": "tool_use", "name": REPORT_TOOL}]));
    assert_eq!(
        said(&without),
        [format!("{REPORT_TOOL}@t1 malformed: the call has no input")]
    );
}

#[test]
fn a_report_is_seen_in_a_broken_line_but_not_where_it_is_quoted() {
    let whole = report(json!({"category": "auth", "description": "d"})).to_string();
    let check = |line: &str, seen: bool| {
        let (understood, told) = said_of(line.as_bytes(), &mut Turns::default());
        assert!(!understood, "{line}");
        let expected = format!("{REPORT_TOOL}@- malformed: {}", Malformed::LineNotJson);
        let expected: Vec<String> = seen.then_some(expected).into_iter().collect();
        assert_eq!(told, expected, "{line}");
    };
    check(&whole[..whole.len() - 1], true);
    check(&format!("garbage {whole}"), true);
    check(&whole.replace("\"name\":", "\"name\" : ")[1..], true);
    check(&format!("{{\"text\": {}", json!(whole)), false);
    check(
        &whole.replace(REPORT_TOOL, "mcp__tatara__report_internal_issues")[1..],
        false,
    );
    check("no json", false);
    check("[]", false);
}

#[test]
fn bytes_that_are_no_utf_8_and_halves_of_surrogates_cost_a_character() {
    let line = report(json!({"category": "auth", "description": "a?b"})).to_string();
    let check = |bytes: &[u8]| {
        let (understood, told) = said_of(bytes, &mut Turns::default());
        assert!(understood);
        assert!(told[0].contains("auth/error a\u{fffd}"), "{told:?}");
    };
    let mut broken = line.clone().into_bytes();
    let at = broken.iter().position(|byte| *byte == b'?').unwrap();
    broken[at] = 0xff;
    check(&broken);
    check(line.replace('?', "\\ud83d").as_bytes());
}

#[test]
fn the_turn_is_the_one_that_is_named_else_the_prompts() {
    let check = |line: Value, expected: &str| {
        let told = said(&line);
        assert_eq!(told, [format!("Bash@{expected}")], "{line}");
    };
    let blocks = json!([call("Bash", json!({}))]);
    check(
        json!({"type": "assistant", "turnId": "a", "turn_id": "b", "message": {"content": blocks}}),
        "a",
    );
    check(
        json!({"type": "assistant", "turn_id": 7, "promptId": "p", "message": {"content": blocks}}),
        "7",
    );
    check(
        json!({"type": "assistant", "message": {"turn_id": "m", "content": blocks}}),
        "m",
    );
    check(
        json!({"type": "assistant", "promptId": "p", "message": {"content": blocks}}),
        "p",
    );
    check(
        json!({"type": "assistant", "turnId": "", "uuid": "u", "message": {"content": blocks}}),
        "-",
    );
    check(
        json!({"type": "assistant", "turnId": "x".repeat(300), "message": {"content": blocks}}),
        "-",
    );
}

#[test]
fn a_turn_begins_with_a_prompt_of_the_same_conversation_and_of_the_same_agent() {
    let mut turns = Turns::default();
    let mut hear = |line: Value| said_of(line.to_string().as_bytes(), &mut turns).1;
    let prompt = |uuid: &str, session: &str, side: bool, content: Value| {
        json!({"type": "user", "uuid": uuid, "sessionId": session, "isSidechain": side,
               "message": {"role": "user", "content": content}})
    };
    let calls = |session: &str, side: bool| {
        json!({"type": "assistant", "sessionId": session, "isSidechain": side,
               "message": {"content": [call("Bash", json!({}))]}})
    };
    assert_eq!(hear(calls("s", false)), ["Bash@-"], "its beginning was not read");
    hear(prompt("p1", "s", false, json!("do it")));
    assert_eq!(hear(calls("s", false)), ["Bash@p1"]);
    hear(prompt(
        "r",
        "s",
        false,
        json!([{"type": "tool_result", "content": "ok"}]),
    ));
    hear(
        json!({"type": "user", "uuid": "n", "sessionId": "s", "isMeta": true, "message": {"content": "note"}}),
    );
    assert_eq!(hear(calls("s", false)), ["Bash@p1"]);
    hear(prompt("q1", "s", true, json!("look there")));
    assert_eq!(hear(calls("s", true)), ["Bash@q1"]);
    assert_eq!(hear(calls("s", false)), ["Bash@p1"]);
    assert_eq!(hear(calls("other", false)), ["Bash@-"]);
    hear(prompt(
        "p2",
        "s",
        false,
        json!([{"type": "text", "text": "more"}]),
    ));
    assert_eq!(hear(calls("s", false)), ["Bash@p2"]);
}

/// Any JSON, deep and wide enough to be strange.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["assistant", "user", "tool_use", REPORT_TOOL, "warn", "auth"])
            .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "type",
        "message",
        "content",
        "name",
        "input",
        "role",
        "id",
        "category",
        "severity",
        "description",
        "turnId",
        "uuid",
        "sessionId",
        "isSidechain",
    ]);
    leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_and_only_what_is_no_object_is_not_understood(bytes in any::<Vec<u8>>()) {
        let (understood, _) = said_of(&bytes, &mut Turns::default());
        prop_assert_eq!(understood, crate::json::is_object(&bytes));
    }

    #[test]
    fn any_object_is_understood(json in any_json()) {
        let (understood, _) = said_of(json.to_string().as_bytes(), &mut Turns::default());
        prop_assert_eq!(understood, json.is_object());
    }

    #[test]
    fn whatever_is_reported_is_told_once_under_known_labels(input in any_json(), before in any_json(), after in any_json()) {
        let line = agent(json!([before, call(REPORT_TOOL, input), after]));
        let mut issues = 0;
        let mut told = |_: &Block<'_>, issue: Option<&Issue<'_>>| {
            if let Some(issue) = issue {
                issues += 1;
                if let Ok(report) = issue {
                    let labels = report.labels();
                    assert!(CATEGORIES.contains(&labels.category) && SEVERITIES.contains(&labels.severity));
                }
            }
        };
        prop_assert!(read(line.to_string().as_bytes(), REPORT_TOOL, &mut Turns::default(), &mut told));
        prop_assert!((1..=3).contains(&issues));
    }

    #[test]
    fn half_a_line_is_never_taken_for_a_whole_one(json in any_json(), at in any::<prop::sample::Index>()) {
        let line = json!({"a": json}).to_string();
        let at = at.index(line.len());
        prop_assert!(!crate::json::is_object(&line.as_bytes()[..at]));
    }

    #[test]
    fn what_an_agent_wrote_comes_back_to_the_letter(texts in prop::array::uniform5(any::<String>())) {
        let [category, severity, description, offending_tool, resource_id] = &texts;
        let line = report(json!({"category": category, "severity": severity, "description": description,
            "offending_tool": offending_tool, "resource_id": resource_id})).to_string();
        let mut seen = Vec::new();
        read(line.as_bytes(), REPORT_TOOL, &mut Turns::default(), &mut |_, issue| {
            let report = issue.unwrap().as_ref().unwrap();
            seen = [&report.category, &report.severity, &report.description, &report.offending_tool, &report.resource_id]
                .map(|text| text.to_string()).to_vec();
        });
        prop_assert_eq!(seen.as_slice(), texts.as_slice());
    }
}
