//! From a target to the upstream that carries calls to it: the relay on a host, or an adapter that is held open.

mod agent;
#[cfg(feature = "conformance")]
pub mod echo;
#[cfg(any(test, feature = "conformance"))]
pub mod fixtures;
mod gitea;
mod github;
mod held;
mod kind;
mod mends;
mod proxmox;
mod said;
mod settings;
mod validation;
mod withheld;

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use self::held::Held;
pub(crate) use self::settings::Reading;
pub use self::{
    agent::misplaced,
    gitea::parse as parse_gitea,
    github::parse_github,
    kind::{Adapter, Kind},
    proxmox::parse as parse_proxmox,
    settings::Defaults,
    validation::{Grants, Stage, Validation, Verdict, Violation},
};
use crate::{
    clock::Clock,
    registry::PROJECT,
    secrets::Lease,
    snapshot::{RelayStanding, Snapshot, Target},
    uplinks::Uplinks,
    upstream::{AWAY, Upstream, UpstreamError},
};

/// The upstreams of every adapter type. Clones share what is open.
#[derive(Debug, Clone)]
pub struct Adapters {
    uplinks: Uplinks,
    held: Arc<Held>,
    clock: Clock,
    #[cfg(any(test, feature = "conformance"))]
    stand_in: Option<Arc<dyn Upstream>>,
    #[cfg(any(test, feature = "conformance"))]
    fixtures: Option<Arc<dyn Upstream>>,
    #[cfg(test)]
    opener: Option<Opener>,
}

/// Opens the adapters of tests in place of [`Kind::open`].
#[cfg(test)]
#[derive(Clone)]
pub(crate) struct Opener(pub(crate) Arc<Open>);

#[cfg(test)]
type Open = dyn Fn(&Target, &Lease) -> Arc<dyn Adapter> + Send + Sync;

impl Adapters {
    /// Over the live uplinks; no adapter is open yet.
    #[must_use]
    pub fn new(uplinks: Uplinks, clock: Clock) -> Self {
        Self {
            uplinks,
            held: Arc::default(),
            clock,
            #[cfg(any(test, feature = "conformance"))]
            stand_in: None,
            #[cfg(any(test, feature = "conformance"))]
            fixtures: None,
            #[cfg(test)]
            opener: None,
        }
    }

    /// One upstream that answers for every host.
    #[cfg(any(test, feature = "conformance"))]
    #[must_use]
    pub fn answered_by(self, stand_in: Option<Arc<dyn Upstream>>) -> Self {
        Self { stand_in, ..self }
    }

    /// One upstream that answers for the fixtures of conformance runs.
    #[cfg(any(test, feature = "conformance"))]
    #[must_use]
    pub fn with_fixtures(self, fixtures: Option<Arc<dyn Upstream>>) -> Self {
        Self { fixtures, ..self }
    }

    /// Adapters opened by a test.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn opened_by(self, opener: Opener) -> Self {
        Self {
            opener: Some(opener),
            ..self
        }
    }

    /// What carries calls to this target now, with this credential where the target has one.
    ///
    /// # Errors
    /// When the host's relay is not connected, or the target's settings or credential cannot be used.
    pub fn upstream(
        &self,
        target: &Target,
        lease: Option<&Lease>,
    ) -> Result<Arc<dyn Upstream>, UpstreamError> {
        match (Kind::of(target.adapter), lease) {
            (None, _) => self.host(target),
            (Some(_), Some(lease)) => Ok(self.adapter(target, lease)?),
            (Some(_), None) => Err(UpstreamError::CredentialRejected),
        }
    }

    /// The adapter of a target that is dialled, open and warm. It is the same one for every call until the target's
    /// settings or its credential are others; calls under way keep the one they have.
    ///
    /// # Errors
    /// When the settings or the credential cannot be used.
    pub fn adapter(&self, target: &Target, lease: &Lease) -> Result<Arc<dyn Adapter>, UpstreamError> {
        self.held
            .get(target, lease, self.clock.monotonic(), || self.open(target, lease))
    }

    /// The tenants of whose targets adapters are open.
    #[must_use]
    pub fn tenants(&self) -> Vec<TenantId> {
        self.held.tenants()
    }

    /// Closes the adapters that nobody used for a while, and those of a tenant's targets that changed or are gone.
    pub fn sweep(&self, current: &Snapshot) {
        let version = |id| {
            let target = current.target(id).filter(|target| !target.disabled);
            target.map(|target| target.version)
        };
        self.held.sweep(&current.tenant, self.clock.monotonic(), version);
    }

    fn open(&self, target: &Target, lease: &Lease) -> Result<Arc<dyn Adapter>, UpstreamError> {
        #[cfg(test)]
        if let Some(Opener(open)) = &self.opener {
            return Ok(open(target, lease));
        }
        let kind = Kind::of(target.adapter).ok_or(UpstreamError::Unreachable)?;
        kind.open(&target.settings, held::facts(target), lease.value())
    }

    fn project(&self, target: &Target) -> Result<Arc<dyn Upstream>, UpstreamError> {
        let name: Arc<str> = target.name.as_str().into();
        let offline = UpstreamError::ProjectOffline {
            project: Arc::clone(&name),
            relay: target.id.to_string().into(),
            why: match target.relay {
                RelayStanding::Enrolled => AWAY,
                RelayStanding::Waiting => {
                    "no relay has enrolled for it yet; an admin runs `toolgate fleet enrol`"
                }
                RelayStanding::Revoked => {
                    "an admin revoked its relay; `toolgate fleet enrol` lets one enrol anew"
                }
                RelayStanding::Locked => {
                    "its relay's key was in use twice; an admin runs `toolgate fleet enrol`"
                }
            },
        };
        self.uplinks.project(target.id, name).ok_or(offline)
    }

    fn host(&self, target: &Target) -> Result<Arc<dyn Upstream>, UpstreamError> {
        #[cfg(any(test, feature = "conformance"))]
        if target.is_stand_in() {
            return self.fixtures.clone().ok_or(UpstreamError::Unreachable);
        }
        if target.adapter == PROJECT {
            return self.project(target);
        }
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

#[cfg(test)]
impl std::fmt::Debug for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opener")
    }
}
