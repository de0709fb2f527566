//! What a process brings that stands alone: itself as a principal, and back ends that stand in no row.
//!
//! Only the snapshot of its own tenant has them, laid over what the store says. Nothing here is ever stored.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use toolgate_contract::ids::TenantId;

use super::{Snapshot, Snapshots, Target, Token};
use crate::{error::Error, registry::BACK_ENDS};

/// What the process brings to its tenant.
#[derive(Debug)]
pub struct Process {
    /// The tenant.
    pub tenant: TenantId,
    /// The hash of its credential, and whom that makes of it.
    pub token: ([u8; 32], Token),
    /// Its back ends. They take the place of the tenant's own of their types.
    pub back_ends: Vec<Arc<Target>>,
    /// Nothing is written at any back end of agents, whatever else allows it.
    pub read_only: bool,
}

/// Set once, at the start of the process's core.
pub(super) type Place = Arc<OnceLock<Process>>;

impl Snapshots {
    /// Shows the process and what it brings from now on.
    ///
    /// # Errors
    /// When the tenant cannot be read, or there was a process before.
    pub async fn bring(&self, process: Process) -> Result<(), Error> {
        let tenant = process.tenant.clone();
        let set = self.process.set(process);
        set.map_err(|_| Error::internal("a core has one process"))?;
        self.refresh(&tenant).await
    }

    /// The snapshot with what the process brings.
    pub(super) fn joined(&self, mut snapshot: Snapshot) -> Snapshot {
        let Some(process) = self.process.get() else {
            return snapshot;
        };
        snapshot.stand_alone = true;
        if process.read_only {
            for target in &mut snapshot.targets {
                close(target);
            }
        }
        if snapshot.tenant == process.tenant {
            let (hash, token) = &process.token;
            snapshot.tokens.insert(*hash, token.clone());
            let replaced = |target: &Arc<Target>| {
                let mut types = process.back_ends.iter().map(|back_end| back_end.adapter);
                types.any(|adapter| adapter == target.adapter)
            };
            snapshot.targets.retain(|target| !replaced(target));
            snapshot.targets.extend(process.back_ends.iter().cloned());
        }
        snapshot
    }
}

// A target that was just read belongs to nobody else yet, so nothing is copied here.
fn close(target: &mut Arc<Target>) {
    if BACK_ENDS.contains(&target.adapter)
        && let Some(target) = Arc::get_mut(target)
        && let Value::Object(settings) = &mut target.settings
    {
        settings.insert("access".into(), "read_only".into());
    }
}
