//! Who is connected. The newest connection of a relay wins; taking turns raises the alarm.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use toolgate_contract::{
    frame::{GoAwayReason, Offer, PublicKey},
    ids::{TargetId, TenantId},
};

use super::{connection::Connection, server::ServerState};

/// A relay that loses its place to a newer connection of itself this often within [`WATCHED`] exists twice.
const FLIPS: usize = 3;
const WATCHED: Duration = Duration::from_secs(60);

/// How a connected relay does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    /// How long ago it has proven itself.
    pub connected_for: Duration,
    /// How long ago it last said anything.
    pub silent_for: Duration,
    /// How long its last answer to a ping took.
    pub latency: Option<Duration>,
    /// Requests under way.
    pub in_flight: usize,
    /// How the project's server does, once its relay has told; never of a host.
    pub server: Option<ServerState>,
    /// What the relay said and nobody was there for, or had room for.
    pub passed_over: u64,
}

/// What came of entering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// It is the connection of its target now.
    Present,
    /// Somebody was disconnected since `epoch`; look again whether this relay may connect.
    Stale,
    /// The target is locked. `alarm` is true for the one that tripped it.
    Locked { alarm: bool },
}

/// The one map of connections.
#[derive(Default)]
pub(super) struct Board(Mutex<State>);

#[derive(Default)]
struct State {
    /// Counts disconnections, so that none slips between reading a record and entering.
    epoch: u64,
    present: HashMap<TargetId, Arc<Connection>>,
    flips: HashMap<TargetId, VecDeque<Instant>>,
    /// The key that was in use twice. Only another one lifts the lock.
    locked: HashMap<TargetId, PublicKey>,
}

impl Board {
    pub(super) fn epoch(&self) -> u64 {
        self.state().epoch
    }

    /// Makes `connection` the one of its target. `welcome` runs just before, so that nothing is asked before it.
    pub(super) fn enter(&self, connection: &Arc<Connection>, epoch: u64, welcome: impl FnOnce()) -> Entry {
        let mut state = self.state();
        if state.epoch != epoch {
            return Entry::Stale;
        }
        let (target, key, now) = (connection.target(), connection.relay().public_key, Instant::now());
        state.forget_before(now);
        if state.locked.get(&target) == Some(&key) {
            return Entry::Locked { alarm: false };
        }
        // Another key than the locked one has enrolled since, here or at another instance.
        state.locked.remove(&target);
        if let Some(older) = state.present.remove(&target) {
            older.close(GoAwayReason::Superseded);
            if state.flip(target, now) {
                state.locked.insert(target, key);
                return Entry::Locked { alarm: true };
            }
        }
        welcome();
        state.present.insert(target, Arc::clone(connection));
        Entry::Present
    }

    /// Takes a connection off, unless a newer one has its place.
    pub(super) fn leave(&self, connection: &Arc<Connection>) {
        let mut state = self.state();
        if state
            .present
            .get(&connection.target())
            .is_some_and(|present| Arc::ptr_eq(present, connection))
        {
            state.present.remove(&connection.target());
        }
    }

    pub(super) fn disconnect(&self, target: TargetId) {
        let mut state = self.state();
        state.epoch += 1;
        if let Some(connection) = state.present.remove(&target) {
            connection.close(GoAwayReason::Revoked);
        }
    }

    /// A relay has enrolled anew: the former key's connection ends, what was held against it is forgotten, and whoever
    /// is in the middle of a handshake with it is looked up again.
    pub(super) fn renew(&self, target: TargetId) {
        let mut state = self.state();
        state.epoch += 1;
        state.locked.remove(&target);
        state.flips.remove(&target);
        if let Some(connection) = state.present.remove(&target) {
            connection.close(GoAwayReason::ReEnrol);
        }
    }

    pub(super) fn unlock(&self, target: TargetId) {
        let mut state = self.state();
        state.locked.remove(&target);
        state.flips.remove(&target);
    }

    pub(super) fn is_present(&self, target: TargetId, offer: Offer) -> bool {
        let state = self.state();
        let present = state.present.get(&target);
        present.is_some_and(|connection| connection.relay().offer == offer)
    }

    /// The connection of a tenant's target.
    pub(super) fn find(&self, tenant: &TenantId, target: TargetId) -> Option<Arc<Connection>> {
        let state = self.state();
        state
            .present
            .get(&target)
            .filter(|connection| connection.relay().tenant == *tenant)
            .map(Arc::clone)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Notes that a live connection was replaced; true when that happens too often.
    fn flip(&mut self, target: TargetId, now: Instant) -> bool {
        let flips = self.flips.entry(target).or_default();
        flips.push_back(now);
        flips.len() > FLIPS
    }

    fn forget_before(&mut self, now: Instant) {
        for flips in self.flips.values_mut() {
            flips.retain(|at| now.duration_since(*at) < WATCHED);
        }
        self.flips.retain(|_, flips| !flips.is_empty());
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Board")
            .field("present", &state.present.len())
            .field("locked", &state.locked.len())
            .finish_non_exhaustive()
    }
}
