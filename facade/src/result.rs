//! A tool's result as JSON, spliced from the bytes the core gave.

use bytes::{BufMut, Bytes, BytesMut};
use toolgate_contract::v1::ToolResult;

/// Writes `{"content":…,"isError":…}` with `structuredContent` and `_meta` where there are any, on one line.
pub(crate) fn write(out: &mut BytesMut, result: &ToolResult) {
    write_members(out, result);
    out.put_u8(b'}');
}

/// Writes the same without the closing brace, for an object that says more.
pub(crate) fn write_members(out: &mut BytesMut, result: &ToolResult) {
    out.reserve(result.content.len() + result.structured_content.len() + result.meta.len() + 80);
    out.put_slice(b"{\"content\":");
    splice(out, &result.content, b"[]");
    if !result.structured_content.is_empty() {
        out.put_slice(b",\"structuredContent\":");
        splice(out, &result.structured_content, b"{}");
    }
    out.put_slice(if result.is_error {
        b",\"isError\":true"
    } else {
        b",\"isError\":false"
    });
    if !result.meta.is_empty() {
        out.put_slice(b",\"_meta\":");
        splice(out, &result.meta, b"{}");
    }
}

/// Raw line ends in JSON can only be white space; in an event stream they would end the line.
fn splice(out: &mut BytesMut, json: &[u8], absent: &[u8]) {
    let from = out.len();
    out.put_slice(if json.is_empty() { absent } else { json });
    for byte in &mut out[from..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Writes a text as a JSON string.
pub(crate) fn write_text(out: &mut BytesMut, text: &str) {
    if text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.'))
    {
        out.put_u8(b'"');
        out.put_slice(text.as_bytes());
        out.put_u8(b'"');
    } else {
        // Writing to memory a type that always serialises.
        let _ = serde_json::to_writer(out.writer(), text);
    }
}

/// Writes a whole number.
pub(crate) fn write_number(out: &mut BytesMut, number: i64) {
    let _ = serde_json::to_writer(out.writer(), &number);
}

/// The sum of several results of one call, for callers that want one. A sum is nobody's own words.
pub(crate) fn join(first: ToolResult, next: ToolResult) -> ToolResult {
    if first == ToolResult::default() {
        return next;
    }
    let later = |next: Bytes, first: Bytes| if next.is_empty() { first } else { next };
    ToolResult {
        content: join_arrays(&first.content, &next.content),
        structured_content: later(next.structured_content, first.structured_content),
        is_error: first.is_error || next.is_error,
        meta: later(next.meta, first.meta),
        raw: Bytes::new(),
    }
}

fn join_arrays(first: &Bytes, next: &Bytes) -> Bytes {
    let (Some(head), Some(tail)) = (inside(first), inside(next)) else {
        return if next.is_empty() {
            first.clone()
        } else {
            next.clone()
        };
    };
    if head.is_empty() || tail.is_empty() {
        return if head.is_empty() {
            next.clone()
        } else {
            first.clone()
        };
    }
    [b"[", head, b",", tail, b"]"].concat().into()
}

fn inside(array: &[u8]) -> Option<&[u8]> {
    Some(
        array
            .trim_ascii()
            .strip_prefix(b"[")?
            .strip_suffix(b"]")?
            .trim_ascii(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_one_call_are_joined_block_by_block() {
        let check = |first: &'static str, next: &'static str, expected: &str| {
            let joined = join_arrays(
                &Bytes::from_static(first.as_bytes()),
                &Bytes::from_static(next.as_bytes()),
            );
            assert_eq!(joined, expected.as_bytes());
        };
        check("[1]", "[2,3]", "[1,2,3]");
        check(" [ 1 ] ", "[2]", "[1,2]");
        check("[]", "[2]", "[2]");
        check("[1]", "[]", "[1]");
        check("", "[2]", "[2]");
        check("[1]", "", "[1]");
    }

    #[test]
    fn a_result_is_one_line_of_json_with_only_what_is_there() {
        let check = |result: ToolResult, expected: &str| {
            let mut out = BytesMut::new();
            write(&mut out, &result);
            assert_eq!(out, expected.as_bytes());
        };
        check(ToolResult::default(), r#"{"content":[],"isError":false}"#);
        check(
            ToolResult {
                content: Bytes::from_static(b"[\n1,\r\n2]"),
                structured_content: Bytes::from_static(b"{\"a\":1}"),
                is_error: true,
                meta: Bytes::from_static(b"{\"b\":2}"),
                ..Default::default()
            },
            r#"{"content":[ 1,  2],"structuredContent":{"a":1},"isError":true,"_meta":{"b":2}}"#,
        );
    }

    #[test]
    fn texts_are_escaped() {
        let check = |text: &str, expected: &str| {
            let mut out = BytesMut::new();
            write_text(&mut out, text);
            assert_eq!(out, expected.as_bytes());
        };
        check("01JD-1", r#""01JD-1""#);
        check("a\"b\n", r#""a\"b\n""#);
    }
}
