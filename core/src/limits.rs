//! Token buckets: one per principal and one per tenant (`gateway.md` D4), and one per source for guesses at codes.
//!
//! Process-local and bounded. Runs on the monotonic clock only. The same semantics, to the token, are meant for the
//! shared script that several instances will use.

mod watches;

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use toolgate_contract::ids::{TargetId, TenantId};

pub use self::watches::{Watches, Watching};
use crate::{clock::Clock, config::Limits, error::Error};

const SHARDS: usize = 64;
/// Above this many buckets a shard forgets the full ones: a full bucket and no bucket mean the same.
const SHARD_SWEEP: usize = 4_096;

/// Every bucket of this process.
#[derive(Debug)]
pub struct Buckets {
    clock: Clock,
    user: Rate,
    tenant: Rate,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
}

/// What a bucket belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Owner {
    User(Use, TenantId, Arc<str>),
    Tenant(Use, TenantId),
    Source(String),
}

/// Sign-ins a minute that may fail from one source: a person mistypes, a program guesses.
const SIGN_INS_PER_MINUTE: u32 = 10;

/// Calls and lists have buckets of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// A call of a tool, or a connection test.
    Call,
    /// A list of tools.
    List,
}

/// What a principal has left of its buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Headroom {
    /// The principal's rate.
    pub user_per_minute: u32,
    /// Tokens in the principal's bucket.
    pub user_left: u32,
    /// The tenant's rate.
    pub tenant_per_minute: u32,
    /// Tokens in the tenant's bucket.
    pub tenant_left: u32,
}

#[derive(Debug, Default)]
struct Shard {
    // When the bucket will be full again, on the monotonic clock: all the state a token bucket has.
    full_at: HashMap<Owner, Duration>,
    sweep_at: usize,
}

#[derive(Debug, Clone, Copy)]
struct Rate {
    per_minute: u32,
    interval: Duration,
    burst: Duration,
}

impl Buckets {
    /// Full buckets everywhere.
    #[must_use]
    pub fn new(limits: Limits, clock: Clock) -> Self {
        Self {
            clock,
            user: Rate::new(limits.user_per_minute),
            tenant: Rate::new(limits.tenant_per_minute),
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// Takes one token of the principal and one of the tenant, or neither.
    ///
    /// The principal is asked first, so that a throttled one never drains the tenant.
    pub fn take(&self, usage: Use, tenant: &TenantId, principal: &Arc<str>) -> Result<(), Error> {
        self.take_user(usage, tenant, principal)?;
        let taken = self.take_one(&Owner::Tenant(usage, tenant.clone()), self.tenant);
        if taken.is_err() {
            self.give_back(
                &Owner::User(usage, tenant.clone(), Arc::clone(principal)),
                self.user,
            );
        }
        taken.map_err(|retry_after| self.tenant.refuse("tenant's", retry_after))
    }

    /// Takes one token of the principal only.
    pub fn take_user(&self, usage: Use, tenant: &TenantId, principal: &Arc<str>) -> Result<(), Error> {
        self.take_one(
            &Owner::User(usage, tenant.clone(), Arc::clone(principal)),
            self.user,
        )
        .map_err(|retry_after| self.user.refuse("caller's", retry_after))
    }

    /// Takes one sign-in of a source, before the code is looked at.
    pub fn take_sign_in(&self, source: &str) -> Result<(), Error> {
        let rate = Rate::new(SIGN_INS_PER_MINUTE);
        self.take_one(&Owner::Source(source.to_owned()), rate)
            .map_err(|retry_after| rate.refuse("sign-in", retry_after))
    }

    /// Gives it back: the code was good.
    pub fn give_back_sign_in(&self, source: &str) {
        self.give_back(&Owner::Source(source.to_owned()), Rate::new(SIGN_INS_PER_MINUTE));
    }

    /// What a principal has left. Takes nothing.
    #[must_use]
    pub fn headroom(&self, usage: Use, tenant: &TenantId, principal: &Arc<str>) -> Headroom {
        let user = Owner::User(usage, tenant.clone(), Arc::clone(principal));
        let whole = Owner::Tenant(usage, tenant.clone());
        Headroom {
            user_per_minute: self.user.per_minute,
            user_left: self.left(&user, self.user),
            tenant_per_minute: self.tenant.per_minute,
            tenant_left: self.left(&whole, self.tenant),
        }
    }

    fn left(&self, owner: &Owner, rate: Rate) -> u32 {
        let now = self.clock.monotonic();
        let full_at = self.shard(owner).full_at.get(owner).copied();
        let missing = full_at.map_or(Duration::ZERO, |at| at.saturating_sub(now));
        let left = rate.burst.saturating_sub(missing).as_nanos() / rate.interval.as_nanos().max(1);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    fn take_one(&self, owner: &Owner, rate: Rate) -> Result<(), Duration> {
        let now = self.clock.monotonic();
        let mut shard = self.shard(owner);
        let full_at = shard.full_at.get(owner).map_or(now, |at| (*at).max(now));
        let after = full_at + rate.interval;
        if after > now + rate.burst {
            return Err(after - now - rate.burst);
        }
        shard.put(owner, after, now);
        Ok(())
    }

    fn give_back(&self, owner: &Owner, rate: Rate) {
        if let Some(full_at) = self.shard(owner).full_at.get_mut(owner) {
            *full_at = full_at.saturating_sub(rate.interval);
        }
    }

    fn shard(&self, owner: &Owner) -> std::sync::MutexGuard<'_, Shard> {
        let index = usize::try_from(self.hasher.hash_one(owner) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn put(&mut self, owner: &Owner, full_at: Duration, now: Duration) {
        if let Some(slot) = self.full_at.get_mut(owner) {
            *slot = full_at;
            return;
        }
        if self.full_at.len() >= self.sweep_at.max(SHARD_SWEEP) {
            self.full_at.retain(|_, at| *at > now);
            self.sweep_at = self.full_at.len() * 2;
        }
        self.full_at.insert(owner.clone(), full_at);
    }
}

impl Rate {
    fn new(per_minute: u32) -> Self {
        let per_minute = per_minute.max(1);
        let interval = Duration::from_secs(60) / per_minute;
        Self {
            per_minute,
            interval,
            burst: interval * per_minute,
        }
    }

    fn refuse(self, scope: &'static str, retry_after: Duration) -> Error {
        Error::RateLimited {
            scope,
            per_minute: self.per_minute,
            retry_after,
        }
    }
}

/// How many calls of each tenant are under way.
#[derive(Debug, Clone)]
pub struct InFlight {
    most: u32,
    taken: Arc<Mutex<Taken>>,
}

/// Places that are taken: of a tenant, and of each of its projects, so that one that hangs takes them from nobody else.
type Taken = HashMap<(TenantId, Option<TargetId>), u32>;

/// One call's place among its tenant's calls under way; given back when dropped.
#[derive(Debug)]
pub struct Place {
    taken: Arc<Mutex<Taken>>,
    whose: (TenantId, Option<TargetId>),
}

impl InFlight {
    /// At most this many for each tenant, and for each of its projects.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Self {
            most,
            taken: Arc::default(),
        }
    }

    /// Takes a place of the tenant, or of this project of it; refuses when all are taken.
    pub fn take(&self, tenant: &TenantId, project: Option<TargetId>) -> Result<Place, Error> {
        let whose = (tenant.clone(), project);
        let mut all = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = all.entry(whose.clone()).or_default();
        if *taken >= self.most {
            return Err(Error::Overloaded);
        }
        *taken += 1;
        Ok(Place {
            taken: Arc::clone(&self.taken),
            whose,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = all.get_mut(&self.whose) {
            *taken -= 1;
            if *taken == 0 {
                all.remove(&self.whose);
            }
        }
    }
}

#[cfg(test)]
mod tests;
