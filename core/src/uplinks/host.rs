//! A host as an upstream: one tool, carried to its relay, and its answer taken apart before it goes on.

mod answer;

use bytes::Bytes;
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_contract::{
    frame::RefusalCode,
    ids::{TargetId, TenantId},
};

use super::{UplinkError, Uplinks};
use crate::{
    journal::Contact,
    upstream::{ToolResult, Upstream, UpstreamCall, UpstreamError},
};

const METHOD: &str = "tools/call";

/// One host behind its relay. A call of another tenant finds it offline.
#[derive(Debug, Clone)]
pub struct HostUpstream {
    uplinks: Uplinks,
    target: TargetId,
}

#[derive(Serialize)]
struct Params<'a> {
    name: &'a str,
    arguments: &'a RawValue,
}

impl HostUpstream {
    /// The host of a target.
    #[must_use]
    pub fn new(uplinks: Uplinks, target: TargetId) -> Self {
        Self { uplinks, target }
    }

    async fn carry(&self, tenant: &TenantId, call: UpstreamCall) -> Result<ToolResult, UpstreamError> {
        let params = params(&call)?;
        // Dropping the request on the way out is what cancels it at the relay.
        let answer = tokio::select! {
            biased;
            answer = self.uplinks.request(tenant, self.target, METHOD, params, call.deadline) => answer,
            () = call.cancelled.cancelled() => return Err(UpstreamError::Cancelled),
        };
        answer::read(&answer.map_err(told)?)
    }
}

impl Upstream for HostUpstream {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(self.carry(contact.tenant(), call))
    }
}

fn params(call: &UpstreamCall) -> Result<Bytes, UpstreamError> {
    let arguments = serde_json::from_slice(&call.arguments.0).map_err(|_| UpstreamError::Invalid)?;
    let params = Params {
        name: call.tool,
        arguments,
    };
    serde_json::to_vec(&params)
        .map(Bytes::from)
        .map_err(|_| UpstreamError::Invalid)
}

fn told(error: UplinkError) -> UpstreamError {
    match error {
        UplinkError::Offline => UpstreamError::RelayOffline,
        UplinkError::Lost => UpstreamError::RelayLost,
        UplinkError::Deadline | UplinkError::Refused(RefusalCode::DeadlineExceeded) => UpstreamError::Timeout,
        UplinkError::Overloaded | UplinkError::Refused(RefusalCode::Overloaded) => UpstreamError::Overloaded,
        UplinkError::TooLarge | UplinkError::Refused(RefusalCode::TooLarge) => UpstreamError::TooLarge,
        UplinkError::Refused(RefusalCode::WriteRejected) => UpstreamError::WriteRejected,
        UplinkError::Refused(RefusalCode::Cancelled) => UpstreamError::Cancelled,
        UplinkError::Refused(
            RefusalCode::UnknownMethod
            | RefusalCode::Malformed
            | RefusalCode::Replayed
            | RefusalCode::Failed
            | RefusalCode::AnsweredWithError
            | RefusalCode::ServerDown
            | RefusalCode::ConversationUnknown
            | RefusalCode::Unknown,
        )
        | UplinkError::NotAsked => UpstreamError::Failed,
    }
}
