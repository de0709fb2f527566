//! When credentials were last used: API tokens and sessions, by their ids.
//!
//! Noted in memory whenever one is presented and accepted, and written behind everybody's back: a tenant's a minute after
//! the first of them, a few tenants a second, and what is left at the end. So a call costs no write, a credential is
//! written at most once a minute, and a crash loses a minute or two of what is a hint and no record.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::{TenantId, TokenId};

use crate::{
    clock::Clock,
    store::{Store, StoreError, params},
};

const WRITE: &str = "update token set last_used_us = $3 \
     where tenant_id = $1 and id = $2 and (last_used_us is null or last_used_us < $3)";

const SHARDS: usize = 16;
/// Credentials that wait to be written; further ones are noted when they are used again later.
const MOST: usize = 65_536;
/// How long a tenant's uses wait.
const WAIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(1);
/// Each tenant is a commit of its own, and calls need commits more.
const TENANTS_AT_ONCE: usize = 8;
/// Credentials of one commit.
const BATCH: usize = 500;
/// What is left at the end has this long.
const AT_THE_END: Duration = Duration::from_secs(1);

/// Last uses of all tenants. Clones share them.
#[derive(Debug, Clone)]
pub struct Uses(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    clock: Clock,
    hasher: RandomState,
    shards: Vec<Mutex<HashMap<TenantId, Pending>>>,
    /// Credentials in all of them.
    count: AtomicUsize,
}

/// What is not written yet of a tenant.
#[derive(Debug)]
struct Pending {
    /// When the first of it was noted, monotonic.
    since: Duration,
    used_us: HashMap<TokenId, i64>,
}

impl Uses {
    /// Nothing noted yet.
    #[must_use]
    pub fn new(store: Store, clock: Clock) -> Self {
        Self(Arc::new(Shared {
            store,
            clock,
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            count: AtomicUsize::new(0),
        }))
    }

    /// Notes that a credential is used now. Cheap, and never waits.
    pub fn note(&self, tenant: &TenantId, id: TokenId) {
        let now_us = self.0.clock.wall_us();
        let mut shard = self.0.shard(tenant);
        if let Some(used) = shard
            .get_mut(tenant)
            .and_then(|pending| pending.used_us.get_mut(&id))
        {
            *used = now_us;
            return;
        }
        if self.0.count.load(Ordering::Relaxed) >= MOST {
            return;
        }
        self.0.count.fetch_add(1, Ordering::Relaxed);
        let pending = shard.entry(tenant.clone()).or_insert_with(|| Pending {
            since: self.0.clock.monotonic(),
            used_us: HashMap::new(),
        });
        pending.used_us.insert(id, now_us);
    }

    /// When a credential was last used, of which `stored` was read: microseconds UTC.
    #[must_use]
    pub fn last(&self, tenant: &TenantId, id: TokenId, stored: Option<i64>) -> Option<i64> {
        let noted = self
            .0
            .shard(tenant)
            .get(tenant)
            .and_then(|pending| pending.used_us.get(&id).copied());
        noted.max(stored)
    }

    /// Writes what was noted, now and then until `stop`, and the rest then.
    pub async fn keep(self, stop: CancellationToken) {
        let mut tick = interval(LOOK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = tick.tick() => {}
            }
            if let Err(error) = self.write(WAIT, TENANTS_AT_ONCE).await {
                tracing::warn!(%error, "when credentials were last used cannot be written now");
            }
        }
        let rest = timeout(AT_THE_END, self.write(Duration::ZERO, usize::MAX)).await;
        if !matches!(rest, Ok(Ok(()))) {
            tracing::warn!("when credentials were last used was not all written");
        }
    }

    #[cfg(test)]
    pub(crate) async fn write_all(&self) -> Result<(), StoreError> {
        self.write(Duration::ZERO, usize::MAX).await
    }

    /// Writes what waits for `wait` or longer, of so many tenants.
    async fn write(&self, wait: Duration, tenants: usize) -> Result<(), StoreError> {
        for (tenant, uses) in self.0.due(wait, tenants) {
            for batch in uses.chunks(BATCH) {
                self.write_batch(&tenant, batch.to_vec()).await?;
            }
        }
        Ok(())
    }

    async fn write_batch(&self, tenant: &TenantId, batch: Vec<(TokenId, i64)>) -> Result<(), StoreError> {
        let (owner, uses) = (tenant.clone(), batch.clone());
        let written = self.0.store.with_tenant(tenant, move |tx| {
            Box::pin(async move {
                for (id, used_us) in uses {
                    tx.execute(WRITE, params![&owner, id, used_us]).await?;
                }
                Ok::<_, StoreError>(())
            })
        });
        written.await?;
        self.0.forget(tenant, &batch);
        Ok(())
    }
}

impl Shared {
    fn due(&self, wait: Duration, tenants: usize) -> Vec<(TenantId, Vec<(TokenId, i64)>)> {
        let now = self.clock.monotonic();
        let mut due = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let late = shard
                .iter()
                .filter(|(_, pending)| now.saturating_sub(pending.since) >= wait);
            for (tenant, pending) in late.take(tenants - due.len()) {
                let uses = pending.used_us.iter().map(|(id, used_us)| (*id, *used_us));
                due.push((tenant.clone(), uses.collect()));
            }
        }
        due
    }

    // What was used again meanwhile stays, and waits anew.
    fn forget(&self, tenant: &TenantId, written: &[(TokenId, i64)]) {
        let mut shard = self.shard(tenant);
        let Some(pending) = shard.get_mut(tenant) else {
            return;
        };
        let before = pending.used_us.len();
        for (id, used_us) in written {
            if pending.used_us.get(id) == Some(used_us) {
                pending.used_us.remove(id);
            }
        }
        let gone = before - pending.used_us.len();
        pending.since = self.clock.monotonic();
        if pending.used_us.is_empty() {
            shard.remove(tenant);
        }
        self.count.fetch_sub(gone, Ordering::Relaxed);
    }

    fn shard(&self, tenant: &TenantId) -> MutexGuard<'_, HashMap<TenantId, Pending>> {
        let index = usize::try_from(self.hasher.hash_one(tenant) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
