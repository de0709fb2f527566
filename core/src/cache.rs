//! What inventory tools answered within the last minute (`gateway.md` D5).
//!
//! An entry belongs to one tenant, one target as it was configured, one credential of it, one tool and one form of its
//! arguments; there is no way to ask for it without naming them all. Only outcomes that are no errors are kept, nothing
//! is kept longer than it may be used, and no table of the store holds a result. Bounded in entries and bytes, least
//! recently used first out. Who may see an answer is decided before this room is asked.

mod table;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use toolgate_contract::ids::{TargetId, TenantId};

use self::table::{Kept, Table};
use crate::{clock::Clock, secrets::SecretRef, upstream::ToolResult};

/// How old an answer may be when it is told.
const AGE: Duration = Duration::from_secs(60);

/// Which answer: the wall between tenants, targets and their versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Whose call it is.
    pub tenant: TenantId,
    /// The target.
    pub target: TargetId,
    /// Which settings of the target.
    pub version: i64,
    /// Which credential of the target.
    pub secret: Option<SecretRef>,
    /// The tool's canonical name.
    pub tool: &'static str,
    /// The canonical arguments without routing arguments.
    pub arguments: Bytes,
}

/// An answer out of the cache.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The answer.
    pub result: Arc<ToolResult>,
    /// How old it is.
    pub age: Duration,
    /// When it was kept, in microseconds UTC.
    pub kept_us: i64,
}

/// The cache. Clones share it.
#[derive(Debug, Clone)]
pub struct Cache {
    table: Arc<Mutex<Table>>,
    clock: Clock,
}

impl Cache {
    /// Empty.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            table: Arc::default(),
            clock,
        }
    }

    /// The answer, where there is one that is young enough.
    #[must_use]
    pub fn look(&self, key: &Key) -> Option<Hit> {
        let now = self.clock.monotonic();
        let mut table = self.table();
        let kept = table.get(key)?;
        let age = now.saturating_sub(kept.at);
        (age < AGE).then(|| Hit {
            result: Arc::clone(&kept.result),
            age,
            kept_us: kept.at_us,
        })
    }

    /// Keeps an answer of just now, if it may be kept.
    pub fn keep(&self, key: Key, result: &Arc<ToolResult>) {
        if result.is_error {
            return;
        }
        let kept = Kept {
            result: Arc::clone(result),
            at: self.clock.monotonic(),
            at_us: self.clock.wall_us(),
        };
        self.table().put(key, kept);
    }

    /// The tenants of which something is kept.
    #[must_use]
    pub fn tenants(&self) -> Vec<TenantId> {
        self.table().tenants()
    }

    /// Drops what is too old, and what of this tenant is not `current` any more.
    pub fn sweep(&self, tenant: &TenantId, current: impl Fn(&Key) -> bool) {
        let now = self.clock.monotonic();
        self.table()
            .retain(|key, kept| now.saturating_sub(kept.at) < AGE && (key.tenant != *tenant || current(key)));
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
