//! A failure as the text that a model reads in the place of a result.
//!
//! The text is JSON, `{"error":{"reason","message",…}}`, so that a client may tell it from a result. Only what helps
//! to ask again is in it.

use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_contract::v1::Failure;

use crate::told::{self, Choice, Violation};

#[derive(Serialize)]
struct Told<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Error<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    message: &'a str,
    /// Whole seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Violation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<&'a RawValue>,
}

/// A call that was not carried out.
pub(super) fn text(failure: &Failure) -> String {
    write(Error {
        reason: Some(failure.reason().name()),
        message: &failure.message,
        retry_after: failure.retry_after_seconds(),
        violations: told::violations(failure),
        targets: told::targets(failure),
        structured_content: None,
    })
}

/// A tool that ran and said no.
pub(super) fn said_no(message: &str, structured_content: Option<&RawValue>) -> String {
    write(Error {
        reason: None,
        message,
        retry_after: None,
        violations: Vec::new(),
        targets: Vec::new(),
        structured_content,
    })
}

fn write(error: Error<'_>) -> String {
    // Strings, numbers and checked JSON always serialise.
    serde_json::to_string(&Told { error }).unwrap_or_else(|_| r#"{"error":{}}"#.into())
}
