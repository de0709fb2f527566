//! Adapters that are open: one per target, kept warm, for the settings and the credential it was opened with.
//!
//! What was opened with other settings, facts or another credential is replaced; calls under way keep the one they have
//! until they end, so a rotation has no downtime. Least recently used first out, and what nobody used for a while is
//! closed, since it holds a credential.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;
use toolgate_contract::ids::{TargetId, TenantId};

use super::Adapter;
use crate::{secrets::Lease, snapshot::Target, upstream::UpstreamError};

/// Adapters at most.
const MOST: usize = 1_024;
/// An adapter is closed after this long without a call.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// The open adapters.
#[derive(Default)]
pub(super) struct Held(Mutex<HashMap<TargetId, Slot>>);

struct Slot {
    adapter: Arc<dyn Adapter>,
    lease: Lease,
    version: i64,
    settings: Value,
    facts: Value,
    used: Duration,
}

impl Held {
    /// The adapter of a target, opened where none is open that fits.
    pub(super) fn get(
        &self,
        target: &Target,
        lease: &Lease,
        now: Duration,
        open: impl FnOnce() -> Result<Arc<dyn Adapter>, UpstreamError>,
    ) -> Result<Arc<dyn Adapter>, UpstreamError> {
        if let Some(found) = self.find(target, lease, now) {
            return Ok(found);
        }
        // Not under the lock: it reads certificates. Who comes second takes what the first one opened.
        let adapter = open()?;
        if let Some(found) = self.find(target, lease, now) {
            return Ok(found);
        }
        let slot = Slot {
            adapter: Arc::clone(&adapter),
            lease: lease.clone(),
            version: target.version,
            settings: target.settings.clone(),
            facts: facts(target).clone(),
            used: now,
        };
        let mut slots = self.lock();
        slots.insert(target.id, slot);
        if slots.len() > MOST {
            let least = slots.iter().min_by_key(|(_, slot)| slot.used).map(|(id, _)| *id);
            least.map(|id| slots.remove(&id));
        }
        Ok(adapter)
    }

    /// The tenants of whose targets adapters are open.
    pub(super) fn tenants(&self) -> Vec<TenantId> {
        let mut tenants: Vec<TenantId> = self
            .lock()
            .values()
            .map(|slot| slot.lease.tenant().clone())
            .collect();
        tenants.sort_unstable();
        tenants.dedup();
        tenants
    }

    /// Closes what is idle, and what of this tenant has another version than the target has now.
    pub(super) fn sweep(&self, tenant: &TenantId, now: Duration, version: impl Fn(TargetId) -> Option<i64>) {
        self.lock().retain(|id, slot| {
            now.saturating_sub(slot.used) < IDLE
                && (slot.lease.tenant() != tenant || version(*id) == Some(slot.version))
        });
    }

    fn find(&self, target: &Target, lease: &Lease, now: Duration) -> Option<Arc<dyn Adapter>> {
        let mut slots = self.lock();
        let slot = slots
            .get_mut(&target.id)
            .filter(|slot| slot.fits(target, lease))?;
        slot.used = now;
        Some(Arc::clone(&slot.adapter))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TargetId, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn fits(&self, target: &Target, lease: &Lease) -> bool {
        self.version == target.version
            && self.lease.is_same(lease)
            && self.settings == target.settings
            && self.facts == *facts(target)
    }
}

pub(super) fn facts(target: &Target) -> &Value {
    &target.validation["facts"]
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({} open)", self.lock().len())
    }
}

#[cfg(test)]
mod tests;
