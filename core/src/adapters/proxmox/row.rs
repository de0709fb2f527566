//! Reads fields out of what a cluster sent, and never fails: what is missing, null, of another type or no value at all
//! is absent. One odd field costs that field, not its row. Pure.
//!
//! Proxmox VE is written in a language that does not tell numbers, texts and truth apart, so each is accepted in the
//! spelling of the others.

use serde_json::{Map, Value};

/// A field of an answer of ours: how the cluster calls it, how we do, and what it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    theirs: &'static str,
    ours: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Whole,
    Number,
    Flag,
}

impl Field {
    pub(super) const fn text(name: &'static str) -> Self {
        Self::of(name, Kind::Text)
    }

    pub(super) const fn whole(name: &'static str) -> Self {
        Self::of(name, Kind::Whole)
    }

    pub(super) const fn number(name: &'static str) -> Self {
        Self::of(name, Kind::Number)
    }

    pub(super) const fn flag(name: &'static str) -> Self {
        Self::of(name, Kind::Flag)
    }

    /// The same field under another name of ours.
    pub(super) const fn named(self, ours: &'static str) -> Self {
        Self { ours, ..self }
    }

    const fn of(name: &'static str, kind: Kind) -> Self {
        Self {
            theirs: name,
            ours: name,
            kind,
        }
    }

    fn read(self, row: &Value) -> Option<Value> {
        match self.kind {
            Kind::Text => text(row, self.theirs).map(Value::from),
            Kind::Whole => whole(row, self.theirs).map(Value::from),
            Kind::Number => number(row, self.theirs).map(Value::from),
            Kind::Flag => flag(row, self.theirs).map(Value::from),
        }
    }
}

/// Those of these fields that the row tells.
pub(super) fn pick(row: &Value, fields: &[Field]) -> Map<String, Value> {
    let told = fields
        .iter()
        .filter_map(|field| Some((field.ours.to_owned(), field.read(row)?)));
    told.collect()
}

/// A text that says something. Names of digits alone may come as numbers.
pub(super) fn text(row: &Value, name: &str) -> Option<String> {
    match row.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A whole number: exactly, where it was written as one.
pub(super) fn whole(row: &Value, name: &str) -> Option<i64> {
    as_whole(row.get(name)?)
}

/// A number.
pub(super) fn number(row: &Value, name: &str) -> Option<f64> {
    as_number(row.get(name)?)
}

/// Yes or no.
pub(super) fn flag(row: &Value, name: &str) -> Option<bool> {
    as_flag(row.get(name)?)
}

pub(super) fn as_whole(value: &Value) -> Option<i64> {
    let exact = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => return None,
    };
    exact.or_else(|| as_number(value).and_then(cut))
}

pub(super) fn as_number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite())
}

pub(super) fn as_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        Value::String(text) => match text.trim() {
            "1" | "true" | "yes" | "on" => Some(true),
            "" | "0" | "false" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The tags of a guest: one text, separated by `;` or by what people type instead.
pub(super) fn tags(row: &Value) -> Vec<Value> {
    let all = text(row, "tags").unwrap_or_default();
    let tags = all.split(|c: char| matches!(c, ';' | ',') || c.is_whitespace());
    tags.filter(|tag| !tag.is_empty()).map(Value::from).collect()
}

/// Without its fraction, where it is no larger than what is exact.
fn cut(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "held against what fits first")]
    (number.abs() <= EXACT).then_some(number as i64)
}

#[cfg(test)]
mod tests;
