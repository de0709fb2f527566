//! The one face of everything a call can be carried to: in-process adapters, hosts and projects alike.

pub mod reader;
mod reports;

use std::{fmt, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use toolgate_contract::{frame::FrameId, ids::CallId};

pub use self::reports::{Level, Report, Reports, Told, Wanted};
use crate::{journal::Contact, secrets::Lease};

/// One call on its way to a target.
#[derive(Debug, Clone)]
pub struct UpstreamCall {
    /// The call, for logs and frames.
    pub call: CallId,
    /// The tool's canonical name.
    pub tool: &'static str,
    /// The canonical arguments without routing arguments: one JSON object.
    pub arguments: Payload,
    /// The target's credential, where it has one.
    pub secret: Option<Lease>,
    /// Time left in total.
    pub deadline: Duration,
    /// Fires when the caller is gone and the call may be cancelled.
    pub cancelled: CancellationToken,
    /// Where it is told what the call is doing. Told to the one who began it, however many wait for its answer.
    pub reports: Reports,
    /// The message as it goes to a project's server; `None` for whatever else a call is carried to.
    pub message: Option<Message>,
}

/// One request of MCP as a project's server reads it.
#[derive(Debug, Clone)]
pub struct Message {
    /// The method.
    pub method: Arc<str>,
    /// Its parameters: one JSON object, byte for byte.
    pub params: Payload,
    /// The conversation it belongs to; `None` for the one that all callers share.
    pub conversation: Option<FrameId>,
}

/// Arguments or results on their way; never shown in logs.
#[derive(Clone)]
pub struct Payload(pub bytes::Bytes);

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}

/// What a tool answered, in MCP's result vocabulary.
pub struct ToolResult {
    /// JSON array of content blocks.
    pub content: Box<RawValue>,
    /// JSON object that matches the tool's output schema.
    pub structured: Option<Box<RawValue>>,
    /// True when the tool ran and said no.
    pub is_error: bool,
    /// What a project's server answered, byte for byte; the other parts are read out of it. `None` for whatever the
    /// gateway or an adapter of it wrote.
    pub raw: Option<Raw>,
}

/// The answer of a project's server to one request.
#[derive(Clone, PartialEq, Eq)]
pub enum Raw {
    /// The result object of JSON-RPC.
    Result(bytes::Bytes),
    /// The error object of JSON-RPC.
    Error(bytes::Bytes),
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(bytes) => write!(f, "Result(<{} bytes>)", bytes.len()),
            Self::Error(bytes) => write!(f, "Error(<{} bytes>)", bytes.len()),
        }
    }
}

impl ToolResult {
    /// How long it is: its blocks and its structured part, as JSON.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let structured = self.structured.as_deref().map_or(0, |json| json.get().len());
        self.content.get().len() + structured
    }
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("is_error", &self.is_error)
            .finish_non_exhaustive()
    }
}

/// Why a project whose relay has enrolled is not connected, and what to do.
pub const AWAY: &str = "its relay has to run beside it";

/// Why a target gave no answer. Texts often stand behind the reason's title, so they do not say the same again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// Silent until the deadline.
    #[error("no answer from the target within the time a call has; look at it, then try again")]
    Timeout,
    /// No connection.
    #[error("no connection to the target could be made; look at its address and at the network between")]
    Unreachable,
    /// The connection ended before the answer was whole.
    #[error(
        "the target ended the connection before its answer was whole; what was asked may have been carried out all the \
         same, so look before you ask again"
    )]
    BrokenOff,
    /// Its certificate is not accepted.
    #[error("the certificate of the target is not accepted; an admin tests the target and is told why")]
    Tls,
    /// Its address is one that this gateway does not dial.
    #[error(
        "the target is at an address that this gateway may not dial; an admin tests the target and is told why"
    )]
    Forbidden,
    /// It limits the gateway's credential.
    #[error("the target limits how often it is asked; try again in {} s", .0.as_secs().max(1))]
    RateLimited(Duration),
    /// The answer cannot be read.
    #[error(
        "the target sent what this tool does not expect; its version may be one that this gateway does not know"
    )]
    Invalid,
    /// The target failed.
    #[error("the target reported a fault of its own; its log tells more")]
    Failed,
    /// The target failed and said why; the text is bounded and holds no credential.
    #[error("the target reported a fault of its own: {0}")]
    FailedSaying(Arc<str>),
    /// Whoever hands out tokens for the target gave none.
    #[error(
        "the gateway was given no token for the target, so the target was not asked; try again, or tell an admin"
    )]
    TokenUnavailable,
    /// The answer is over the limit.
    #[error("the answer of the target is over the limit; ask for less at once")]
    TooLarge,
    /// The second layer refused a write.
    #[error("refused by the target's own read-only guard")]
    WriteRejected,
    /// The target does not accept the credential it was given.
    #[error(
        "the target rejected the gateway's credential, or wants one where none was given; an admin gives it a new one, a pod has it in its TATARA_ variables"
    )]
    CredentialRejected,
    /// The relay is not connected.
    #[error("calls reach the host once its enrolled relay runs there")]
    RelayOffline,
    /// No relay has enrolled for the host.
    #[error("no relay has enrolled for this host yet; an admin runs `toolgate target enrol`")]
    RelayNotEnrolled,
    /// An admin revoked the relay.
    #[error("an admin revoked this host's relay; `toolgate target enrol` lets one enrol anew")]
    RelayRevoked,
    /// Two holders of the relay's key took turns.
    #[error("this host is locked, its relay's key was in use twice; an admin runs `toolgate target enrol`")]
    RelayLocked,
    /// The relay was lost during the call.
    #[error("the connection to the host ended before the answer came; try again")]
    RelayLost,
    /// The project's relay is not connected.
    #[error("project {project} is not connected: {why} (relay {relay})")]
    ProjectOffline {
        /// Its name.
        project: Arc<str>,
        /// The relay's id.
        relay: Arc<str>,
        /// Why, and what to do.
        why: &'static str,
    },
    /// The project's relay is connected, and its server does not run, or ended before it answered.
    #[error(
        "the server of project {project} does not run, or ended before it answered, so look before you ask again (relay \
         {relay})"
    )]
    ProjectDown {
        /// Its name.
        project: Arc<str>,
        /// The relay's id.
        relay: Arc<str>,
    },
    /// The connection to the project's relay ended before the answer.
    #[error(
        "the connection to project {project} ended before its answer; what was asked may have been carried out all the \
         same, so look before you ask again"
    )]
    ProjectLost {
        /// Its name.
        project: Arc<str>,
    },
    /// The conversation with the project's server has ended.
    #[error("the conversation with the project's server has ended; begin a new one with initialize")]
    ConversationOver,
    /// Too many calls are under way there.
    #[error("too many calls are under way at the target")]
    Overloaded,
    /// The caller is gone.
    #[error("cancelled")]
    Cancelled,
}

/// Something calls can be carried to. Cannot be used without a [`Contact`], which only the journal gives.
pub trait Upstream: Send + Sync + fmt::Debug {
    /// Carries one call. Dropping the future cancels it at the target.
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>>;
}
