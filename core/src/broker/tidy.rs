//! What is held for targets is let go once they changed or are gone. Nothing of it could be used any more; this is so
//! that no credential and no answer stays longer in memory than the target it belongs to.

use std::collections::BTreeSet;

use toolgate_contract::ids::TenantId;

use super::Rooms;
use crate::{cache::Key, error::Error, snapshot::Snapshot};

impl Rooms {
    /// Looks once at what is held for every tenant.
    pub(crate) async fn tidy(&self) -> Result<(), Error> {
        self.fleet.pipes().sweep();
        let mut tenants: BTreeSet<TenantId> = self.cache.tenants().into_iter().collect();
        tenants.extend(self.adapters.tenants());
        tenants.extend(self.fleet.tenants());
        for tenant in tenants {
            if let Some(snapshot) = self.snapshots.get(&tenant).await? {
                self.adapters.sweep(&snapshot);
                self.fleet.sweep(&snapshot);
                self.cache.sweep(&tenant, |key| is_current(&snapshot, key));
            }
        }
        Ok(())
    }
}

fn is_current(snapshot: &Snapshot, key: &Key) -> bool {
    snapshot.target(key.target).is_some_and(|target| {
        !target.disabled && target.version == key.version && target.secret == key.secret
    })
}
