//! What carries messages between the relay and its local server: a child process, Streamable HTTP, or HTTP+SSE.
//!
//! All three take whole messages and give whole messages, so nothing above knows which one it is. Sending never waits:
//! a server that does not read makes its wire busy, and the caller says so.

use bytes::Bytes;
use toolgate_contract::frame::{Refusal, RefusalCode};

use super::{child::Child, events::Events, http::Http, message::Said};
use crate::service::Outcome;

/// The longest message that a server may send: a body of the uplink and its envelope.
pub(crate) const LONGEST: usize = toolgate_contract::frame::MAX_BODY + 64 * 1024;
/// Messages that wait to be read, either way.
pub(crate) const QUEUE: usize = 128;

/// One message for the server.
#[derive(Debug, Clone)]
pub(crate) struct Out {
    pub(crate) bytes: Bytes,
    pub(crate) what: What,
}

/// What a message is, as far as a wire needs to know.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// A request of ours.
    Request {
        id: u64,
        method: String,
        /// What revision 2026-07-28 wants beside the body; `None` in the revisions before it.
        stateless: Option<Stateless>,
    },
    Notification {
        method: String,
    },
    /// The answer to a request of the server.
    Response,
}

/// What stands in the headers of a stateless request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stateless {
    pub(crate) revision: String,
    pub(crate) name: Option<String>,
}

/// What came from the server's side.
#[derive(Debug)]
pub(crate) enum Heard {
    /// A message, with the request of ours in whose stream it came, where the wire has streams.
    Said { said: Said, about: Option<u64> },
    /// A request of ours will not be answered any more.
    Failed { id: u64, why: Unanswered },
    /// The server had forgotten the session; there is a new one.
    Reopened,
    /// Nothing more will come.
    Ended { why: String },
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The server answered with this error object.
    Error(Bytes),
    /// It was not carried out.
    Refused(Refusal),
    /// HTTP said no before MCP was reached.
    Status(u16),
    /// The session is gone, and another one after it.
    SessionLost,
}

impl Unanswered {
    /// A refusal with a text.
    pub(crate) fn refused(code: RefusalCode, message: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(code, message))
    }

    /// The server does not run.
    pub(crate) fn down(message: impl Into<String>) -> Self {
        Self::refused(RefusalCode::ServerDown, message)
    }

    /// As the gateway hears it.
    pub(crate) fn into_outcome(self) -> Outcome {
        match self {
            Self::Error(error) => Outcome::Error(error),
            Self::Refused(refusal) => Outcome::Refused(refusal),
            Self::Status(status @ 502..=504) => Outcome::Refused(Refusal::new(
                RefusalCode::ServerDown,
                format!("what stands before the server answered HTTP {status}"),
            )),
            Self::Status(status @ (401 | 403)) => Outcome::Refused(Refusal::new(
                RefusalCode::Failed,
                format!("the server wants credentials: HTTP {status}"),
            )),
            Self::Status(status) => Outcome::Refused(Refusal::new(
                RefusalCode::Failed,
                format!("the server answered HTTP {status}"),
            )),
            Self::SessionLost => Outcome::Refused(Refusal::new(
                RefusalCode::ConversationUnknown,
                "the server forgot the session, and a new one as well",
            )),
        }
    }
}

/// The server does not read as fast as it is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy;

/// One way to a server. Dropping it closes it.
#[derive(Debug)]
pub(crate) enum Wire {
    Child(Child),
    Http(Http),
    Events(Events),
}

impl Wire {
    /// Sends a message, in the order of the calls.
    pub(crate) fn send(&self, out: Out) -> Result<(), Busy> {
        match self {
            Self::Child(child) => child.send(out.bytes),
            Self::Http(http) => http.send(out),
            Self::Events(events) => events.send(out),
        }
    }

    /// No answer to a request is waited for any more. `notice` says so in the eras that have a message for it.
    pub(crate) fn withdraw(&self, id: u64, notice: Option<Out>) {
        let is_said = match self {
            Self::Http(http) => http.withdraw(id),
            Self::Child(_) | Self::Events(_) => true,
        };
        if let Some(notice) = notice.filter(|_| is_said) {
            // A server that does not read its input does not hear it either.
            let _ = self.send(notice);
        }
    }

    /// Whether requests of revision 2026-07-28 want headers.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Ends it: the server's input, or the session.
    pub(crate) fn close(&self) {
        match self {
            Self::Child(child) => child.close(),
            Self::Http(http) => http.close(),
            Self::Events(events) => events.close(),
        }
    }
}
