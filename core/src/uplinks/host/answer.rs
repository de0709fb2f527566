//! What a host answered, read as what it may be and written anew: nothing of a relay's bytes is passed on.
//!
//! A relay sits on a machine that may be taken over. Its answer is decoded into the fields of the tool's response,
//! cleaned, cut and encoded again, so that unknown keys, doubled keys, other kinds of content and what could steer a
//! terminal end here. One pass, no tree.

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::value::{RawValue, to_raw_value};

use crate::upstream::{ToolResult, UpstreamError};

/// Escaping makes six bytes of one, and output comes twice, as text and structured: no honest answer is longer.
const MAX_ANSWER: usize = 4 * 1024 * 1024;
/// Standard output and standard error together, as the relay cuts them.
const MAX_OUTPUT: usize = 256 * 1024;
/// What a host may say of why it did not run a command.
const MAX_WORDS: usize = 4 * 1024;
/// Longer than any command of the grammar.
const MAX_COMMAND: usize = 512;

/// The result of a call, as MCP has it. A key that stands twice is an error, one that is not known is dropped.
#[derive(Deserialize)]
struct CallResult<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(default, borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

#[derive(Deserialize, Serialize)]
struct Block<T> {
    r#type: TextType,
    text: T,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum TextType {
    Text,
}

/// `toolgate.tools.v1.RunWhitelistedCommandResponse`, the allow-list of what is passed on.
#[derive(Deserialize, Serialize)]
struct Output {
    command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    stdout: String,
    stderr: String,
    truncated: bool,
    // The schema's type is signed, its meaning is not.
    duration_ms: u64,
}

/// Reads an answer.
pub(super) fn read(answer: &[u8]) -> Result<ToolResult, UpstreamError> {
    if answer.len() > MAX_ANSWER {
        return Err(UpstreamError::TooLarge);
    }
    let result: CallResult<'_> = decode(answer)?;
    if result.is_error {
        return said_no(result.content);
    }
    // Only its shape counts: what people read is written here, from what programs read.
    let _: [Block<IgnoredAny>; 1] = decode(result.content.get().as_bytes())?;
    let structured = result.structured.ok_or(UpstreamError::Invalid)?;
    let output = bounded(decode(structured.get().as_bytes())?)?;
    Ok(ToolResult {
        content: one_block(&readable(&output))?,
        structured: Some(encode(&output)?),
        is_error: false,
        raw: None,
    })
}

fn said_no(content: &RawValue) -> Result<ToolResult, UpstreamError> {
    let [block]: [Block<String>; 1] = decode(content.get().as_bytes())?;
    let mut text = block.text;
    clean(&mut text);
    cut(&mut text, MAX_WORDS);
    Ok(ToolResult {
        content: one_block(&text)?,
        structured: None,
        is_error: true,
        raw: None,
    })
}

fn bounded(mut output: Output) -> Result<Output, UpstreamError> {
    if output.command.len() > MAX_COMMAND || i64::try_from(output.duration_ms).is_err() {
        return Err(UpstreamError::Invalid);
    }
    for text in [&mut output.command, &mut output.stdout, &mut output.stderr] {
        clean(text);
    }
    let is_cut = cut(&mut output.stdout, MAX_OUTPUT);
    let left = MAX_OUTPUT - output.stdout.len();
    output.truncated |= cut(&mut output.stderr, left) || is_cut;
    Ok(output)
}

/// What was printed, and one line for each thing a reader should not miss.
fn readable(output: &Output) -> String {
    let mut text = output.stdout.clone();
    let mut note = |line: String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        text.push('\n');
    };
    if !output.stderr.trim().is_empty() {
        note(format!("[standard error] {}", output.stderr.trim_end()));
    }
    if output.truncated {
        note("[output cut at 256 KiB]".to_owned());
    } else if let Some(signal) = output.signal {
        note(format!("[ended by signal {signal}]"));
    }
    if let Some(code) = output.exit_code.filter(|&code| code != 0) {
        note(format!("[exit code {code}]"));
    }
    text
}

/// Takes out what could steer a terminal or break a line: C0 and C1 controls but newline and tab, and delete.
fn clean(text: &mut String) {
    let is_kept = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
    // Most output has none, and looking is cheaper than moving.
    if !text.chars().all(is_kept) {
        text.retain(is_kept);
    }
}

/// Cuts at the last whole character within the limit, and tells whether there was more.
fn cut(text: &mut String, limit: usize) -> bool {
    let is_longer = text.len() > limit;
    text.truncate(text.floor_char_boundary(limit));
    is_longer
}

fn one_block(text: &str) -> Result<Box<RawValue>, UpstreamError> {
    encode(&[Block {
        r#type: TextType::Text,
        text,
    }])
}

fn decode<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, UpstreamError> {
    serde_json::from_slice(json).map_err(|_| UpstreamError::Invalid)
}

fn encode<T: Serialize>(value: &T) -> Result<Box<RawValue>, UpstreamError> {
    to_raw_value(value).map_err(|_| UpstreamError::Invalid)
}

#[cfg(test)]
mod tests;
