//! Messages of JSON-RPC, read and written without touching what they carry.
//!
//! A message is taken apart at its outermost members only; params, results, errors and ids stay the bytes they were. A
//! batch, as revision 2025-03-26 has it, is several messages. Pure.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// One message of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// Answers a request of ours.
    Response {
        /// The id as it is written.
        id: Bytes,
        /// The raw result, or the raw error object.
        answer: Result<Bytes, Bytes>,
    },
    /// Asks something of the client.
    Request {
        /// The id as it is written.
        id: Bytes,
        method: String,
        params: Option<Bytes>,
    },
    /// Has no answer.
    Notification { method: String, params: Option<Bytes> },
}

/// A text that is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there, `null` included.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one text: a message, or a batch of them. What is no message in a batch is passed over.
pub(crate) fn read(text: &Bytes) -> Result<Vec<Said>, Unreadable> {
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return one(text, text).map(|said| vec![said]);
    }
    let batch: Vec<&RawValue> = serde_json::from_slice(text).map_err(|_| Unreadable)?;
    let messages = batch
        .into_iter()
        .filter_map(|message| one(text, message.get().as_bytes()).ok());
    Ok(messages.collect())
}

fn one(whole: &Bytes, message: &[u8]) -> Result<Said, Unreadable> {
    let envelope: Envelope<'_> = serde_json::from_slice(message).map_err(|_| Unreadable)?;
    let part = |raw: &RawValue| whole.slice_ref(raw.get().as_bytes());
    let params = envelope.params.map(part);
    match (envelope.method, envelope.id, envelope.result, envelope.error) {
        (Some(method), Some(id), None, None) => Ok(Said::Request {
            id: part(id),
            method: method.into_owned(),
            params,
        }),
        (Some(method), None, None, None) => Ok(Said::Notification {
            method: method.into_owned(),
            params,
        }),
        (None, Some(id), Some(result), None) => Ok(Said::Response {
            id: part(id),
            answer: Ok(part(result)),
        }),
        // An error may come without an id, when the server could not read the request.
        (None, id, None, Some(error)) => Ok(Said::Response {
            id: id.map_or(Bytes::from_static(b"null"), part),
            answer: Err(part(error)),
        }),
        _ => Err(Unreadable),
    }
}

/// A request of ours.
pub(crate) fn request(id: u64, method: &str, params: &str) -> Bytes {
    let method = quoted(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#).into()
}

/// The params of a request that [`request`] wrote.
pub(crate) fn params_of(request: &[u8]) -> &str {
    let text = std::str::from_utf8(request).unwrap_or_default();
    let params = text.split_once(r#","params":"#).map(|(_, params)| params);
    params.and_then(|params| params.strip_suffix('}')).unwrap_or("{}")
}

/// A notification of the client.
pub(crate) fn notification(method: &str, params: &str) -> Bytes {
    let method = quoted(method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#).into()
}

/// The answer to a request of the server, whose id is given as it was written.
pub(crate) fn response(id: &[u8], answer: Result<&[u8], &[u8]>) -> Bytes {
    let (key, body) = match answer {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    let head = br#"{"jsonrpc":"2.0","id":"#;
    [head, id, b",\"", key.as_bytes(), b"\":", body, b"}"]
        .concat()
        .into()
}

/// An error object of our own.
pub(crate) fn error(code: i32, message: &str) -> Bytes {
    let message = quoted(message);
    format!(r#"{{"code":{code},"message":{message}}}"#).into()
}

/// A text as JSON has it.
pub(crate) fn quoted(text: &str) -> String {
    // Writing a text as JSON does not fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// The raw params of a frame as text; `None` for what is no JSON object. An empty body is the empty object.
pub(crate) fn object(body: &Bytes) -> Option<&str> {
    if body.is_empty() {
        return Some("{}");
    }
    let text = std::str::from_utf8(body).ok()?;
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    raw.get().starts_with('{').then(|| raw.get())
}

/// The same JSON on one line: a line break that stands in JSON is white space, never part of a text.
pub(crate) fn on_one_line(json: Bytes) -> Bytes {
    if !json.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return json;
    }
    let mut line = json.to_vec();
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.into()
}

#[cfg(test)]
mod tests;
