//! Verifies a data directory without a gateway: `toolgate audit verify --data-dir DIR`.
//!
//! Opens store and keys as they are and writes to neither. Works beside a running gateway as well.

use std::{path::Path, sync::Arc};

use toolgate_contract::ids::TenantId;

use super::verify::{Verdict, Verification, verify};
use crate::{
    keys::{KeyError, Keyring},
    store::{Store, StoreConfig, StoreError},
};

/// Why a data directory cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// There is no record.
    #[error("there is no {0} to verify: give the data directory of a gateway")]
    NoStore(std::path::PathBuf),
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What was found in one tenant's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantReport {
    /// Its id, as it stands in the store.
    pub tenant_id: String,
    /// Its name; `None` where rows lie under an id that no tenant has.
    pub name: Option<String>,
    /// The verdict.
    pub verification: Verification,
}

/// Verifies the chain of every tenant in `dir`, the reserved one first, and of every id that has rows without being a
/// tenant's.
///
/// # Errors
/// When store or keys cannot be opened or read.
pub async fn verify_directory(dir: &Path) -> Result<Vec<TenantReport>, OfflineError> {
    let path = dir.join("toolgate.db");
    if !path.is_file() {
        return Err(OfflineError::NoStore(path));
    }
    let keys = Arc::new(Keyring::open_existing(dir)?);
    let store = Store::open(StoreConfig::sqlite_read_only(path)).await?;
    let mut reports = Vec::new();
    for (tenant_id, name) in owners(&store).await? {
        let verification = match tenant_id.parse::<TenantId>() {
            Ok(tenant) => verify(&store, &keys, &tenant).await?,
            Err(_) => of_nobody(&tenant_id),
        };
        reports.push(TenantReport {
            tenant_id,
            name,
            verification,
        });
    }
    reports.sort_by_key(|report| report.tenant_id != TenantId::system().as_str());
    Ok(reports)
}

async fn owners(store: &Store) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let mut owners: Vec<_> = store
        .tenants()
        .await?
        .into_iter()
        .map(|tenant| (tenant.id.to_string(), Some(tenant.name)))
        .collect();
    for tenant_id in store.owners_of_rows().await? {
        if owners.iter().all(|(known, _)| *known != tenant_id) {
            owners.push((tenant_id, None));
        }
    }
    Ok(owners)
}

// No tenant can have this id, so the gateway sealed nothing under it.
fn of_nobody(tenant_id: &str) -> Verification {
    Verification {
        verdict: Verdict::Inserted,
        rows: 0,
        seq: 1,
        message: format!("rows lie under {tenant_id:?}, which is no tenant's id"),
        head: super::Head {
            seq: 0,
            hash: [0; 32],
        },
        from: 1,
        checkpoints: 0,
        covered: 0,
    }
}

#[cfg(test)]
mod tests;
