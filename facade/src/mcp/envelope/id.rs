//! Ids of requests: a text or a whole number, given back as it was written.

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::value::RawValue;

use crate::mcp::fault::Fault;

/// No id is longer; it is kept for as long as the request runs.
const LONGEST: usize = 1024;

/// The id as JSON, word for word: `"7"` stays a text and 7 a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::mcp) struct Id(Bytes);

/// What two writings of one id have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::mcp) enum IdKey {
    /// A text, unescaped.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl Id {
    /// Takes texts and whole numbers of 64 bits; null, fractions, truth values, lists and objects are no ids.
    pub(in crate::mcp) fn read(raw: &RawValue) -> Result<Self, Fault> {
        let text = raw.get();
        if text.len() <= LONGEST && key(text).is_some() {
            return Ok(Self(Bytes::copy_from_slice(text.as_bytes())));
        }
        Err(Fault::no_message(
            "member id must be a text of at most 1022 characters or a whole number of 64 bits, never null",
        ))
    }

    /// Writes it as it came.
    pub(in crate::mcp) fn write(&self, out: &mut BytesMut) {
        out.put_slice(&self.0);
    }

    /// It as a text, whether it was written as one or as a number.
    pub(in crate::mcp) fn text(&self) -> String {
        match self.key() {
            IdKey::Text(text) => text,
            IdKey::Number(number) => number.to_string(),
        }
    }

    /// What it is compared by.
    pub(in crate::mcp) fn key(&self) -> IdKey {
        // Read the same way when it was taken.
        std::str::from_utf8(&self.0)
            .ok()
            .and_then(key)
            .unwrap_or(IdKey::Number(0))
    }
}

impl IdKey {
    /// The id that a member names; `None` where it names none.
    pub(in crate::mcp) fn read(member: &Bytes) -> Option<Self> {
        key(std::str::from_utf8(member).ok()?)
    }
}

fn key(text: &str) -> Option<IdKey> {
    if text.starts_with('"') {
        return serde_json::from_str(text).ok().map(IdKey::Text);
    }
    serde_json::from_str(text).ok().map(IdKey::Number)
}
