//! What a project's server answered: kept byte for byte, and read only as far as the other dialects need it.
//!
//! A relay is no part of the gateway, so what it sends is JSON of the right shape before it goes on; what stands in it is
//! the project's.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::upstream::{Message, Raw, ToolResult, UpstreamError};

const CALL: &str = "tools/call";
const COMPLETE: &str = "complete";

/// The parts of a call's result that are read. A key that stands twice is an error: readers could see different ones.
#[derive(Deserialize)]
struct CallResult<'a> {
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow, rename = "structuredContent")]
    structured: Option<&'a RawValue>,
    #[serde(default, rename = "isError")]
    is_error: Option<bool>,
    #[serde(default, borrow, rename = "resultType")]
    kind: Option<Cow<'a, str>>,
}

/// The error object of JSON-RPC.
#[derive(Deserialize)]
struct RpcError<'a> {
    #[serde(rename = "code")]
    _code: i64,
    #[serde(borrow, rename = "message")]
    _message: Cow<'a, str>,
}

/// Reads the result of a request.
pub(super) fn result(result: Bytes, asked: &Message) -> Result<ToolResult, UpstreamError> {
    object(&result)?;
    let read = if &*asked.method == CALL {
        called(&result, asked)?
    } else {
        nothing(false)
    };
    Ok(ToolResult {
        raw: Some(Raw::Result(result)),
        ..read
    })
}

/// Reads the error that a request was answered with.
pub(super) fn error(error: Bytes) -> Result<ToolResult, UpstreamError> {
    let _: RpcError<'_> = decode(object(&error)?)?;
    Ok(ToolResult {
        raw: Some(Raw::Error(error)),
        ..nothing(true)
    })
}

fn called(result: &[u8], asked: &Message) -> Result<ToolResult, UpstreamError> {
    let read: CallResult<'_> = decode(result)?;
    let is_complete = read.kind.is_none_or(|kind| kind == COMPLETE);
    let content = match read.content {
        Some(content) if content.get().starts_with('[') => content.to_owned(),
        // A client that leads the conversation itself may be told of something else than content.
        None if asked.conversation.is_some() => RawValue::NULL.to_owned(),
        _ => return Err(UpstreamError::Invalid),
    };
    if !is_complete && asked.conversation.is_none() {
        return Err(UpstreamError::Invalid);
    }
    Ok(ToolResult {
        content,
        structured: read.structured.map(ToOwned::to_owned),
        is_error: read.is_error.unwrap_or_default(),
        raw: None,
    })
}

fn nothing(is_error: bool) -> ToolResult {
    ToolResult {
        content: RawValue::NULL.to_owned(),
        structured: None,
        is_error,
        raw: None,
    }
}

fn object(json: &[u8]) -> Result<&[u8], UpstreamError> {
    let whole: &RawValue = decode(json)?;
    if whole.get().starts_with('{') {
        Ok(json)
    } else {
        Err(UpstreamError::Invalid)
    }
}

fn decode<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, UpstreamError> {
    serde_json::from_slice(json).map_err(|_| UpstreamError::Invalid)
}

#[cfg(test)]
mod tests;
