//! After a new root: every data key is wrapped anew, a few at a time, while calls go on. Sealed values stay untouched.
//!
//! A reader sees a row before or after, and both roots are there, so no read fails. A row that changed meanwhile is
//! left alone and was wrapped with the new root by whoever changed it.

use toolgate_contract::ids::TenantId;

use super::{
    Local,
    envelope::{self, Place},
    rows::{self, Stored},
};
use crate::store::{StoreError, Tx};

/// Rows of one transaction: short enough that calls do not wait behind it.
const BATCH: i64 = 32;

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rewrapped {
    /// Data keys that are now wrapped with the newest root.
    pub done: usize,
    /// Data keys that do not open with the root they name, or whose root is missing. They stay as they are.
    pub stuck: usize,
}

struct Batch {
    done: usize,
    stuck: usize,
    last: Option<String>,
}

impl Local {
    /// Wraps the data keys of all tenants with the newest root.
    ///
    /// # Errors
    /// When the store does not do its part; what was done stays done.
    pub async fn rewrap_all(&self, now_us: i64) -> Result<Rewrapped, StoreError> {
        let mut sum = Rewrapped::default();
        for tenant in self.store.tenants().await? {
            let mut after = Some(String::new());
            while let Some(from) = after.take() {
                let batch = self.rewrap_batch(&tenant.id, from, now_us).await?;
                sum.done += batch.done;
                sum.stuck += batch.stuck;
                after = batch.last;
            }
        }
        Ok(sum)
    }

    /// Ids of the roots with which data keys of any tenant are wrapped.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn roots_in_use(store: &crate::store::Store) -> Result<Vec<String>, StoreError> {
        let mut ids = std::collections::BTreeSet::new();
        for tenant in store.tenants().await? {
            let owner = tenant.id.clone();
            let read = store.with_tenant_read(&tenant.id, move |tx| {
                Box::pin(async move { rows::kek_ids(tx, &owner).await })
            });
            let found: Vec<String> = read.await?;
            ids.extend(found);
        }
        Ok(ids.into_iter().collect())
    }

    async fn rewrap_batch(&self, tenant: &TenantId, from: String, now_us: i64) -> Result<Batch, StoreError> {
        let (local, owner) = (self.clone(), tenant.clone());
        self.store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move {
                    let newest = local.keys.newest_id();
                    let found = rows::wrapped_otherwise(tx, &owner, &newest, &from, BATCH).await?;
                    let full = i64::try_from(found.len()).is_ok_and(|n| n == BATCH);
                    let mut batch = Batch {
                        done: 0,
                        stuck: 0,
                        last: found.last().filter(|_| full).map(|row| row.id.to_string()),
                    };
                    for row in &found {
                        match local.rewrap_row(tx, &owner, row, now_us).await? {
                            true => batch.done += 1,
                            false => batch.stuck += 1,
                        }
                    }
                    Ok(batch)
                })
            })
            .await
    }

    async fn rewrap_row(
        &self,
        tx: &mut Tx,
        tenant: &TenantId,
        row: &Stored,
        now_us: i64,
    ) -> Result<bool, StoreError> {
        let place = Place {
            tenant,
            id: row.id,
            version: row.version,
        };
        let former = &row.envelope.kek_id;
        let new = self.keys.wrapping_key(tenant);
        let wrapped = self
            .keys
            .wrapping_key_by_id(former, tenant)
            .and_then(|old| envelope::rewrap(place, &row.envelope, &old, &new).ok());
        match wrapped {
            Some(wrapped) => {
                rows::rewrap(tx, place, former, new.id(), &wrapped, now_us).await?;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
