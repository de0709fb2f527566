//! Secrets in the gateway's own store, enveloped: what the database holds opens only with a root key it does not have.
//!
//! Each target that has one has one row in `secret`, which goes with the target. Writing takes the transaction of the
//! target's own change. Versions only grow, and a target's reference says which version is the least it takes.

mod envelope;
mod keep;
mod rewrap;
mod rows;

use std::sync::Arc;

use futures::future::BoxFuture;
use toolgate_contract::ids::{TargetId, TenantId};
use ulid::Ulid;

pub use self::rewrap::Rewrapped;
use self::{
    envelope::{FORMAT, Place},
    rows::Stored,
};
use super::{Fault, PutError, SecretProvider, SecretRef, SecretValue};
use crate::{
    keys::Keyring,
    store::{Store, StoreError, Tx},
};

/// The provider that every gateway has. Clones share it.
#[derive(Debug, Clone)]
pub struct Local {
    store: Store,
    keys: Arc<Keyring>,
}

impl Local {
    /// Over the store and the keys that it does not hold.
    #[must_use]
    pub fn new(store: Store, keys: Arc<Keyring>) -> Self {
        Self { store, keys }
    }

    /// Seals a value as the target's secret: a new one, or the next version of the one that `former` names.
    pub(super) async fn put(
        &self,
        tx: &mut Tx,
        tenant: &TenantId,
        target: TargetId,
        former: Option<&SecretRef>,
        value: &SecretValue,
        now_us: i64,
    ) -> Result<SecretRef, PutError> {
        let known = former.and_then(SecretRef::in_store);
        let (id, version) = match known {
            None => (Ulid::generate(), 1),
            Some((id, referred)) => {
                // Also above what a row that was put back claims, and above what the target took last.
                let there = rows::find(tx, tenant, id).await?.map_or(0, |row| row.version);
                let next = referred.max(there).checked_add(1).ok_or(PutError::CannotSeal)?;
                (id, next)
            }
        };
        let place = Place { tenant, id, version };
        let envelope = envelope::seal(place, value, &self.keys.wrapping_key(tenant))
            .map_err(|_| PutError::CannotSeal)?;
        rows::forget_target(tx, tenant, target).await?;
        rows::insert(tx, place, target, &envelope, now_us).await?;
        Ok(SecretRef::local(id, version))
    }

    /// Removes whatever secret the target has here.
    pub(super) async fn remove(
        &self,
        tx: &mut Tx,
        tenant: &TenantId,
        target: TargetId,
    ) -> Result<(), StoreError> {
        rows::forget_target(tx, tenant, target).await
    }

    async fn read(&self, tenant: &TenantId, id: Ulid) -> Result<Option<Stored>, StoreError> {
        let owner = tenant.clone();
        self.store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { rows::find(tx, &owner, id).await })
            })
            .await
    }

    fn open(&self, tenant: &TenantId, id: Ulid, least: i64, row: &Stored) -> Result<SecretValue, Fault> {
        if row.format != FORMAT {
            return Err(Fault::Unfit);
        }
        let key = self
            .keys
            .wrapping_key_by_id(&row.envelope.kek_id, tenant)
            .ok_or(Fault::KeyMissing)?;
        let place = Place {
            tenant,
            id,
            version: row.version,
        };
        let value = envelope::open(place, &row.envelope, &key).map_err(|_| Fault::Damaged)?;
        // Only now is the version known to be the one it was sealed with.
        if row.version < least {
            return Err(Fault::RolledBack);
        }
        Ok(value)
    }
}

impl SecretProvider for Local {
    fn fetch<'a>(
        &'a self,
        tenant: &'a TenantId,
        reference: &'a SecretRef,
    ) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        Box::pin(async move {
            let (id, least) = reference.in_store().ok_or(Fault::NotConfigured)?;
            let row = self.read(tenant, id).await.map_err(fault)?;
            self.open(tenant, id, least, &row.ok_or(Fault::NotFound)?)
        })
    }
}

fn fault(error: StoreError) -> Fault {
    match error {
        StoreError::Timeout => Fault::Timeout,
        StoreError::Overloaded => Fault::Overloaded,
        // A column that holds what no gateway wrote.
        StoreError::Column(_) => Fault::Damaged,
        error => {
            tracing::warn!(%error, "a sealed secret cannot be read");
            Fault::Unavailable
        }
    }
}
