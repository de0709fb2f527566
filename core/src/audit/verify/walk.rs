//! Verifies a tenant's chain in a store: while one batch of rows is hashed, the next is read.
//!
//! Rows are never changed once they are written, so batches need no common snapshot; the head is read in the one of the
//! last batch. The gateway may go on writing meanwhile. Two batches are all that is held, however long the chain is.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_contract::ids::TenantId;

use super::{ChainVerifier, Verification};
use crate::{
    audit::{Head, list, rows::Batch, verify::Testimonies},
    keys::Keyring,
    store::{Store, StoreError},
};

/// How far a verification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Far {
    /// Rows that were looked at.
    pub rows: i64,
    /// How many there were to look at when it began.
    pub of: i64,
}

/// Where it is told how far a verification is: nothing until it has begun.
pub type Telling = watch::Sender<Option<Far>>;

/// A verification of one chain in a store, before it begins.
#[derive(Debug)]
pub struct Walk {
    verifier: ChainVerifier,
    after: i64,
    telling: Option<Telling>,
}

impl Walk {
    /// Goes through the whole chain of `tenant`.
    #[must_use]
    pub fn whole(tenant: &TenantId, keys: &Arc<Keyring>) -> Self {
        Self {
            verifier: ChainVerifier::new(tenant.clone(), Arc::clone(keys)),
            after: i64::MIN,
            telling: None,
        }
    }

    /// Begins after this row, which was found intact before.
    #[must_use]
    pub fn starting_after(self, row: Head) -> Self {
        Self {
            verifier: self.verifier.starting_after(row),
            after: row.seq,
            ..self
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

    /// Tells how far it is, where somebody wants to know.
    #[must_use]
    pub fn telling(self, telling: Option<Telling>) -> Self {
        Self { telling, ..self }
    }

    /// Goes.
    ///
    /// # Errors
    /// When the store does not answer. What the store holds is never an error, only a verdict.
    pub async fn run(self, store: &Store, tenant: &TenantId) -> Result<Verification, StoreError> {
        let mut verifier = self.verifier;
        let told = match self.telling {
            None => None,
            Some(telling) => {
                let of = list::newest(store, tenant).await? - self.after.max(0);
                Some((telling, of.max(0)))
            }
        };
        let tell = |rows| {
            if let Some((telling, of)) = &told {
                telling.send_replace(Some(Far { rows, of: *of }));
            }
        };
        tell(0);
        let mut batch = Batch::default().read(store, tenant, self.after).await?;
        let mut spare = Batch::default();
        while let Some(after) = batch.next {
            let (checked, next) = tokio::join!(check(verifier, batch), spare.read(store, tenant, after));
            (verifier, spare) = checked?;
            tell(verifier.rows);
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
    let batch = Batch::one(store, tenant, seq).await?;
    let Some(row) = batch.row(0) else {
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
