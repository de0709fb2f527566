//! How results are told: a short text for reading, and the structured part. Pure.
//!
//! What a server wrote is data: in the text, whatever could steer a terminal or hide from a reader is escaped.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::upstream::{ToolResult, UpstreamError};

/// More lines than this are counted instead of written.
const LINES: usize = 100;
/// Longer values are cut.
const WIDTH: usize = 120;

/// A result.
pub(super) fn result(text: &str, structured: &impl Serialize) -> Result<ToolResult, UpstreamError> {
    Ok(ToolResult {
        content: content(text)?,
        structured: Some(to_raw_value(structured).map_err(|_| UpstreamError::Invalid)?),
        is_error: false,
        raw: None,
    })
}

/// A result that is text alone.
pub(super) fn text(text: &str) -> Result<ToolResult, UpstreamError> {
    Ok(ToolResult {
        content: content(text)?,
        structured: None,
        is_error: false,
        raw: None,
    })
}

/// The tool ran and says no.
pub(super) fn no(text: &str) -> Result<ToolResult, UpstreamError> {
    Ok(ToolResult {
        content: content(text)?,
        structured: None,
        is_error: true,
        raw: None,
    })
}

/// The lines, the first hundred of them.
pub(super) fn lines(all: impl ExactSizeIterator<Item = String>) -> String {
    let beyond = all.len().saturating_sub(LINES);
    let mut lines: Vec<String> = all.take(LINES).collect();
    if beyond > 0 {
        lines.push(format!("… and {beyond} more"));
    }
    lines.join("\n")
}

/// What a server wrote, as it may stand in a text.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(WIDTH));
    for (count, c) in text.chars().enumerate() {
        if count == WIDTH {
            shown.push('…');
            break;
        }
        match steers(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

/// Control, bidirectional, zero-width and tag characters, and separators of lines.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn content(text: &str) -> Result<Box<RawValue>, UpstreamError> {
    #[derive(Serialize)]
    struct Block<'a> {
        r#type: &'a str,
        text: &'a str,
    }
    to_raw_value(&[Block { r#type: "text", text }]).map_err(|_| UpstreamError::Invalid)
}

/// That a list goes on, and where: some clients show nothing but the text.
pub(super) fn goes_on(cursor: Option<&str>) -> Option<String> {
    cursor.map(|cursor| format!("There are more: ask again with cursor {cursor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_reader_is_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text), expected);
        check("café – 日本", "café – 日本");
        check("a\u{1b}[31mb\r\n", "a\\u{1b}[31mb\\u{d}\\u{a}");
        check(
            "x\u{202e}y\u{2066}\u{e0041}\u{200b}",
            "x\\u{202e}y\\u{2066}\\u{e0041}\\u{200b}",
        );
        check(&"z".repeat(200), &format!("{}…", "z".repeat(120)));
    }

    #[test]
    fn more_than_a_hundred_lines_are_counted() {
        let text = lines((0..130).map(|n| n.to_string()));
        assert!(text.ends_with("\n99\n… and 30 more"), "{text}");
        assert_eq!(lines(["a".to_owned()].into_iter()), "a");
    }
}
