//! Which project a call goes to that names none.
//!
//! The choice is durable, since a session outlives a restart and must not fall back to another project unnoticed. What was
//! chosen since the tenant's snapshot was read is kept here, over it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use toolgate_contract::ids::{TargetId, TenantId};

use crate::snapshot::Snapshot;

/// Whose choice a call follows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The tenant, whose choice counts where no other is made.
    Tenant,
    /// A principal outside of sessions, by name.
    Principal(Arc<str>),
    /// A session, by its id as 32 hexadecimal digits.
    Session(Arc<str>),
}

impl Owner {
    /// As it is stored, and as snapshots name it.
    #[must_use]
    pub fn stored(&self) -> String {
        match self {
            Self::Tenant => String::new(),
            Self::Principal(name) => format!("p:{name}"),
            Self::Session(id) => format!("s:{id}"),
        }
    }

    /// The word for it.
    #[must_use]
    pub fn scope(&self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Principal(_) => "principal",
            Self::Session(_) => "session",
        }
    }
}

/// Choices that are newer than the snapshots. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Defaults(Arc<Mutex<HashMap<TenantId, HashMap<Owner, Choice>>>>);

/// How long a choice stands over the snapshots. A snapshot that was read before it may come in after it, and a call may hold
/// one for a moment: both are long over by then.
const STANDS_FOR: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
struct Choice {
    target: TargetId,
    made: Instant,
}

impl Defaults {
    /// What this owner chose, whether it is there any more or not.
    #[must_use]
    pub fn of(&self, snapshot: &Snapshot, owner: &Owner) -> Option<TargetId> {
        let chosen = self
            .lock()
            .get(&snapshot.tenant)
            .and_then(|tenant| tenant.get(owner).map(|choice| choice.target));
        chosen.or_else(|| snapshot.defaults.get(&owner.stored()).copied())
    }

    /// Notes a choice that is durable.
    pub fn chose(&self, tenant: &TenantId, owner: Owner, target: TargetId) {
        self.lock().entry(tenant.clone()).or_default().insert(
            owner,
            Choice {
                target,
                made: Instant::now(),
            },
        );
    }

    /// Forgets a choice, for one that was made past this room.
    pub fn forget(&self, tenant: &TenantId, owner: &Owner) {
        if let Some(tenant) = self.lock().get_mut(tenant) {
            tenant.remove(owner);
        }
    }

    /// Forgets what the snapshot says by now, some time after it was chosen: what it says at once may be an older choice of
    /// the same project, and the one in between come in with the next snapshot.
    pub fn sweep(&self, snapshot: &Snapshot) {
        let mut all = self.lock();
        let Some(tenant) = all.get_mut(&snapshot.tenant) else {
            return;
        };
        tenant.retain(|owner, choice| {
            choice.made.elapsed() < STANDS_FOR
                || snapshot.defaults.get(&owner.stored()) != Some(&choice.target)
        });
        if tenant.is_empty() {
            all.remove(&snapshot.tenant);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, HashMap<Owner, Choice>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
