//! Figures of the last hours, for whoever looks at the gateway now: calls, their times and refusals, by tenant.
//!
//! In memory of this process and nowhere else; the record is what counts. Told where calls settle and where refusals are
//! counted; that costs two short locks and no wait. Bounded in every direction: tenants, tools, steps, and all cells
//! together. Where the bound cuts something off, `since` says so instead of a zero that would be a lie. Reads no store.

mod of_tenant;
mod times;

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use toolgate_contract::{ids::TenantId, v1::ErrorReason};

use self::of_tenant::OfTenant;
pub use self::of_tenant::{OTHER, Overview, OverviewOfTool};
use crate::{audit::Outcome, clock::Clock};

/// Length of a step.
pub const STEP: Duration = Duration::from_secs(60);
/// Steps that are kept, the current one included.
pub const STEPS: u32 = 180;

const SHARDS: usize = 16;
/// Tenants of a shard; the one that is silent for the longest makes room for a new one.
const TENANTS_OF_SHARD: usize = 256;
/// A cell is one tool in one minute, or the refusals of one: about 120 bytes. Beyond, a tenant has a shorter past.
const MOST_CELLS: usize = 100_000;

/// The figures of all tenants. Clones share them.
#[derive(Debug, Clone)]
pub struct Figures(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Clock,
    /// Wall time at monotonic zero, so that a wall clock that jumps moves no step.
    zero_us: i64,
    begun_us: i64,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
    cells: Arc<AtomicUsize>,
    /// The step in which what is old was last forgotten.
    swept: AtomicI64,
}

#[derive(Debug, Default)]
struct Shard {
    tenants: HashMap<TenantId, Arc<Kept>>,
    /// Somebody had to make room, so who is new may have been here before.
    is_forgetful: bool,
}

#[derive(Debug)]
struct Kept {
    /// The step in which it was last told something.
    last: AtomicI64,
    figures: Mutex<OfTenant>,
}

impl Figures {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let begun_us = clock.wall_us();
        let monotonic_us = i64::try_from(clock.monotonic().as_micros()).unwrap_or(0);
        Self(Arc::new(Shared {
            zero_us: begun_us.saturating_sub(monotonic_us),
            begun_us,
            clock,
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            cells: Arc::default(),
            swept: AtomicI64::new(0),
        }))
    }

    /// Counts a call that was settled.
    pub fn settled(&self, tenant: &TenantId, tool: &str, result: Outcome, took: Duration) {
        let failed = matches!(result, Outcome::Failure | Outcome::Unknown);
        self.told(tenant, |figures, step| figures.settled(step, tool, failed, took));
    }

    /// Counts a request that was not carried out.
    pub fn refused(&self, tenant: &TenantId, reason: ErrorReason) {
        self.told(tenant, |figures, step| figures.refused(step, reason));
    }

    /// What was counted of a tenant in the last `steps` steps, the current one included.
    #[must_use]
    pub fn overview(&self, tenant: &TenantId, steps: u32) -> Overview {
        let steps = steps.clamp(1, STEPS);
        let first = self.0.step() - i64::from(steps) + 1;
        let shard = self.0.shard(tenant);
        let found = shard.tenants.get(tenant).map(Arc::clone);
        let is_forgetful = shard.is_forgetful;
        drop(shard);
        match found {
            Some(kept) => kept
                .figures
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .overview(first, steps),
            None => {
                OfTenant::new(self.0.since_us(is_forgetful), Arc::clone(&self.0.cells)).overview(first, steps)
            }
        }
    }

    /// Forgets what is older than the steps that are kept. Cheap within one step: called every second.
    pub fn sweep(&self) {
        let step = self.0.step();
        if self.0.swept.swap(step, Ordering::Relaxed) == step {
            return;
        }
        let first = step - i64::from(STEPS) + 1;
        for shard in &self.0.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.tenants.retain(|_, kept| {
                let mut figures = kept.figures.lock().unwrap_or_else(PoisonError::into_inner);
                figures.forget_before(first);
                !figures.is_empty()
            });
        }
    }

    fn told(&self, tenant: &TenantId, tell: impl FnOnce(&mut OfTenant, i64)) {
        let step = self.0.step();
        let kept = self.0.kept(tenant, step);
        kept.last.store(step, Ordering::Relaxed);
        let mut figures = kept.figures.lock().unwrap_or_else(PoisonError::into_inner);
        tell(&mut figures, step);
    }
}

impl Shared {
    fn step(&self) -> i64 {
        let now = i64::try_from(self.clock.monotonic().as_micros()).unwrap_or(i64::MAX);
        self.zero_us.saturating_add(now).div_euclid(of_tenant::STEP_US)
    }

    fn kept(&self, tenant: &TenantId, step: i64) -> Arc<Kept> {
        let mut shard = self.shard(tenant);
        if let Some(kept) = shard.tenants.get(tenant) {
            return Arc::clone(kept);
        }
        if shard.tenants.len() >= TENANTS_OF_SHARD {
            shard.make_room();
        }
        let since_us = self.since_us(shard.is_forgetful);
        let kept = Arc::new(Kept {
            last: AtomicI64::new(step),
            figures: Mutex::new(OfTenant::new(since_us, Arc::clone(&self.cells))),
        });
        shard.tenants.insert(tenant.clone(), Arc::clone(&kept));
        kept
    }

    fn since_us(&self, is_forgetful: bool) -> i64 {
        match is_forgetful {
            true => {
                let now = i64::try_from(self.clock.monotonic().as_micros()).unwrap_or(i64::MAX);
                self.zero_us.saturating_add(now)
            }
            false => self.begun_us,
        }
    }

    fn shard(&self, tenant: &TenantId) -> std::sync::MutexGuard<'_, Shard> {
        let index = usize::try_from(self.hasher.hash_one(tenant) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn make_room(&mut self) {
        let silent = self
            .tenants
            .iter()
            .min_by_key(|(_, kept)| kept.last.load(Ordering::Relaxed));
        if let Some(tenant) = silent.map(|(tenant, _)| tenant.clone()) {
            self.tenants.remove(&tenant);
            self.is_forgetful = true;
        }
    }
}

#[cfg(test)]
mod tests;
