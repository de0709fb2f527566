//! One message out of bytes: the JSON-RPC 2.0 envelope, read as strictly as it can be and no further.
//!
//! Parameters stay the bytes they are. What two readers could see differently is refused: doubled and unknown members,
//! other spellings of them, ids that are neither text nor whole number, batches. Pure; knows no method.

mod id;
mod keys;
mod params;

pub(super) use self::{
    id::{Id, IdKey},
    keys::pick,
    params::{Params, text},
};

use bytes::Bytes;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use self::keys::present;
use super::fault::Fault;
use crate::body;

/// Levels of nesting around the arguments: the message and its parameters.
const AROUND: usize = 2;
/// No method is longer; a longer one is not echoed either.
const LONGEST_METHOD: usize = 128;

/// One message of a peer.
#[derive(Debug)]
pub(super) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// An answer to a request of the server's side.
    Response(Response),
}

/// A message that wants an answer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Params,
}

/// A message that wants none.
#[derive(Debug)]
pub(super) struct Notification {
    pub(super) method: String,
    pub(super) params: Params,
}

/// A message that is an answer. Only the pipe to a project has anybody who asked: the gateway itself asks its clients
/// nothing.
#[derive(Debug)]
pub(super) struct Response {
    /// None where the client could not read what it was asked.
    pub(super) id: Option<Id>,
    pub(super) outcome: Outcome,
}

/// What a client answers, as it was written.
#[derive(Debug)]
pub(super) enum Outcome {
    Result(Bytes),
    Error(Bytes),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Reads one message.
///
/// # Errors
/// What is wrong with it, with the id where one could be read.
pub(super) fn read(bytes: &Bytes) -> Result<Message, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::unparseable("the message is not UTF-8"))?;
    body::check_counts(bytes, AROUND).map_err(|fault| Fault::no_message(fault).about(id_of(text)))?;
    // An array would be read member by member, as if it were the object.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(no_object(text));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| unreadable(text, &error))?;
    let id = envelope.id.map(Id::read).transpose();
    let known = id.as_ref().ok().cloned().flatten();
    envelope.read(bytes, id).map_err(|fault| fault.about(known))
}

/// The id of a message that is not read any further: who waits on a pipe knows its answer by nothing else. Nesting that
/// would cost a stack is refused by the parser itself.
fn id_of(text: &str) -> Option<Id> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    Id::read(envelope.id?).ok()
}

impl Envelope<'_> {
    fn read(self, bytes: &Bytes, id: Result<Option<Id>, Fault>) -> Result<Message, Fault> {
        if self.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(Fault::no_message("member jsonrpc must be \"2.0\""));
        }
        let Some(method) = self.method else {
            return self.response(bytes);
        };
        if self.result.is_some() || self.error.is_some() {
            return Err(Fault::no_message(
                "a message has a method, or a result, or an error; this one has several",
            ));
        }
        let id = id?;
        let method = read_method(method)?;
        let params = self
            .params
            .map_or_else(|| Ok(Params::default()), |raw| Params::read(bytes, raw));
        let params = params.map_err(|message| match id {
            Some(_) => Fault::params(message),
            None => Fault::no_message(message),
        })?;
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification(Notification { method, params }),
        })
    }

    /// The id of an answer may be null where the question could not be read.
    fn response(self, bytes: &Bytes) -> Result<Message, Fault> {
        let slice = |raw: &RawValue| bytes.slice_ref(raw.get().as_bytes());
        let id = self.id.and_then(|id| Id::read(id).ok());
        let outcome = match (self.result, self.error) {
            (Some(result), None) if id.is_some() => Some(Outcome::Result(slice(result))),
            (None, Some(error)) if error.get().starts_with('{') => Some(Outcome::Error(slice(error))),
            _ => None,
        };
        if let Some(outcome) = outcome.filter(|_| self.params.is_none()) {
            return Ok(Message::Response(Response { id, outcome }));
        }
        Err(Fault::no_message(
            "the message is no request, notification or answer; a request has jsonrpc, id and method",
        ))
    }
}

fn read_method(raw: &RawValue) -> Result<String, Fault> {
    let method: String =
        serde_json::from_str(raw.get()).map_err(|_| Fault::no_message("member method must be a text"))?;
    let plain = !method.is_empty() && method.len() <= LONGEST_METHOD && !method.chars().any(char::is_control);
    plain
        .then_some(method)
        .ok_or_else(|| Fault::no_message("member method must be 1 to 128 characters, none of them control"))
}

/// What is no JSON at all is told apart from JSON that is no message.
fn unreadable(text: &str, error: &serde_json::Error) -> Fault {
    check_json(text, error).err().unwrap_or_else(|| {
        Fault::no_message(
            "the message has a doubled or unknown member; the members are jsonrpc, id, method and params",
        )
    })
}

fn no_object(text: &str) -> Fault {
    match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) => not_json(&error),
        Ok(_) if text.trim_ascii_start().starts_with('[') => {
            Fault::no_message("batches are not taken; send one message at a time")
        }
        Ok(_) => Fault::no_message("the message is no JSON object"),
    }
}

fn check_json(text: &str, error: &serde_json::Error) -> Result<(), Fault> {
    serde_json::from_str::<IgnoredAny>(text)
        .map(drop)
        .map_err(|_| not_json(error))
}

fn not_json(error: &serde_json::Error) -> Fault {
    Fault::unparseable(format!(
        "the message is no JSON: line {}, column {}",
        error.line(),
        error.column()
    ))
}

#[cfg(test)]
mod tests;
