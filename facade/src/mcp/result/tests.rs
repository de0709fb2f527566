use bytes::Bytes;
use serde_json::Value;
use toolgate_contract::v1::ToolResult;

use super::*;
use crate::mcp::revision::Legacy;

fn written(era: Era, result: ToolResult) -> String {
    let id = Id::read(serde_json::from_str("7").unwrap()).unwrap();
    let answer = CallResponse {
        correlation_id: "01C".into(),
        result: Some(result),
        duration_ms: 1,
    };
    let message = write(&id, era, &answer, &ServerInfo::new("9"));
    let text = String::from_utf8(message.to_vec()).unwrap();
    serde_json::from_str::<Value>(&text).unwrap();
    assert!(!text.contains(['\n', '\r']));
    text
}

const LEGACY: Era = Era::Legacy(Legacy::Structured);

fn result(content: &'static str, structured: &'static str, meta: &'static str) -> ToolResult {
    ToolResult {
        content: Bytes::from_static(content.as_bytes()),
        structured_content: Bytes::from_static(structured.as_bytes()),
        is_error: false,
        meta: Bytes::from_static(meta.as_bytes()),
        ..Default::default()
    }
}

#[test]
fn a_result_is_spliced_from_the_bytes_of_the_core() {
    let check = |result: ToolResult, expected: &str| {
        let start = r#"{"jsonrpc":"2.0","id":7,"result":{"#;
        assert_eq!(written(LEGACY, result), format!("{start}{expected}}}"));
    };
    check(
        ToolResult::default(),
        r#""content":[],"isError":false,"_meta":{"toolgate/correlationId":"01C"}}"#,
    );
    check(
        result(
            "[ {\"type\":\"text\",\n\"text\":\"a\"} ]",
            "",
            "{ \"toolgate/target\":{\"id\":\"t\"} }",
        ),
        r#""content":[{"type":"text", "text":"a"}],"isError":false,"_meta":{"toolgate/correlationId":"01C","toolgate/target":{"id":"t"}}}"#,
    );
    check(
        ToolResult {
            is_error: true,
            ..result("[]", "", "{}")
        },
        r#""content":[],"isError":true,"_meta":{"toolgate/correlationId":"01C"}}"#,
    );
}

/// T5, and reports #18 and #21.
#[test]
fn the_structured_part_is_there_byte_for_byte_and_once_more_as_text() {
    let json = r#"{"b":9007199254740993,"a":1.10}"#;
    let copy = r#"{"type":"text","text":"{\"b\":9007199254740993,\"a\":1.10}"}"#;
    for (content, expected) in [
        ("[]", format!("[{copy}]")),
        (
            r#"[{"type":"text","text":"short"}]"#,
            format!(r#"[{{"type":"text","text":"short"}},{copy}]"#),
        ),
    ] {
        let text = written(LEGACY, result(content, json, ""));
        assert!(
            text.contains(&format!(r#""content":{expected},"structuredContent":{json}"#)),
            "{text}"
        );
    }
    // A tool that makes the copy itself is not copied again.
    let own: &'static str = Box::leak(format!("[{copy}]").into_boxed_str());
    assert_eq!(
        written(LEGACY, result(own, json, ""))
            .matches("9007199254740993")
            .count(),
        2
    );
}

#[test]
fn only_the_newest_revision_knows_structured_parts_that_are_no_object() {
    assert!(!written(LEGACY, result("[]", "[1]", "")).contains("structuredContent"));
    assert!(written(Era::Modern, result("[]", "[1]", "")).contains(r#""structuredContent":[1]"#));
}

#[test]
fn results_of_the_newest_revision_say_that_they_are_complete_and_who_gives_them() {
    let text = written(Era::Modern, result("[]", "", r#"{"x":1}"#));
    assert_eq!(
        text,
        r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[],"isError":false,"_meta":{"toolgate/correlationId":"01C","io.modelcontextprotocol/serverInfo":{"name":"toolgate","title":"Toolgate","version":"9"},"x":1}}}"#
    );
}
