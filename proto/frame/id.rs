//! Ids of frames, and how ids are bound to one connection.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::octets::Nonce;

/// Joins a request with its response and cancel, or a ping with its pong. 1 to 64 of `A-Za-z0-9._-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct FrameId(String);

const MAX: usize = 64;

impl FrameId {
    /// Parses an id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=MAX).contains(&text.len())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        fits.then(|| Self(text.to_owned()))
    }

    /// The id of frames that need none, such as those of the handshake.
    #[must_use]
    pub fn zero() -> Self {
        Self("0".to_owned())
    }

    /// The id of the `counter`th notification that its sender cuts into chunks on this connection.
    #[must_use]
    pub fn notification(counter: u64) -> Self {
        Self(format!("n{counter}"))
    }

    /// The conversation of messages that belong to none: each one of revision 2026-07-28 of MCP stands for itself.
    #[must_use]
    pub fn raw() -> Self {
        Self("raw".to_owned())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for FrameId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not an id"))
    }
}

/// One connection, named after the nonce its relay drew. Request ids are `<session>.<counter>` with a growing counter,
/// so a request captured on this or another connection is recognised without remembering any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session(String);

impl Session {
    /// The session of a handshake.
    #[must_use]
    pub fn new(relay_nonce: &Nonce) -> Self {
        let mut name = relay_nonce.to_string();
        name.truncate(16);
        Self(name)
    }

    /// The id of the `counter`th request.
    #[must_use]
    pub fn request(&self, counter: u64) -> FrameId {
        FrameId(format!("{}.{counter}", self.0))
    }

    /// The counter of a request of this session; `None` for ids of any other.
    #[must_use]
    pub fn counter(&self, id: &FrameId) -> Option<u64> {
        let digits = id.0.strip_prefix(self.0.as_str())?.strip_prefix('.')?;
        let counter = digits.parse().ok()?;
        // One spelling per id: `.7` and `.07` must not be two.
        (self.request(counter) == *id).then_some(counter)
    }
}
