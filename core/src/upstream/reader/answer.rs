//! An answer, and how it is read as JSON.

mod json;
mod mended;
mod status_text;

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

pub(super) use self::status_text::status_text;
use crate::upstream::UpstreamError;

/// An answer, read whole: at most 8 MiB after it was inflated.
#[derive(Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The text behind the status, where the target says something of its own there.
    pub status_text: Option<String>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The path that was read in the end, when the target pointed to another: below the base, without the query.
    pub moved_to: Option<String>,
}

impl Answer {
    /// The body as JSON, held against limits of depth and size before it is read.
    ///
    /// # Errors
    /// When it is not what was expected.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, UpstreamError> {
        json::within_limits(&self.body)?;
        serde_json::from_slice(&self.body)
            // One text that is none must not cost the whole answer.
            .or_else(|_| serde_json::from_str(&mended::text(&self.body)))
            .map_err(|_| UpstreamError::Invalid)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({}, {} bytes)", self.status, self.body.len())
    }
}
