//! What a call has to do at its target, whoever waits for it.
//!
//! A target that is dialled is held against its last validation first; a credential that it rejects is fetched anew,
//! once, and the target asked again with it. An errand holds its share of the contact, so the intent stays open for as
//! long as the errand goes on.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::{Rooms, answer::GATEWAY};
use crate::{
    error::Error,
    journal::Contact,
    secrets::Lease,
    snapshot::Target,
    upstream::{Level, ToolResult, UpstreamCall, UpstreamError},
};

/// One errand. Clones share its contact.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) rooms: Arc<Rooms>,
    pub(super) target: Arc<Target>,
    pub(super) contact: Arc<Contact>,
    pub(super) call: UpstreamCall,
}

/// Why an errand brought nothing; for everyone who waited the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The target.
    Upstream(UpstreamError),
    /// Its credential can do more than it should.
    Drifted,
}

impl Errand {
    /// Asks the target.
    pub(super) async fn carry(&self) -> Result<ToolResult, Fault> {
        let began = self.rooms.clock.monotonic();
        self.call.reports.log(Level::Debug, GATEWAY, || {
            json!({"message": "contacting the target", "target": self.target.name, "tool": self.call.tool})
        });
        let Some(lease) = &self.call.secret else {
            return self.ask(None, began).await;
        };
        self.recheck(lease).await?;
        match self.ask(Some(lease), began).await {
            Err(Fault::Upstream(UpstreamError::CredentialRejected)) => {}
            answer => return answer,
        }
        match self.renewed(lease).await {
            Some(renewed) => self.ask(Some(&renewed), began).await,
            None => Err(UpstreamError::CredentialRejected.into()),
        }
    }

    /// Another credential in place of one that was rejected, if there is another: only that is worth asking again.
    pub(super) async fn renewed(&self, rejected: &Lease) -> Option<Lease> {
        let renewed = self.rooms.secrets.renew(rejected).await.ok().flatten()?;
        (!renewed.is_same(rejected)).then_some(renewed)
    }

    async fn ask(&self, lease: Option<&Lease>, began: Duration) -> Result<ToolResult, Fault> {
        let upstream = self.rooms.adapters.upstream(&self.target, lease)?;
        let gone = self.rooms.clock.monotonic().saturating_sub(began);
        let call = UpstreamCall {
            secret: lease.cloned(),
            deadline: self.call.deadline.saturating_sub(gone),
            ..self.call.clone()
        };
        Ok(upstream.call(&self.contact, call).await?)
    }
}

impl From<UpstreamError> for Fault {
    fn from(error: UpstreamError) -> Self {
        Self::Upstream(error)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Drifted => Self::CredentialDrifted,
            Fault::Upstream(UpstreamError::Cancelled) => Self::Cancelled,
            Fault::Upstream(UpstreamError::Overloaded) => Self::Overloaded,
            Fault::Upstream(UpstreamError::WriteRejected) => Self::WriteRejected {
                what: "the relay on the host refused this command".into(),
            },
            Fault::Upstream(error) => Self::Upstream(error),
        }
    }
}
