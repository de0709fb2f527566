//! Verifies a data directory without a gateway: `toolgate audit verify --data-dir DIR`.
//!
//! Opens store, keys and checkpoints as they are and writes to none. Works beside a running gateway as well. The store
//! may also be a PostgreSQL database; then every tenant in it is verified.

use std::{path::Path, sync::Arc};

use toolgate_contract::ids::TenantId;

use super::records::{Extent, Records, doubt};
use crate::{
    audit::{
        Head,
        verify::{Verdict, Verification},
    },
    keys::{KeyError, Keyring},
    store::{DatabaseUrl, Store, StoreConfig, StoreError},
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

/// Verifies the chain of every tenant in `dir`, the reserved one first, and of every id that has rows or checkpoints
/// without being a tenant's. With `database` the record is there, and `dir` holds keys and checkpoints.
///
/// # Errors
/// When store or keys cannot be opened or read.
pub async fn verify_directory(
    dir: &Path,
    database: Option<&DatabaseUrl>,
) -> Result<Vec<TenantReport>, OfflineError> {
    let config = match database {
        Some(url) => StoreConfig::postgres_read_only(url.clone()),
        None => {
            let path = dir.join("toolgate.db");
            if !path.is_file() {
                return Err(OfflineError::NoStore(path));
            }
            StoreConfig::sqlite_read_only(path)
        }
    };
    let keys = Arc::new(Keyring::open_existing(dir)?);
    // Before the rows: what is signed later is about rows that are read later.
    let store = Store::open(config).await?;
    let records = Records::new(store.clone(), keys, dir);
    let survey = records.survey().await?;
    let mut reports = Vec::new();
    for (tenant_id, name) in owners(&store).await? {
        let verification = match tenant_id.parse::<TenantId>() {
            Ok(tenant) => records.verify_chain(&tenant, Extent::Whole).await?,
            Err(_) => of_nobody(&tenant_id),
        };
        reports.push(TenantReport {
            tenant_id,
            name,
            verification,
        });
    }
    reports.sort_by_key(|report| report.tenant_id != TenantId::system().as_str());
    match survey {
        Some(Ok(signed)) => reports.extend(gone(&reports, signed)),
        Some(Err(why)) => doubt_first(&mut reports, &why),
        None => {}
    }
    Ok(reports)
}

/// Tenants that were signed for and of whom nothing is left.
fn gone(reports: &[TenantReport], signed: Vec<(String, i64)>) -> Vec<TenantReport> {
    let known = |tenant: &String| reports.iter().any(|report| report.tenant_id == *tenant);
    let gone = signed
        .into_iter()
        .filter(|(tenant, seq)| *seq > 0 && !known(tenant));
    gone.map(|(tenant_id, seq)| TenantReport {
        tenant_id,
        name: None,
        verification: Verification {
            message: format!("the tenant and its whole chain are gone: the checkpoints vouch for {seq} rows"),
            ..nothing(Verdict::ChainMissing, 1)
        },
    })
    .collect()
}

/// What is wrong with the checkpoints of all tenants is told with the reserved one, unless worse is known of it.
fn doubt_first(reports: &mut [TenantReport], why: &str) {
    let told = reports
        .iter()
        .any(|report| report.verification.verdict == Verdict::BadSignature);
    if let Some(first) = reports.first_mut().filter(|_| !told) {
        doubt(&mut first.verification, why);
    }
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
        message: format!("rows lie under {tenant_id:?}, which is no tenant's id"),
        ..nothing(Verdict::Inserted, 1)
    }
}

fn nothing(verdict: Verdict, seq: i64) -> Verification {
    Verification {
        verdict,
        rows: 0,
        seq,
        message: String::new(),
        head: Head {
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
