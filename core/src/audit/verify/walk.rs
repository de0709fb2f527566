//! Verifies a tenant's chain in a store: while one batch of rows is hashed, the next is read.
//!
//! Rows are never changed once they are written, so batches need no common snapshot; the head is read in the one of the
//! last batch. The gateway may go on writing meanwhile. Two batches are all that is held, however long the chain is.

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use super::{ChainVerifier, Verification};
use crate::{
    audit::{Head, rows::Batch, verify::Testimonies},
    keys::Keyring,
    store::{Store, StoreError},
};

/// A verification of one chain in a store, before it begins.
#[derive(Debug)]
pub struct Walk {
    verifier: ChainVerifier,
    after: i64,
}

impl Walk {
    /// Goes through the whole chain of `tenant`.
    #[must_use]
    pub fn whole(tenant: &TenantId, keys: &Arc<Keyring>) -> Self {
        Self {
            verifier: ChainVerifier::new(tenant.clone(), Arc::clone(keys)),
            after: i64::MIN,
        }
    }

    /// Begins after this row, which was found intact before.
    #[must_use]
    pub fn starting_after(self, row: Head) -> Self {
        Self {
            verifier: self.verifier.starting_after(row),
            after: row.seq,
        }
    }

    /// Holds these testimonies against the rows. Those about rows written later than now are not wanted.
    #[must_use]
    pub fn hearing(self, testimonies: Testimonies) -> Self {
        Self {
            verifier: self.verifier.hearing(testimonies),
            ..self
        }
    }

    /// Goes.
    ///
    /// # Errors
    /// When the store does not answer. What the store holds is never an error, only a verdict.
    pub async fn run(self, store: &Store, tenant: &TenantId) -> Result<Verification, StoreError> {
        let mut verifier = self.verifier;
        let mut batch = Batch::default().read(store, tenant, self.after).await?;
        let mut spare = Batch::default();
        while let Some(after) = batch.next {
            let (checked, next) = tokio::join!(check(verifier, batch), spare.read(store, tenant, after));
            (verifier, spare) = checked?;
            batch = next?;
        }
        let head = batch.head;
        let (verifier, _) = check(verifier, batch).await?;
        finish(verifier, head).await
    }
}

/// Recomputes the whole chain of `tenant`.
///
/// # Errors
/// When the store does not answer. What the store holds is never an error, only a verdict.
pub async fn verify(
    store: &Store,
    keys: &Arc<Keyring>,
    tenant: &TenantId,
) -> Result<Verification, StoreError> {
    Walk::whole(tenant, keys).run(store, tenant).await
}

/// The bytes of the row at `seq`, when it is one that the gateway sealed for that place, whatever stands around it.
///
/// # Errors
/// When the store does not answer.
pub async fn sealed_bytes_at(
    store: &Store,
    keys: &Arc<Keyring>,
    tenant: &TenantId,
    seq: i64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let batch = Batch::default()
        .read(store, tenant, seq.saturating_sub(1))
        .await?;
    let Some(row) = batch.row(0).filter(|row| row.seq == seq) else {
        return Ok(None);
    };
    let Ok(prev) = row.prev.try_into() else {
        return Ok(None);
    };
    let mut verifier = ChainVerifier::new(tenant.clone(), Arc::clone(keys)).starting_after(Head {
        seq: seq.saturating_sub(1),
        hash: prev,
    });
    verifier.push(&row);
    Ok((verifier.tip.seq == seq).then(|| row.bytes.to_vec()))
}

// Hashing is work for a processor, and testimonies may lie in files: neither has a place on the callers' threads.
async fn check(mut verifier: ChainVerifier, batch: Batch) -> Result<(ChainVerifier, Batch), StoreError> {
    aside(move || {
        for row in batch.rows() {
            verifier.push(&row);
        }
        (verifier, batch)
    })
    .await
}

async fn finish(verifier: ChainVerifier, head: Option<Head>) -> Result<Verification, StoreError> {
    aside(move || verifier.finish(head)).await
}

async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| StoreError::Panicked)
}

#[cfg(test)]
mod tests;
