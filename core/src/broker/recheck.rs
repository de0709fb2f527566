//! Drift: before a target is used whose last validation is a day old, its credential is held against what it may be.
//!
//! One re-check per target however many calls wait for it, under the contact of the one that began it. Wider refuses
//! them all and marks the target, so that later calls are refused without contact; narrower or no answer says nothing
//! against the call, which goes on and fails by itself. What was found lately is remembered for the calls that came with
//! an older snapshot, and so that a target without an answer is not asked twice by every call.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use toolgate_contract::ids::{TargetId, TenantId};

use super::errand::{Errand, Fault};
use crate::{
    adapters::{Kind, Validation, Verdict},
    changes::By,
    flights::Flights,
    secrets::{Lease, SecretRef},
    snapshot::Target,
};

/// A validation is good for this long.
const GOOD_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// What was found is remembered for this long.
const LATELY: Duration = Duration::from_secs(60);
/// Findings remembered at most; past that, targets are asked again.
const MOST: usize = 4_096;

/// Re-checks under way and lately done.
#[derive(Debug)]
pub(crate) struct Rechecks {
    flights: Flights<Key, Found>,
    lately: Mutex<HashMap<Key, (Duration, Found)>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    tenant: TenantId,
    target: TargetId,
    version: i64,
    secret: Option<SecretRef>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Wider,
    NothingAgainstIt,
}

/// Whether the target was found to have a credential that can do more than it should, by calls before this one.
pub(super) fn is_drifted(target: &Target) -> bool {
    drifts(target) && target.validation["verdict"] == "drifted"
}

fn drifts(target: &Target) -> bool {
    Kind::of(target.adapter).is_some_and(Kind::drifts)
}

/// Whether a target's last validation is so old that it has to be held against its credential again.
pub(super) fn is_due(target: &Target, now_us: i64) -> bool {
    let checked_us = target.validation["checkedUs"].as_i64();
    let good_for = i64::try_from(GOOD_FOR.as_micros()).unwrap_or(i64::MAX);
    checked_us.is_none_or(|checked_us| now_us.saturating_sub(checked_us) > good_for)
}

impl Rechecks {
    /// None yet; those to come are owned by `tasks`.
    pub(crate) fn new(tasks: TaskTracker) -> Self {
        Self {
            flights: Flights::new(tasks),
            lately: Mutex::default(),
        }
    }

    /// How many calls wait for re-checks.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.flights.seats()
    }

    fn found_lately(&self, key: &Key, now: Duration) -> Option<Found> {
        let lately = self.lately();
        let (at, found) = lately.get(key)?;
        (now.saturating_sub(*at) < LATELY).then_some(*found)
    }

    fn remember(&self, key: Key, now: Duration, found: Found) {
        let mut lately = self.lately();
        if lately.len() >= MOST {
            lately.retain(|_, (at, _)| now.saturating_sub(*at) < LATELY);
        }
        if lately.len() < MOST {
            lately.insert(key, (now, found));
        }
    }

    fn lately(&self) -> MutexGuard<'_, HashMap<Key, (Duration, Found)>> {
        self.lately.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Errand {
    /// Holds the target against its credential where that is due.
    pub(super) async fn recheck(&self, lease: &Lease) -> Result<(), Fault> {
        let (target, rooms) = (&self.target, &self.rooms);
        if !drifts(target) || !is_due(target, rooms.clock.wall_us()) {
            return Ok(());
        }
        let key = Key {
            tenant: lease.tenant().clone(),
            target: target.id,
            version: target.version,
            secret: target.secret.clone(),
        };
        let found = match rooms.rechecks.found_lately(&key, rooms.clock.monotonic()) {
            Some(found) => found,
            None => self.check_shared(key, lease).await,
        };
        match found {
            Found::Wider => Err(Fault::Drifted),
            Found::NothingAgainstIt => Ok(()),
        }
    }

    /// What the adapter finds within this time; `None` where there was no time for it to end.
    pub(super) async fn validate(&self, lease: &Lease, within: Duration) -> Option<Validation> {
        let began = self.rooms.clock.monotonic();
        match self.rooms.adapters.adapter(&self.target, lease) {
            Ok(adapter) => timeout(within, adapter.validate(&self.contact)).await.ok(),
            Err(error) => {
                let took = self.rooms.clock.monotonic().saturating_sub(began);
                let why = error.to_string();
                Some(super::prove::unanswered(error, why, took))
            }
        }
    }

    async fn check_shared(&self, key: Key, lease: &Lease) -> Found {
        let (errand, lease) = (self.clone(), lease.clone());
        let mut seat = self
            .rooms
            .rechecks
            .flights
            .seat(key.clone(), |_| async move { errand.check(key, &lease).await });
        // Nothing was found out by a re-check that was lost.
        seat.arrival().await.unwrap_or(Found::NothingAgainstIt)
    }

    async fn check(self, key: Key, lease: &Lease) -> Found {
        let rechecks = &self.rooms.rechecks;
        if let Some(found) = rechecks.found_lately(&key, self.rooms.clock.monotonic()) {
            return found;
        }
        // The other half of the time is the call's own.
        let found = match self.validate(lease, self.call.deadline / 2).await {
            Some(validation) => self.note(&key, &validation).await,
            None => Found::NothingAgainstIt,
        };
        rechecks.remember(key, self.rooms.clock.monotonic(), found);
        found
    }

    async fn note(&self, key: &Key, validation: &Validation) -> Found {
        let by = By::gateway(key.tenant.clone());
        let checked = self
            .rooms
            .targets
            .checked(by, key.target, key.version, validation);
        if let Err(error) = checked.await {
            tracing::warn!(target_id = %key.target, %error, "what a re-check found is not on the record, so it is done again");
        }
        match &validation.verdict {
            Verdict::Violation(violation) if violation.wider => {
                tracing::warn!(tenant = %key.tenant, target_id = %key.target, "the credential of a target can do more than it should; its calls are refused");
                Found::Wider
            }
            Verdict::Passed | Verdict::Violation(_) | Verdict::Unknown(_) => Found::NothingAgainstIt,
        }
    }
}
