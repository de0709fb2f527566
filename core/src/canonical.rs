//! Canonical JSON: the one form of a call's arguments that is validated, hashed for the record and sent.
//!
//! Keys are sorted by their UTF-8 bytes, white space is gone, strings carry only the escapes they need, and the text
//! of a number stays as the caller wrote it: RFC 8785 would turn 2^53+1 into another number. What has two readings
//! (a duplicate key, half a surrogate pair, a number beyond every float) is refused. Pure: no schema, no tool, no
//! tenant is known here, and no error repeats a value.

mod error;
mod members;
mod scan;

use std::{collections::BTreeMap, fmt};

use bytes::Bytes;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

pub use self::error::{CanonicalError, CanonicalFault};
use self::{members::Members, scan::Scanner};

/// Longest JSON text in bytes.
pub const LONGEST: usize = 1024 * 1024;
/// How deep arrays and objects may nest.
pub const DEEPEST: u32 = 64;
/// How many values one text may hold, the outermost included.
pub const MOST_NODES: u32 = 10_000;

/// A JSON text in canonical form. `Debug` tells its length only.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CanonicalJson(Bytes);

impl CanonicalJson {
    /// Reads `text` and puts it in canonical form.
    ///
    /// # Errors
    /// When it is no JSON text, has two readings, or is too long, too deep or too full.
    pub fn parse(text: &[u8]) -> Result<Self, CanonicalError> {
        Scanner::new(text)?.finish().map(|bytes| Self(bytes.into()))
    }

    /// `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    /// The canonical text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The canonical text, to be kept without a copy.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.0.clone()
    }

    /// Whether the text is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.starts_with(b"{")
    }

    /// The string `name` of the outermost object; `None` when there is no such member or it is no string.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<String> {
        let member = Members::of(&self.0).find(|member| member.is_named(name))?;
        serde_json::from_slice(&self.0[member.value]).ok()
    }

    /// The value `name` of the outermost object; `None` when there is no such member.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let member = Members::of(&self.0).find(|member| member.is_named(name))?;
        // A value of a canonical text is one itself.
        Some(Self(self.0.slice(member.value)))
    }

    /// Takes the string `name` out of the outermost object; `None` when there is no such member.
    ///
    /// # Errors
    /// When the member is there and no string.
    pub fn remove_string(&mut self, name: &str) -> Result<Option<String>, CanonicalError> {
        let Some(member) = Members::of(&self.0).find(|member| member.is_named(name)) else {
            return Ok(None);
        };
        let value: String = serde_json::from_slice(&self.0[member.value.clone()]).map_err(|_| {
            let mut error = CanonicalError::new(CanonicalFault::NotString, member.value.start);
            error.inside_key(name.as_bytes());
            error
        })?;
        // The comma after it goes with it, or the one before it when it is the last.
        let followed = self.0[member.value.end] == b',';
        let leads = self.0[member.start - 1] == b',';
        let from = member.start - usize::from(leads && !followed);
        let to = member.value.end + usize::from(followed);
        let mut rest = Vec::with_capacity(self.0.len());
        rest.extend_from_slice(&self.0[..from]);
        rest.extend_from_slice(&self.0[to..]);
        self.0 = rest.into();
        Ok(Some(value))
    }

    /// Puts a string into the object, in place of a member of this name if there is one. What is no object stays as it is.
    pub fn put_string(&mut self, name: &str, value: &str) {
        let members: Result<BTreeMap<String, Box<RawValue>>, _> = serde_json::from_slice(&self.0);
        let (Ok(mut members), Ok(value)) = (members, to_raw_value(value)) else {
            return;
        };
        members.insert(name.to_owned(), value);
        // Of names in order and values that were canonical before.
        if let Ok(bytes) = serde_json::to_vec(&members) {
            self.0 = bytes.into();
        }
    }

    /// The text as a value for a schema validator. Whole numbers within 64 bits are exact; others become floats here,
    /// and only here.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // The scanner admits nothing that serde_json refuses. Were it otherwise, null matches no schema of arguments,
        // so the call would be refused and not let through.
        serde_json::from_slice(&self.0).unwrap_or(Value::Null)
    }
}

impl fmt::Debug for CanonicalJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanonicalJson({} bytes, ***)", self.0.len())
    }
}

#[cfg(test)]
mod tests;
