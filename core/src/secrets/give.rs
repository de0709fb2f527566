//! Credentials are given and taken away in the transaction of the target's own change, or not at all.

use toolgate_contract::ids::{TargetId, TenantId};

use super::{HashedId, PutError, SecretRef, SecretValue, Secrets};
use crate::store::{StoreError, Tx, params};

const REFERENCE_OF: &str = "select secret from target where tenant_id = $1 and id = $2";
const REFER: &str = "update target set secret = $3 where tenant_id = $1 and id = $2";

/// What an admin gives as the credential of a target.
#[derive(Debug)]
pub enum Credential {
    /// The credential itself, for the gateway to keep.
    Value(SecretValue),
    /// Where it is kept.
    Elsewhere(SecretRef),
}

impl Secrets {
    /// Gives a target its credential, in the transaction of the target's own change: sealed and stored as its next
    /// version, or named where it is kept. What it had before in the gateway's store is gone with the commit. Gives
    /// what the record may say of it.
    ///
    /// # Errors
    /// When there is no such target or the store does not do its part; nothing is stored then.
    pub async fn give(
        &self,
        tx: &mut Tx,
        tenant: &TenantId,
        target: TargetId,
        credential: Credential,
    ) -> Result<HashedId, PutError> {
        let local = &self.0.providers.local;
        let former = reference_of(tx, tenant, target)
            .await?
            .ok_or(PutError::NoTarget)?;
        let reference = match credential {
            Credential::Value(value) => {
                let now_us = self.0.clock.wall_us();
                local
                    .put(tx, tenant, target, former.as_ref(), &value, now_us)
                    .await?
            }
            Credential::Elsewhere(reference) if reference.in_store().is_none() => {
                local.remove(tx, tenant, target).await?;
                reference
            }
            // A reference into the store is made by storing, never given.
            Credential::Elsewhere(_) => return Err(PutError::NotElsewhere),
        };
        tx.execute(REFER, params![tenant, target, reference.stored()])
            .await?;
        Ok(HashedId::of(&self.0.keys, tenant, &reference))
    }

    /// Takes a target's credential away, in the transaction of the target's own change. A target that is removed needs
    /// this not: its secret goes with it.
    ///
    /// # Errors
    /// When the store does not do its part.
    pub async fn take_away(
        &self,
        tx: &mut Tx,
        tenant: &TenantId,
        target: TargetId,
    ) -> Result<(), StoreError> {
        self.0.providers.local.remove(tx, tenant, target).await?;
        tx.execute(REFER, params![tenant, target, None::<&str>])
            .await
            .map(drop)
    }
}

/// `None` where there is no such target, `Some(None)` where it has no secret that could be read.
pub(super) async fn reference_of(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
) -> Result<Option<Option<SecretRef>>, StoreError> {
    let row = tx.query_opt(REFERENCE_OF, params![tenant, target]).await?;
    row.map(|row| Ok(row.opt_text(0)?.and_then(SecretRef::read)))
        .transpose()
}
