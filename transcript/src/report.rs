//! One internal issue, as the agent wrote it, and what it counts as.

use std::{borrow::Cow, fmt};

use serde_json::value::RawValue;

use crate::json;

/// The categories that are counted by name.
pub const CATEGORIES: [&str; 7] = [
    "tool_error",
    "directive_contradiction",
    "workspace_broken",
    "memory_inconsistent",
    "graph_inconsistent",
    "auth",
    "other",
];

/// The severities that are counted by name.
pub const SEVERITIES: [&str; 2] = ["warn", "error"];

/// What an agent reports, with its own words; empty where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report<'a> {
    /// What kind of issue.
    pub category: Cow<'a, str>,
    /// How bad.
    pub severity: Cow<'a, str>,
    /// What happened.
    pub description: Cow<'a, str>,
    /// Which tool did wrong.
    pub offending_tool: Cow<'a, str>,
    /// What it is about.
    pub resource_id: Cow<'a, str>,
}

/// Why an input is no report. Holds nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The call has none.
    InputMissing,
    /// The input is another kind of value.
    InputNotObject,
    /// This field is another kind of value.
    FieldNotText(&'static str),
    /// The whole line is no JSON.
    LineNotJson,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputMissing => f.write_str("the call has no input"),
            Self::InputNotObject => f.write_str("the input is no object"),
            Self::FieldNotText(field) => write!(f, "`{field}` is no text"),
            Self::LineNotJson => f.write_str("the line is no JSON"),
        }
    }
}

/// What a report counts as: always of the known sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels {
    /// One of [`CATEGORIES`].
    pub category: &'static str,
    /// One of [`SEVERITIES`].
    pub severity: &'static str,
}

impl Labels {
    /// What cannot be told apart counts as the worst.
    pub const UNKNOWN: Self = Self {
        category: "other",
        severity: "error",
    };
}

impl<'a> Report<'a> {
    /// Reads the input of a call.
    pub(crate) fn of(input: Option<&'a RawValue>) -> Result<Self, Malformed> {
        const NAMES: [&str; 5] = [
            "category",
            "severity",
            "description",
            "offending_tool",
            "resource_id",
        ];
        let input = input.ok_or(Malformed::InputMissing)?;
        let mut values = json::fields(input.get(), NAMES)
            .map_err(|_| Malformed::InputNotObject)?
            .into_iter()
            .zip(NAMES);
        let mut next = || match values.next() {
            Some((Some(value), _)) if value.get() == "null" => Ok(Cow::default()),
            Some((Some(value), name)) => json::text(Some(value)).ok_or(Malformed::FieldNotText(name)),
            Some((None, _)) | None => Ok(Cow::default()),
        };
        Ok(Self {
            category: next()?,
            severity: next()?,
            description: next()?,
            offending_tool: next()?,
            resource_id: next()?,
        })
    }

    /// What it counts as. Whatever is unknown or missing counts as other, and as an error.
    #[must_use]
    pub fn labels(&self) -> Labels {
        let known =
            |set: &'static [&'static str], value: &str| set.iter().find(|known| **known == value).copied();
        Labels {
            category: known(&CATEGORIES, &self.category).unwrap_or(Labels::UNKNOWN.category),
            severity: known(&SEVERITIES, &self.severity).unwrap_or(Labels::UNKNOWN.severity),
        }
    }
}

#[cfg(test)]
mod tests;
