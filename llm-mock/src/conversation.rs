//! What a request says, whichever of the two forms it came in.

use serde_json::Value;

use crate::{refusal::Refusal, tool::Toolbox};

/// A request that was read and found sound.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// The text of the last message of the user.
    pub(crate) asked: String,
    /// How often tools were called since.
    pub(crate) round: usize,
    /// How often in the whole history: ids of calls are made of it, so that none stands twice.
    pub(crate) steps: usize,
    /// What the tools answered since.
    pub(crate) results: Vec<String>,
    pub(crate) toolbox: Toolbox,
}

impl Conversation {
    pub(crate) fn new(toolbox: Toolbox) -> Self {
        Self {
            asked: String::new(),
            round: 0,
            steps: 0,
            results: Vec::new(),
            toolbox,
        }
    }

    /// The user speaks: what came before is history.
    pub(crate) fn user(&mut self, text: String) {
        self.asked = text;
        self.round = 0;
        self.results.clear();
    }

    /// The model called tools.
    pub(crate) fn called(&mut self) {
        self.round += 1;
        self.steps += 1;
    }

    /// A tool answered.
    pub(crate) fn answered(&mut self, text: String) {
        self.results.push(text);
    }
}

/// A field that must be a text.
pub(crate) fn text<'a>(of: &'a Value, field: &str, place: &str) -> Result<&'a str, Refusal> {
    let param = under(place, field);
    match of.get(field) {
        None | Some(Value::Null) => Err(Refusal::missing(param)),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Refusal::wrong_type(param, "a string")),
    }
}

/// A field that must be a list with not more entries than this; `None` where it is absent.
pub(crate) fn list<'a>(of: &'a Value, field: &str, most: usize) -> Result<Option<&'a [Value]>, Refusal> {
    match of.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(entries)) if entries.len() <= most => Ok(Some(entries)),
        Some(Value::Array(entries)) => Err(Refusal::invalid(
            field,
            format!(
                "Invalid '{field}': array too long. Expected an array with maximum length {most}, but got an array with length {} instead.",
                entries.len()
            ),
        )),
        Some(_) => Err(Refusal::wrong_type(field, "an array")),
    }
}

/// A field that is a switch; the default where it is absent.
pub(crate) fn switch(of: &Value, field: &str, default: bool) -> Result<bool, Refusal> {
    match of.get(field) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(Refusal::wrong_type(field, "a boolean")),
    }
}

/// The text of a content: a string, or a list of parts of these kinds, of which those named `…text` hold a `text`.
pub(crate) fn content(of: &Value, place: &str, kinds: &[&str]) -> Result<String, Refusal> {
    let parts = match of {
        Value::String(text) => return Ok(text.clone()),
        Value::Array(parts) => parts,
        Value::Null => return Err(Refusal::missing(place)),
        _ => return Err(Refusal::wrong_type(place, "a string or an array of parts")),
    };
    let mut texts = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let at = format!("{place}[{number}]");
        let kind = text(part, "type", &at)?;
        if !kinds.contains(&kind) {
            return Err(Refusal::wrong_value(under(&at, "type"), &kinds.join(", ")));
        }
        if kind.ends_with("text") {
            texts.push(text(part, "text", &at)?);
        }
    }
    Ok(texts.join("\n"))
}

/// `messages[1].role`, or the field alone at the top.
pub(crate) fn under(place: &str, field: &str) -> String {
    if place.is_empty() {
        field.to_owned()
    } else {
        format!("{place}.{field}")
    }
}
