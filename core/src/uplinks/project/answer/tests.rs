use std::sync::Arc;

use toolgate_contract::frame::FrameId;

use super::*;
use crate::upstream::Payload;

fn message(method: &str, conversation: Option<FrameId>) -> Message {
    Message {
        method: Arc::from(method),
        params: Payload(Bytes::new()),
        conversation,
    }
}

#[test]
fn a_result_of_a_call_is_kept_byte_for_byte_and_read_where_it_must_be() {
    let raw = r#" {"_meta": {"n": 9007199254740993}, "isError":true,"content":[ {"type":"image"} ],"structuredContent":{"a" :1.0}, "x":null} "#;
    let read = result(Bytes::from_static(raw.as_bytes()), &message(CALL, None)).expect("read");
    assert_eq!(read.raw, Some(Raw::Result(Bytes::from_static(raw.as_bytes()))));
    assert_eq!(read.content.get(), r#"[ {"type":"image"} ]"#);
    assert_eq!(read.structured.expect("structured").get(), r#"{"a" :1.0}"#);
    assert!(read.is_error);
}

#[test]
fn what_is_no_result_of_a_call_is_invalid() {
    let led = Some(FrameId::parse("01J").expect("an id"));
    for (body, shared, in_its_own) in [
        (r#"{"content":[]}"#, true, true),
        (r#"{"content":[],"resultType":"complete"}"#, true, true),
        (
            r#"{"content":[],"structuredContent":null,"isError":null}"#,
            true,
            true,
        ),
        (r#"{"content":[],"resultType":"input_required"}"#, false, true),
        (
            r#"{"resultType":"input_required","inputRequests":{}}"#,
            false,
            true,
        ),
        (r#"{"task":{"taskId":"1"}}"#, false, true),
        ("{}", false, true),
        (r#"{"content":null}"#, false, true),
        (r#"{"content":{}}"#, false, false),
        (r#"{"content":[],"content":[]}"#, false, false),
        (r#"{"content":[],"isError":"no"}"#, false, false),
        (r#"{"content":[]} {}"#, false, false),
        (r#"{"content":[}"#, false, false),
        ("[]", false, false),
        ("null", false, false),
        ("", false, false),
        ("{\"content\":[],\"x\":\"\u{1}\"}", false, false),
    ] {
        for (conversation, wanted) in [(None, shared), (led.clone(), in_its_own)] {
            let read = result(
                Bytes::copy_from_slice(body.as_bytes()),
                &message(CALL, conversation),
            );
            assert_eq!(read.is_ok(), wanted, "{body}");
        }
    }
    let not_text = result(
        Bytes::from_static(b"{\"content\":[\"\xff\"]}"),
        &message(CALL, None),
    );
    assert_eq!(not_text.expect_err("refused"), UpstreamError::Invalid);
}

#[test]
fn the_result_of_another_method_is_any_object() {
    for (body, wanted) in [
        (r#"{"tools":[]}"#, true),
        ("{}", true),
        ("[]", false),
        ("1", false),
        ("{", false),
    ] {
        let read = result(Bytes::from_static(body.as_bytes()), &message("tools/list", None));
        assert_eq!(read.is_ok(), wanted, "{body}");
        if let Ok(read) = read {
            assert_eq!((read.content.get(), read.is_error), ("null", false));
        }
    }
}

#[test]
fn an_error_is_one_of_json_rpc_and_kept() {
    let body = r#"{"code":-32042,"message":"n\u0000o","data":{"big":1e400}}"#;
    let read = error(Bytes::from_static(body.as_bytes())).expect("read");
    assert_eq!(read.raw, Some(Raw::Error(Bytes::from_static(body.as_bytes()))));
    assert!(read.is_error);
    for body in [
        "",
        "{}",
        "[]",
        r#"{"code":"1","message":"x"}"#,
        r#"{"code":1}"#,
        r#"{"code":1.5,"message":""}"#,
    ] {
        assert_eq!(
            error(Bytes::from_static(body.as_bytes())).err(),
            Some(UpstreamError::Invalid),
            "{body}"
        );
    }
}
