//! Verifies a tenant's chain row by row, in constant memory, and tells the first fault by what was done to the record.
//!
//! Every row is checked by itself (hash, MAC, index columns), by its place and by its link. At the first row that does
//! not pass, its evidence is kept; the rows after it are only searched for what belongs at that place, because that
//! tells a swapped row from an edited one and an inserted row from both. Pure: reads no store and no clock.
//! What no chain can show by itself: a tail cut off together with a head set back to fit, or rows sealed anew by whoever
//! holds the key. Testimonies from outside the store ([`Testimony`]) show that; they are held against the rows as these
//! pass.

mod evidence;
mod marks;
mod suspicion;
mod verdict;
mod walk;

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use self::{
    evidence::{Evidence, Seals},
    marks::Marks,
    suspicion::Suspicion,
    verdict::Judgement,
};
pub use self::{
    marks::{Mark, Testimonies, Testimony},
    verdict::{Verdict, Verification},
    walk::{Far, Telling, Walk, sealed_bytes_at, verify},
};
use super::{Head, chain::row_hash};
use crate::keys::{Keyring, RecordKeys};

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
    /// Whether what stands beside the bytes repeats them.
    pub columns_agree: bool,
}

/// Takes the rows of one tenant's chain in the order of their places.
#[derive(Debug)]
pub struct ChainVerifier {
    tenant: TenantId,
    seals: Seals,
    marks: Marks,
    /// Who tells the end of the chain.
    teller: &'static str,
    /// The last row before those to look at.
    start: Head,
    /// The last row that passed.
    tip: Head,
    rows: i64,
    last_seq: i64,
    suspicion: Option<Suspicion>,
    /// What a testimony showed. Nothing after it is looked at.
    refuted: Option<Judgement>,
}

impl ChainVerifier {
    /// Begins before the first row.
    #[must_use]
    pub fn new(tenant: TenantId, keys: Arc<Keyring>) -> Self {
        Self::with_keys(tenant, Some(keys))
    }

    /// Begins before the first row of an export; without keys no MAC is looked at.
    #[must_use]
    pub fn of_export(tenant: TenantId, keys: Option<Arc<dyn RecordKeys>>) -> Self {
        Self {
            teller: "the manifest",
            ..Self::with_keys(tenant, keys)
        }
    }

    fn with_keys(tenant: TenantId, keys: Option<Arc<dyn RecordKeys>>) -> Self {
        let start = Head::genesis(&tenant);
        Self {
            seals: Seals::new(tenant.clone(), keys),
            tenant,
            marks: Marks::none(),
            teller: "the head",
            start,
            tip: start,
            rows: 0,
            last_seq: 0,
            suspicion: None,
            refuted: None,
        }
    }

    /// Begins after this row instead, which is taken as it is.
    #[must_use]
    pub fn starting_after(mut self, row: Head) -> Self {
        (self.start, self.tip) = (row, row);
        self
    }

    /// Hears these testimonies, from the place on where the verification begins.
    #[must_use]
    pub fn hearing(mut self, testimonies: Testimonies) -> Self {
        self.marks = Marks::new(testimonies, self.start.seq);
        self
    }

    /// Checks the next row.
    pub fn push(&mut self, row: &StoredRow<'_>) {
        if self.rows == 0 {
            self.refuted = self.marks.hold_against(&self.tip);
        }
        self.rows += 1;
        self.last_seq = self.last_seq.max(row.seq);
        if self.refuted.is_some() {
            return;
        }
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.look_at(row, &mut self.seals);
            return;
        }
        self.suspicion = self.suspect(row);
    }

    fn suspect(&mut self, row: &StoredRow<'_>) -> Option<Suspicion> {
        let place = self.tip.seq + 1;
        if row.seq == place {
            let evidence = Evidence::gather(row, &self.tip.hash, &mut self.seals);
            let Some(hash) = evidence.hash_of_sound_row() else {
                return Some(Suspicion::of_row(place, self.tip.hash, row, evidence));
            };
            self.tip = Head { seq: place, hash };
            self.refuted = self.marks.hold_against(&self.tip);
            return None;
        }
        let mut suspicion = Suspicion::of_place(place, self.tip.hash, row);
        // A row that stands elsewhere than expected may itself be the one that was looked for.
        suspicion.look_at(row, &mut self.seals);
        Some(suspicion)
    }

    /// Says that what comes next cannot be read as a row at all.
    pub fn unreadable(&mut self, why: &str) {
        if self.refuted.is_none() && self.suspicion.is_none() {
            self.refuted = Some((Verdict::Edited, self.tip.seq + 1, why.to_owned()));
        }
    }

    /// The verdict, once all rows were pushed. `head` is the stored head, read together with the last rows, or what the
    /// manifest of an export says of its end.
    #[must_use]
    pub fn finish(mut self, head: Option<Head>) -> Verification {
        let reach = self.last_seq.max(head.map_or(0, |head| head.seq));
        if self.rows == 0 && self.refuted.is_none() {
            self.refuted = self.marks.hold_against(&self.tip);
        }
        let (verdict, seq, message) = match (self.refuted.take(), self.suspicion.take()) {
            (Some(refuted), _) => refuted,
            (None, Some(suspicion)) => suspicion.judge(head, &self.tip, reach, &self.seals),
            (None, None) => self.judge_end(head),
        };
        let mut verification = Verification {
            verdict,
            rows: self.rows,
            seq,
            message,
            head: self.tip,
            from: self.start.seq + 1,
            checkpoints: 0,
            covered: 0,
        };
        self.marks.tell(&mut verification);
        verification
    }

    fn judge_end(&mut self, head: Option<Head>) -> Judgement {
        let judgement = verdict::of_head(&self.tenant, &self.tip, head, self.teller);
        if judgement.0 != Verdict::Intact {
            return judgement;
        }
        self.marks.beyond(&self.tip).unwrap_or(judgement)
    }
}

#[cfg(test)]
mod tests;
