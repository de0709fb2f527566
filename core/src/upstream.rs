//! The one face of everything a call can be carried to: in-process adapters, hosts and projects alike.

use std::{fmt, time::Duration};

use futures::future::BoxFuture;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::CallId;

use crate::journal::Contact;

/// One call on its way to a target.
#[derive(Debug, Clone)]
pub struct UpstreamCall {
    /// The call, for logs and frames.
    pub call: CallId,
    /// The tool's canonical name.
    pub tool: &'static str,
    /// The canonical arguments without routing arguments: one JSON object.
    pub arguments: Payload,
    /// Time left in total.
    pub deadline: Duration,
    /// Fires when the caller is gone and the call may be cancelled.
    pub cancelled: CancellationToken,
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
}

impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("is_error", &self.is_error)
            .finish_non_exhaustive()
    }
}

/// Why a target gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// Silent until the deadline.
    #[error("the target did not answer in time")]
    Timeout,
    /// No connection.
    #[error("the target cannot be reached")]
    Unreachable,
    /// The answer cannot be read.
    #[error("the target's answer cannot be read")]
    Invalid,
    /// The target failed.
    #[error("the target failed")]
    Failed,
    /// The answer is over the limit.
    #[error("the target's answer is too large")]
    TooLarge,
    /// The second layer refused a write.
    #[error("refused by the target's own read-only guard")]
    WriteRejected,
    /// The relay is not connected.
    #[error("the relay is not connected")]
    RelayOffline,
    /// The relay was lost during the call.
    #[error("the relay was lost during the call")]
    RelayLost,
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
