//! How many rows were committed since they were last asked for: told by the journal, read by the keeper. And the other
//! way round, what the keeper signed last.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use tokio::sync::{Notify, oneshot};
use toolgate_contract::ids::TenantId;

/// So many rows of one tenant want a checkpoint at once.
pub(super) const MANY_ROWS: i64 = 1_000;

/// Rows committed, by tenant. Bounded by the number of tenants.
#[derive(Debug, Default)]
pub struct Progress {
    rows: Mutex<HashMap<TenantId, i64>>,
    many: Notify,
    /// Tenants whose chain the journal found broken: what follows must not be signed.
    broken: Mutex<BTreeSet<TenantId>>,
    wanted: Mutex<Vec<Wanted>>,
    /// What was signed last, by tenant.
    newest: Mutex<HashMap<String, Newest>>,
}

/// The newest checkpoint of a tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Newest {
    /// The place that it is of.
    pub seq: i64,
    /// When it was signed, microseconds UTC.
    pub time_us: i64,
}

/// Somebody who waits for a checkpoint of a tenant's head.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) tenant: TenantId,
    signed: oneshot::Sender<()>,
}

impl Wanted {
    /// Says that it is durable.
    pub(super) fn tell(self) {
        // Who asked may be gone.
        let _ = self.signed.send(());
    }
}

/// More wait for a checkpoint than can be told one by one; they do without.
const MOST_WANTED: usize = 1_000;

impl Progress {
    /// Says that the chain of `tenant` was found broken. True when that is new.
    pub fn distrust(&self, tenant: &TenantId) -> bool {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.insert(tenant.clone())
    }

    /// Whether the chain of `tenant` was found broken.
    #[must_use]
    pub fn is_distrusted(&self, tenant: &TenantId) -> bool {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.contains(tenant)
    }

    pub(super) fn distrusted(&self) -> Vec<String> {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.iter().map(ToString::to_string).collect()
    }

    /// Counts what a commit brought. Cheap, and never waits.
    pub fn add<'a>(&self, grown: impl Iterator<Item = (&'a TenantId, i64)>) {
        let mut is_many = false;
        {
            let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            for (tenant, by) in grown {
                let count = match rows.get_mut(tenant) {
                    Some(count) => count,
                    None => rows.entry(tenant.clone()).or_default(),
                };
                *count = count.saturating_add(by);
                is_many |= *count >= MANY_ROWS;
            }
        }
        if is_many {
            self.many.notify_one();
        }
    }

    /// Asks for a checkpoint of `tenant` at the next round, which is soon. Answers when the head as it is now, or a later
    /// one, is under a durable checkpoint; fails when that round does.
    pub fn want(&self, tenant: &TenantId) -> oneshot::Receiver<()> {
        let (signed, answer) = oneshot::channel();
        {
            let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            if wanted.len() < MOST_WANTED {
                wanted.push(Wanted {
                    tenant: tenant.clone(),
                    signed,
                });
            }
        }
        self.many.notify_one();
        answer
    }

    /// The newest durable checkpoint of `tenant`; `None` where nothing was signed for it.
    #[must_use]
    pub fn newest(&self, tenant: &TenantId) -> Option<Newest> {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.get(tenant.as_str()).copied()
    }

    /// Says what is signed and durable.
    pub(super) fn signed(&self, signed: impl Iterator<Item = (String, Newest)>) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.extend(signed);
    }

    /// Those who wait for the round that begins now.
    pub(super) fn take_wanted(&self) -> Vec<Wanted> {
        std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a tenant has many rows, or somebody wants a checkpoint.
    pub(super) async fn many(&self) {
        self.many.notified().await;
    }

    /// Tenants with so many rows that they want a checkpoint at once; their count begins anew.
    pub(super) fn take_many(&self) -> Vec<TenantId> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let many: Vec<_> = rows
            .iter()
            .filter(|(_, count)| **count >= MANY_ROWS)
            .map(|(tenant, _)| tenant.clone())
            .collect();
        for tenant in &many {
            rows.remove(tenant);
        }
        many
    }

    /// All counts begin anew: a round signs whatever moved.
    pub(super) fn clear(&self) {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
