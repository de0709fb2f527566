//! From a tool's answer to a result.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::ask::Miss;
use super::no::Wanted;
use crate::upstream::{ToolResult, UpstreamError};

/// Ran, and has this to tell.
pub(super) fn told(text: &str, structured: &impl Serialize) -> Result<ToolResult, UpstreamError> {
    Ok(ToolResult {
        content: content(text)?,
        structured: Some(to_raw_value(structured).map_err(|_| UpstreamError::Invalid)?),
        is_error: false,
    })
}

/// Ran, and the answer is no.
pub(super) fn no(text: &str) -> Result<ToolResult, UpstreamError> {
    Ok(ToolResult {
        content: content(text)?,
        structured: None,
        is_error: true,
    })
}

/// What became of a question that brought no answer.
pub(super) fn missed(miss: Miss, wanted: Wanted<'_>) -> Result<ToolResult, UpstreamError> {
    match miss {
        Miss::Fault(lack) => Err(lack.error),
        Miss::No(said) => no(&said.told(wanted)),
    }
}

fn content(text: &str) -> Result<Box<RawValue>, UpstreamError> {
    #[derive(Serialize)]
    struct Block<'a> {
        r#type: &'a str,
        text: &'a str,
    }
    to_raw_value(&[Block { r#type: "text", text }]).map_err(|_| UpstreamError::Invalid)
}
