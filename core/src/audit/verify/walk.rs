//! Verifies a tenant's chain in a store, page by page.
//!
//! Rows are never changed once they are written, so pages need no common snapshot; the head is read in the one of the
//! last page. The gateway may go on writing meanwhile.

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use super::{ChainVerifier, Verdict, Verification};
use crate::{
    audit::rows::{Page, stored},
    keys::Keyring,
    store::{Store, StoreError},
};

/// Recomputes the whole chain of `tenant`.
///
/// # Errors
/// When the store does not answer. What the store holds is never an error, only a verdict.
pub async fn verify(
    store: &Store,
    keys: &Arc<Keyring>,
    tenant: &TenantId,
) -> Result<Verification, StoreError> {
    let mut verifier = ChainVerifier::new(tenant.clone(), Arc::clone(keys));
    let mut after = i64::MIN;
    loop {
        let page = match Page::read(store, tenant, after).await {
            Ok(page) => page,
            Err(StoreError::Column(_)) => return Ok(unreadable(verifier)),
            Err(error) => return Err(error),
        };
        for row in &page.rows {
            verifier.push(&stored(row));
        }
        match page.next() {
            Some(last) => after = last,
            None => return Ok(verifier.finish(page.head)),
        }
    }
}

// The store cannot even carry such a value, so nothing is known of the rows from here on.
fn unreadable(verifier: ChainVerifier) -> Verification {
    let seq = verifier.tip.seq + 1;
    Verification {
        verdict: Verdict::Edited,
        rows: verifier.rows,
        seq,
        message: format!(
            "a row at or after place {seq} holds a value of a type that the gateway never writes"
        ),
        head: verifier.tip,
    }
}

#[cfg(test)]
mod tests;
