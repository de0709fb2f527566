//! A project as an upstream: one message, carried to its server as it is, and its answer as the server gave it.

mod answer;

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::time::Instant;
use toolgate_contract::{
    frame::RefusalCode,
    ids::{TargetId, TenantId},
};

use super::{Answer, Request, UplinkError, Uplinks};
use crate::{
    journal::Contact,
    upstream::{AWAY, Message, ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// One project behind its relay. A call of another tenant finds it offline.
#[derive(Debug, Clone)]
pub struct ProjectUpstream {
    uplinks: Uplinks,
    target: TargetId,
    name: Arc<str>,
}

impl ProjectUpstream {
    /// The project of a target, by the name that errors tell.
    #[must_use]
    pub fn new(uplinks: Uplinks, target: TargetId, name: Arc<str>) -> Self {
        Self {
            uplinks,
            target,
            name,
        }
    }

    async fn carry(&self, tenant: &TenantId, call: UpstreamCall) -> Result<ToolResult, UpstreamError> {
        // Whatever comes here has a message; a call without one is a fault of the gateway.
        let message = call.message.ok_or(UpstreamError::Failed)?;
        let request = Request {
            method: &message.method,
            params: params(&message),
            until: Instant::now().checked_add(call.deadline),
            conversation: message.conversation.clone(),
            reports: call.reports,
        };
        // Dropping the request on the way out is what cancels it at the relay.
        let answer = tokio::select! {
            biased;
            answer = self.uplinks.carry(tenant, self.target, request) => answer,
            () = call.cancelled.cancelled() => return Err(UpstreamError::Cancelled),
        };
        match answer.map_err(|error| self.told(error))? {
            Answer::Result(result) => answer::result(result, &message),
            Answer::Error(error) => answer::error(error),
        }
    }

    fn told(&self, error: UplinkError) -> UpstreamError {
        let (project, relay) = (Arc::clone(&self.name), || self.target.to_string().into());
        match error {
            UplinkError::Offline => UpstreamError::ProjectOffline {
                project,
                relay: relay(),
                why: AWAY,
            },
            UplinkError::Lost => UpstreamError::ProjectLost { project },
            UplinkError::Refused(RefusalCode::ServerDown) => UpstreamError::ProjectDown {
                project,
                relay: relay(),
            },
            UplinkError::Refused(RefusalCode::ConversationUnknown) => UpstreamError::ConversationOver,
            UplinkError::Deadline | UplinkError::Refused(RefusalCode::DeadlineExceeded) => {
                UpstreamError::Timeout
            }
            UplinkError::Overloaded | UplinkError::Refused(RefusalCode::Overloaded) => {
                UpstreamError::Overloaded
            }
            UplinkError::TooLarge | UplinkError::Refused(RefusalCode::TooLarge) => UpstreamError::TooLarge,
            UplinkError::Refused(RefusalCode::Cancelled) => UpstreamError::Cancelled,
            UplinkError::Refused(RefusalCode::Malformed) => UpstreamError::Invalid,
            UplinkError::Refused(
                RefusalCode::WriteRejected
                | RefusalCode::UnknownMethod
                | RefusalCode::Replayed
                | RefusalCode::Failed
                | RefusalCode::AnsweredWithError
                | RefusalCode::Unknown,
            )
            | UplinkError::NotAsked => UpstreamError::Failed,
        }
    }
}

impl Upstream for ProjectUpstream {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(self.carry(contact.tenant(), call))
    }
}

fn params(message: &Message) -> Bytes {
    match &message.params.0 {
        none if none.is_empty() => Bytes::from_static(b"{}"),
        params => params.clone(),
    }
}
