//! How an end of an uplink says that it did not carry a request out.

use serde::{Deserialize, Serialize};

/// Why a request was not carried out. The closed set stands in the header, so that nobody matches on texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// Outside the grammar: the second of the two layers refused.
    WriteRejected,
    /// The peer offers no such method.
    UnknownMethod,
    /// The body cannot be read.
    Malformed,
    /// This id was seen before, or belongs to another connection.
    Replayed,
    /// Too much is under way.
    Overloaded,
    /// The deadline passed.
    DeadlineExceeded,
    /// The asker cancelled.
    Cancelled,
    /// The body or the result is over the limit.
    TooLarge,
    /// The peer could not do what it should be able to do.
    Failed,
    /// A project's server answered with an error of JSON-RPC; the body is that error object, raw.
    AnsweredWithError,
    /// The project's server does not run, or ended before it answered.
    ServerDown,
    /// The peer has no conversation of this id: it ended, or it never began.
    ConversationUnknown,
    /// A code from a newer peer.
    #[serde(other)]
    Unknown,
}

/// The body of a refusing response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub code: RefusalCode,
    /// Short text; never carries arguments.
    pub message: String,
}

impl Refusal {
    /// Builds a refusal.
    #[must_use]
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub(super) fn to_body(&self) -> Vec<u8> {
        // A struct of two strings; serialising it cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
