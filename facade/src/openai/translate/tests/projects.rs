//! Results of projects, whose texts may say something else than their structured content.

use serde_json::{Value, json};
use toolgate_contract::v1::{CallResponse, ToolResult};

use crate::openai::translate::{Answered, Ending, Form, answer};

fn told(content: &'static str, structured: &'static str, is_error: bool, is_projects: bool) -> Value {
    let result = ToolResult {
        content: content.into(),
        structured_content: structured.into(),
        is_error,
        raw: if is_projects {
            "{}".into()
        } else {
            Default::default()
        },
        ..ToolResult::default()
    };
    let ending = Ending::Ran(CallResponse {
        correlation_id: "01C".into(),
        result: Some(result),
        duration_ms: 1,
    });
    let id = "c".into();
    let written = answer(Form::Chat, &[Answered { id, ending }]).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    written["messages"][0]["content"].clone()
}

/// `mcp.md` §6: what tells it twice is sent once; what says something else was written to be read.
#[test]
fn texts_of_a_project_win_over_structured_content_that_says_something_else() {
    const JSON: &str = r#"{"b":9007199254740993,"a":1.10}"#;
    let check = |content, is_projects, expected: &str| {
        assert_eq!(
            told(content, JSON, false, is_projects),
            json!(expected),
            "{content}"
        );
    };
    let other = r#"[{"type":"text","text":"two things"},{"type":"text","text":"changed"}]"#;
    check(other, true, "two things\nchanged");
    check(other, false, JSON);
    let copy = r#"[{"type":"text","text":"{\"a\": 1.1, \"b\": 9007199254740993}"}]"#;
    check(copy, true, JSON);
    check("[]", true, JSON);
    let image = r#"[{"type":"image","mimeType":"image/png","data":"AAAA"}]"#;
    let told_image = told(image, JSON, false, true);
    assert!(told_image.as_str().unwrap().starts_with(JSON), "{told_image}");
}

#[test]
fn a_project_that_says_no_keeps_its_mark() {
    let said = told(r#"[{"type":"text","text":"no"}]"#, r#"{"n":1}"#, true, true);
    assert_eq!(
        said,
        json!(r#"{"error":{"message":"no","structuredContent":{"n":1}}}"#)
    );
}
