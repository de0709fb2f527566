//! Who dials in for a tenant: the relays of its hosts and of its projects, side by side, and another key for one of them.

use toolgate_contract::{
    frame::{Octets, PublicKey},
    ids::TargetId,
};

use super::Projects;
use crate::{
    changes::By,
    error::Error,
    fleet::Status,
    registry::PROJECT,
    snapshot::{RelayStanding, Snapshot},
    targets::Target,
};

/// The relay of a host or a project, whether one has enrolled or not.
#[derive(Debug)]
pub struct Relay {
    /// What it serves.
    pub target: Target,
    /// `live`, `silent`, `server_down`, `offline`, `waiting`, `revoked`, `locked` or `disabled`.
    pub state: &'static str,
    /// Why it is not live, and what to do.
    pub why: Option<String>,
    /// How it does.
    pub status: Status,
}

impl Relay {
    /// Whether it serves a project.
    #[must_use]
    pub fn is_of_project(&self) -> bool {
        self.target.adapter == PROJECT
    }

    /// The key that was proven last.
    #[must_use]
    pub fn live_key(&self) -> Option<PublicKey> {
        self.status.live_key.map(|(key, _)| key)
    }

    /// Whether a relay has proven another key than the pinned one.
    #[must_use]
    pub fn mismatch(&self) -> bool {
        matches!((self.target.relay_key, self.live_key()), (Some(pinned), Some(live)) if pinned != live)
    }

    fn of(target: Target, status: Status) -> Self {
        let state = match (target.disabled, status.state) {
            (true, _) => "disabled",
            // Not seen by calls yet.
            (false, "") => "waiting",
            (false, state) => state,
        };
        let mut relay = Self {
            target,
            state,
            why: None,
            status,
        };
        relay.why = relay.explained();
        relay
    }

    fn explained(&self) -> Option<String> {
        if let ("live" | "server_down" | "silent", Some(why)) = (self.state, &self.status.why) {
            return Some(why.clone());
        }
        let why = match self.state {
            "live" => return None,
            "disabled" => "its target is disabled",
            "waiting" => "no relay has enrolled for it yet; make an enrolment and run its command there",
            "revoked" => "an admin revoked its relay; make an enrolment to let one enrol anew",
            "locked" => "its relay's key was in use twice, so it may have been copied; make an enrolment",
            "silent" => {
                "its relay is connected and was not heard for half a minute; look at the network between"
            }
            _ if self.mismatch() => "a relay with another key was kept out; pin that key if it is yours",
            _ => "its relay is not connected; start it there again and look at its log",
        };
        Some(why.to_owned())
    }
}

impl Projects {
    /// The relays of hosts and projects, hosts first, each by name.
    pub async fn relays(&self, by: &By) -> Result<Vec<Relay>, Error> {
        let targets = self.targets.relayed(by).await?;
        let snapshot = self.snapshots.get(&by.tenant).await?;
        let of = |target| self.relay_of(snapshot.as_deref(), target);
        Ok(targets.into_iter().map(of).collect())
    }

    /// Pins the key that the relay of a host or a project shows now, in place of the one it enrolled with.
    pub async fn pin_relay(&self, by: By, id: &str, key: &str) -> Result<Relay, Error> {
        let key: PublicKey = Octets::parse(key).ok_or_else(|| {
            Error::invalid(
                "key",
                "is no key of a relay; live_key tells the one that is shown",
            )
        })?;
        let relay = self.relay(&by, id).await?;
        if relay.target.standing() == RelayStanding::Enrolled && relay.live_key() != Some(key) {
            return Err(Error::Conflict(format!(
                "that is not the key that the relay of {} shows now; look at live_key, and at the relay's own log",
                relay.target.name
            )));
        }
        self.targets.repin(by.clone(), relay.target.id, key).await?;
        self.relay(&by, id).await
    }

    async fn relay(&self, by: &By, id: &str) -> Result<Relay, Error> {
        let target = self.targets.get_relayed(by, id).await?;
        let snapshot = self.snapshots.get(&by.tenant).await?;
        Ok(self.relay_of(snapshot.as_deref(), target))
    }

    fn relay_of(&self, snapshot: Option<&Snapshot>, target: Target) -> Relay {
        let id: TargetId = target.id;
        let seen = snapshot.and_then(|snapshot| Some((snapshot, snapshot.target(id)?)));
        let status = seen.map(|(snapshot, shown)| self.fleet.status(snapshot, &shown));
        Relay::of(target, status.unwrap_or_default())
    }
}
