//! Where a result is cut. Pure.

use serde_json::Value;

use crate::upstream::ToolResult;

/// A result in two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The texts of the beginning.
    pub(super) blocks: Vec<String>,
    /// All that follows, as one text.
    pub(super) rest: String,
}

/// Cuts a result that costs more than `most` bytes; `None` where it does not.
///
/// What counts is what a model reads: the texts, and the structured part twice, because MCP repeats it as a text. Of a
/// result that is cut, all is text: its texts first, then the structured part and whatever is no text as their JSON. So
/// nothing is lost, and parts that follow each other are the whole, to the byte within each of those texts.
pub(super) fn cut(result: &ToolResult, most: usize) -> Option<Cut> {
    let structured = result.structured.as_deref().map_or("", |json| json.get());
    // Escapes only make it longer: what fits as JSON fits as text.
    if result.content.get().len() + 2 * structured.len() <= most {
        return None;
    }
    let mut texts = texts(result.content.get());
    if texts.iter().map(String::len).sum::<usize>() + 2 * structured.len() <= most {
        return None;
    }
    // A client may have been told the structured part as a text as well; once is enough.
    if !structured.is_empty() && !texts.iter().any(|text| text == structured) {
        texts.push(structured.to_owned());
    }
    Some(in_two(texts, most)).filter(|cut| !cut.rest.is_empty())
}

fn in_two(texts: Vec<String>, most: usize) -> Cut {
    let (mut blocks, mut rest, mut left) = (Vec::new(), Vec::new(), most);
    for mut text in texts {
        if !rest.is_empty() {
            rest.push(text);
            continue;
        }
        let at = boundary(&text, left);
        let beyond = text.split_off(at);
        left = left.saturating_sub(at);
        if !text.is_empty() {
            blocks.push(text);
        }
        if !beyond.is_empty() {
            rest.push(beyond);
        }
    }
    Cut {
        blocks,
        rest: rest.join("\n"),
    }
}

/// The last boundary between characters within so many bytes, and never the beginning of a text that has one: a part of
/// nothing would lead nowhere.
pub(super) fn boundary(text: &str, most: usize) -> usize {
    match text.floor_char_boundary(most) {
        0 if most > 0 => text.chars().next().map_or(0, char::len_utf8),
        at => at,
    }
}

fn texts(content: &str) -> Vec<String> {
    let blocks: Vec<Value> = serde_json::from_str(content).unwrap_or_default();
    let text = |block: Value| match block {
        Value::Object(mut block) if block.get("type").is_some_and(|kind| kind == "text") => {
            match block.remove("text") {
                Some(Value::String(text)) => text,
                _ => String::new(),
            }
        }
        other => other.to_string(),
    };
    blocks.into_iter().map(text).collect()
}
