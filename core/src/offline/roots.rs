//! The end of a root key: only where nothing needs it any more, and only where no gateway runs.

use std::path::Path;

use toolgate_contract::ids::TenantId;

use super::OfflineError;
use crate::{
    data_dir::DataDir,
    keys,
    secrets::Local,
    store::{Store, StoreConfig, StoreError, StorePlace, params},
};

const SEALED: &str = "select 1 from audit_event where tenant_id = $1 and key_id = $2 limit 1";

/// Removes a root that no secret is wrapped with and no row of the record sealed with.
///
/// # Errors
/// When it is still needed, is the newest or no root at all, or when a gateway runs in `dir`.
pub async fn retire_root(dir: &Path, store: StoreConfig, id: &str) -> Result<(), OfflineError> {
    // Whoever runs here may seal with it a moment longer.
    let owned = DataDir::own(dir)?;
    owned.expect_record(&store.place)?;
    if !keys::roots(dir)?.iter().any(|root| root == id) {
        return Err(OfflineError::NoRoot(id.to_owned()));
    }
    if let StorePlace::File(path) = &store.place
        && !path.is_file()
    {
        return Err(OfflineError::NoStore(path.clone()));
    }
    let store = Store::open(store).await?;
    // A store that holds nothing needs no key, and is not the one that these keys belong to.
    if store.sealed_with().await?.is_empty() {
        return Err(OfflineError::NoRows);
    }
    if Local::roots_in_use(&store).await?.iter().any(|root| root == id) {
        return Err(OfflineError::StillWraps(id.to_owned()));
    }
    for tenant in store.tenants().await? {
        if has_sealed(&store, &tenant.id, id).await? {
            return Err(OfflineError::StillSeals(id.to_owned()));
        }
    }
    Ok(keys::retire_root(dir, id)?)
}

async fn has_sealed(store: &Store, tenant: &TenantId, id: &str) -> Result<bool, StoreError> {
    let (owner, id) = (tenant.clone(), id.to_owned());
    store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move { Ok(tx.query_opt(SEALED, params![&owner, &id]).await?.is_some()) })
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock::Clock, config::CoreConfig, start::Core};

    #[tokio::test]
    async fn a_root_that_is_needed_stays_and_one_that_is_not_goes() {
        let dir = tempfile::tempdir().unwrap();
        let config = CoreConfig::new(dir.path());
        let core = Core::start(config.clone(), Clock::system()).await.unwrap();
        let running = retire_root(dir.path(), config.store(), "x").await;
        assert!(matches!(running, Err(OfflineError::DataDir(_))), "{running:?}");
        core.shutdown().await;
        let first = keys::roots(dir.path()).unwrap().remove(0);
        // Made and replaced while no gateway ran: nothing was ever sealed with it.
        let unused = keys::rotate_root(dir.path()).unwrap();
        let newest = keys::rotate_root(dir.path()).unwrap();

        let retire = async |id: &str| retire_root(dir.path(), config.store(), id).await;
        assert!(matches!(retire(&first).await, Err(OfflineError::StillSeals(_))));
        assert!(matches!(retire(&newest).await, Err(OfflineError::Keys(_))));
        assert!(matches!(retire("../x").await, Err(OfflineError::NoRoot(_))));
        let elsewhere = tempfile::tempdir().unwrap();
        let empty = StoreConfig::sqlite(elsewhere.path().join("toolgate.db"));
        let refused = retire_root(dir.path(), empty.clone(), &first).await;
        assert!(matches!(refused, Err(OfflineError::NoStore(_))), "{refused:?}");
        drop(Store::open(empty.clone()).await.unwrap());
        let refused = retire_root(dir.path(), empty, &first).await;
        assert!(matches!(refused, Err(OfflineError::NoRows)), "{refused:?}");
        retire(&unused).await.unwrap();
        assert_eq!(keys::roots(dir.path()).unwrap(), [first, newest]);
    }
}
