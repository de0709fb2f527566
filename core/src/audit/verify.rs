//! Verifies a tenant's chain row by row, in constant memory, and tells the first fault by what was done to the record.
//!
//! Every row is checked by itself (hash, MAC, index columns), by its place and by its link. At the first row that does
//! not pass, its evidence is kept; the rows after it are only searched for what belongs at that place, because that
//! tells a swapped row from an edited one and an inserted row from both. Pure: reads no store and no clock.
//! What no chain can show by itself: a tail cut off together with a head set back to fit. Checkpoints show that.

mod evidence;
mod suspicion;
mod verdict;
mod walk;

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use self::{
    evidence::{Evidence, Seals},
    suspicion::Suspicion,
};
pub use self::{
    verdict::{Verdict, Verification},
    walk::verify,
};
use super::{Columns, Head, chain::row_hash};
use crate::keys::Keyring;

/// A row as it is stored, which need not be what was sealed.
#[derive(Debug, Clone, Copy)]
pub struct StoredRow<'a> {
    /// Its place.
    pub seq: i64,
    /// What it says the hash of the row before it is.
    pub prev: &'a [u8],
    /// The event.
    pub bytes: &'a [u8],
    /// What it says its hash is.
    pub hash: &'a [u8],
    /// Its MAC.
    pub mac: &'a [u8],
    /// Its algorithm.
    pub algorithm: i64,
    /// The root its key comes from.
    pub key_id: &'a str,
    /// What stands beside the bytes; `None` where there is nothing, as in an export.
    pub columns: Option<Columns<'a>>,
}

/// Takes the rows of one tenant's chain in the order of their places.
#[derive(Debug)]
pub struct ChainVerifier {
    tenant: TenantId,
    seals: Seals,
    /// The last row that passed.
    tip: Head,
    rows: i64,
    last_seq: i64,
    suspicion: Option<Suspicion>,
}

impl ChainVerifier {
    /// Begins before the first row.
    #[must_use]
    pub fn new(tenant: TenantId, keys: Arc<Keyring>) -> Self {
        Self {
            tip: Head::genesis(&tenant),
            seals: Seals::new(tenant.clone(), keys),
            tenant,
            rows: 0,
            last_seq: 0,
            suspicion: None,
        }
    }

    /// Checks the next row.
    pub fn push(&mut self, row: &StoredRow<'_>) {
        self.rows += 1;
        self.last_seq = self.last_seq.max(row.seq);
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.look_at(row, &mut self.seals);
            return;
        }
        let place = self.tip.seq + 1;
        let mut suspicion = if row.seq == place {
            let evidence = Evidence::gather(row, &self.tip.hash, &mut self.seals);
            if let Some(hash) = evidence.hash_of_sound_row() {
                self.tip = Head { seq: place, hash };
                return;
            }
            Suspicion::of_row(place, self.tip.hash, row, evidence)
        } else {
            Suspicion::of_place(place, self.tip.hash, row)
        };
        // A row that stands elsewhere than expected may itself be the one that was looked for.
        if row.seq != place {
            suspicion.look_at(row, &mut self.seals);
        }
        self.suspicion = Some(suspicion);
    }

    /// The verdict, once all rows were pushed. `head` is the stored head, read together with the last rows.
    #[must_use]
    pub fn finish(mut self, head: Option<Head>) -> Verification {
        let reach = self.last_seq.max(head.map_or(0, |head| head.seq));
        let (verdict, seq, message) = match self.suspicion.take() {
            Some(suspicion) => suspicion.judge(head, &self.tip, reach, &self.seals),
            None => verdict::of_head(&self.tenant, &self.tip, head),
        };
        Verification {
            verdict,
            rows: self.rows,
            seq,
            message,
            head: self.tip,
        }
    }
}

#[cfg(test)]
mod tests;
