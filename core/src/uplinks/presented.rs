//! The identity that the relay of each target has proven last, whether it is the pinned one or not.
//!
//! One entry a target, and only for targets that the store knows in that very tenant, so it is bounded by them. Lost at
//! a restart: it tells an admin what dials now, and decides nothing.

use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use toolgate_contract::{
    frame::PublicKey,
    ids::{TargetId, TenantId},
};

/// Keys by target.
#[derive(Default)]
pub(super) struct Presented(Mutex<HashMap<TargetId, Proven>>);

struct Proven {
    tenant: TenantId,
    key: PublicKey,
    at: Instant,
    /// The last one that was not the pinned one.
    kept_out: Option<(PublicKey, Instant)>,
    /// When the last connection was heard for the last time, once it has ended.
    heard: Option<Instant>,
}

impl Presented {
    /// A relay of a target that is known has proven this key; `kept_out` where it is not the pinned one.
    pub(super) fn note(&self, tenant: &TenantId, target: TargetId, key: PublicKey, kept_out: bool) {
        let (mut keys, now) = (self.keys(), Instant::now());
        let former = keys.remove(&target);
        let heard = former.as_ref().and_then(|former| former.heard);
        let former = former.and_then(|former| former.kept_out);
        let proven = Proven {
            tenant: tenant.clone(),
            key,
            at: now,
            kept_out: if kept_out { Some((key, now)) } else { former },
            heard,
        };
        keys.insert(target, proven);
    }

    /// The last key that was kept out.
    pub(super) fn kept_out(&self, tenant: &TenantId, target: TargetId) -> Option<(PublicKey, Duration)> {
        let keys = self.keys();
        let proven = keys.get(&target).filter(|proven| proven.tenant == *tenant)?;
        proven.kept_out.map(|(key, at)| (key, at.elapsed()))
    }

    /// The connection of a target has ended, and was last heard this long ago. One that was forgotten stays so.
    pub(super) fn left(&self, tenant: &TenantId, target: TargetId, silent_for: Duration) {
        if let Some(proven) = self.keys().get_mut(&target)
            && proven.tenant == *tenant
        {
            proven.heard = Instant::now().checked_sub(silent_for);
        }
    }

    /// How long ago the last connection that has ended was heard.
    pub(super) fn heard(&self, tenant: &TenantId, target: TargetId) -> Option<Duration> {
        let keys = self.keys();
        let proven = keys.get(&target).filter(|proven| proven.tenant == *tenant)?;
        proven.heard.map(|at| at.elapsed())
    }

    pub(super) fn of(&self, tenant: &TenantId, target: TargetId) -> Option<(PublicKey, Duration)> {
        let keys = self.keys();
        let proven = keys.get(&target).filter(|proven| proven.tenant == *tenant)?;
        Some((proven.key, proven.at.elapsed()))
    }

    /// The target is gone, or its relay's key counts no more.
    pub(super) fn forget(&self, target: TargetId) {
        self.keys().remove(&target);
    }

    fn keys(&self) -> MutexGuard<'_, HashMap<TargetId, Proven>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presented").finish_non_exhaustive()
    }
}
