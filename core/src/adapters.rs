//! From a target to the upstream that carries calls to it.

#[cfg(feature = "conformance")]
pub mod echo;
mod gitea;
mod github;
mod kind;
mod proxmox;
mod settings;
mod validation;
mod withheld;

use std::sync::Arc;

pub use self::{
    gitea::parse as parse_gitea,
    github::parse_github,
    kind::{Adapter, Kind},
    settings::Defaults,
    validation::{Grants, Stage, Validation, Verdict, Violation},
};
use crate::{
    snapshot::{RelayStanding, Target},
    uplinks::Uplinks,
    upstream::{Upstream, UpstreamError},
};

/// The upstreams of every adapter type.
#[derive(Debug, Clone)]
pub struct Adapters {
    uplinks: Uplinks,
    #[cfg(any(test, feature = "conformance"))]
    stand_in: Option<Arc<dyn Upstream>>,
}

impl Adapters {
    /// Over the live uplinks.
    #[must_use]
    pub fn new(uplinks: Uplinks) -> Self {
        Self {
            uplinks,
            #[cfg(any(test, feature = "conformance"))]
            stand_in: None,
        }
    }

    /// One upstream that answers for every target.
    #[cfg(any(test, feature = "conformance"))]
    #[must_use]
    pub fn answered_by(self, stand_in: Option<Arc<dyn Upstream>>) -> Self {
        Self { stand_in, ..self }
    }

    /// What carries calls to this target now.
    pub fn upstream(&self, target: &Target) -> Result<Arc<dyn Upstream>, UpstreamError> {
        #[cfg(any(test, feature = "conformance"))]
        if let Some(stand_in) = &self.stand_in {
            return Ok(Arc::clone(stand_in));
        }
        self.uplinks.host(target.id).ok_or(match target.relay {
            RelayStanding::Enrolled => UpstreamError::RelayOffline,
            RelayStanding::Waiting => UpstreamError::RelayNotEnrolled,
            RelayStanding::Revoked => UpstreamError::RelayRevoked,
            RelayStanding::Locked => UpstreamError::RelayLocked,
        })
    }
}
