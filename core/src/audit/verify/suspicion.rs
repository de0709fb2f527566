//! From the evidence at the first fault, and what the rows after it say, to what was done there.

use super::{
    Head, StoredRow, Verdict,
    evidence::{Evidence, Seal, Seals, as_hash},
    verdict::{Judgement, set_back},
};
use crate::audit::rows::NO_PLACE;

/// How far around its place a moved row's own place is looked for, in rows.
const SEARCH: i64 = 100_000;

/// The first place where something is wrong, and what the rows after it say about that.
#[derive(Debug)]
pub(super) struct Suspicion {
    place: i64,
    /// Hash of the last sound row, which the row of this place names.
    prev: [u8; 32],
    found: Finding,
    /// Where the row that was sealed for this place stands now.
    moved_to: Option<Moved>,
    /// A sealed row names the suspect's hash as the one before it, so that hash is genuine.
    vouched_for: bool,
    /// Rows come after it.
    followed: bool,
}

#[derive(Debug)]
enum Finding {
    /// A row stands at the place and is not sound.
    Row { row: Kept, evidence: Evidence },
    /// The next row stands at this other place.
    Elsewhere(i64),
}

/// What is kept of a row that is not sound.
#[derive(Debug)]
struct Kept {
    prev: Vec<u8>,
    bytes: Vec<u8>,
    hash: Vec<u8>,
    mac: Vec<u8>,
    key_id: String,
}

impl Kept {
    fn seal(&self) -> Seal<'_> {
        Seal {
            key_id: &self.key_id,
            mac: &self.mac,
            hash: &self.hash,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Moved {
    to: i64,
    /// Its MAC stayed behind: only contents were exchanged.
    without_mac: bool,
}

impl Suspicion {
    pub(super) fn of_row(place: i64, prev: [u8; 32], row: &StoredRow<'_>, evidence: Evidence) -> Self {
        let row = Kept {
            prev: row.prev.to_vec(),
            bytes: row.bytes.to_vec(),
            hash: row.hash.to_vec(),
            mac: row.mac.to_vec(),
            key_id: row.key_id.to_owned(),
        };
        Self::new(place, prev, Finding::Row { row, evidence })
    }

    pub(super) fn of_place(place: i64, prev: [u8; 32], row: &StoredRow<'_>) -> Self {
        Self::new(place, prev, Finding::Elsewhere(row.seq))
    }

    fn new(place: i64, prev: [u8; 32], found: Finding) -> Self {
        Self {
            place,
            prev,
            found,
            moved_to: None,
            vouched_for: false,
            followed: false,
        }
    }

    /// Looks whether a later row is the one that was sealed for this place, or vouches for the one that stands here.
    pub(super) fn look_at(&mut self, later: &StoredRow<'_>, seals: &mut Seals) {
        self.followed = true;
        if let Finding::Row { row, .. } = &self.found
            && later.seq == self.place + 1
            && later.prev == row.hash
        {
            let hash = as_hash(later.prev).map(|prev| seals.hash(later.seq, &prev, later.bytes));
            self.vouched_for = hash.is_some_and(|hash| seals.was_made_for(Seal::of(later), &hash));
        }
        if self.moved_to.is_some() {
            return;
        }
        let hash = seals.hash(self.place, &self.prev, later.bytes);
        let with_mac = seals.was_made_for(Seal::of(later), &hash);
        let without_mac = !with_mac
            && match &self.found {
                Finding::Row { row, .. } => seals.was_made_for(row.seal(), &hash),
                Finding::Elsewhere(_) => false,
            };
        if with_mac || without_mac {
            self.moved_to = Some(Moved {
                to: later.seq,
                without_mac,
            });
        }
    }

    pub(super) fn judge(self, head: Option<Head>, tip: &Head, reach: i64, seals: &Seals) -> Judgement {
        if let Some(head) = head.filter(|head| head.seq < tip.seq) {
            return set_back(&head, tip);
        }
        let beyond_head = head.is_some_and(|head| head.seq == tip.seq);
        let place = self.place;
        let (verdict, message) = match &self.found {
            Finding::Elsewhere(seq) => self.judge_place(*seq, beyond_head),
            Finding::Row { row, evidence } => self.judge_row(row, evidence, beyond_head, reach, seals),
        };
        (verdict, place, message)
    }

    fn judge_place(&self, next: i64, beyond_head: bool) -> (Verdict, String) {
        let place = self.place;
        if let Some(moved) = self.moved_to.filter(|moved| moved.to != place) {
            return (
                Verdict::OutOfOrder,
                format!("row {place} stands at {}", named(moved.to)),
            );
        }
        if self.moved_to.is_some() && next > place {
            // Only where rows are not sorted by their places, as in an export.
            return (
                Verdict::OutOfOrder,
                format!("row {next} comes before row {place}"),
            );
        }
        if next == NO_PLACE {
            let text = format!("what comes after row {} stands at {}", place - 1, named(next));
            return (Verdict::Edited, text);
        }
        if next < 1 || beyond_head {
            let text = format!("a row stands at place {next}, where the gateway has put none");
            return (Verdict::Inserted, text);
        }
        if next < place {
            return (
                Verdict::OutOfOrder,
                format!("a row of place {next} comes after row {}", place - 1),
            );
        }
        let text = match next - place {
            1 => format!("row {place} is missing"),
            _ => format!("rows {place} to {} are missing", next - 1),
        };
        (Verdict::Gap, text)
    }

    fn judge_row(
        &self,
        row: &Kept,
        evidence: &Evidence,
        beyond_head: bool,
        reach: i64,
        seals: &Seals,
    ) -> (Verdict, String) {
        let place = self.place;
        if !evidence.algorithm {
            let text = format!("row {place} names an algorithm that is not accepted");
            return (Verdict::UnknownAlgorithm, text);
        }
        if evidence.belongs_here {
            return self.judge_own_row(evidence);
        }
        let home = if evidence.sealed && !evidence.content {
            self.home(row, reach, seals)
        } else {
            None
        };
        if let Some(moved) = self.moved_to {
            // A sealed row stands here, and not a copy of one that also stands where it belongs.
            let swapped = moved.without_mac || (evidence.sealed && home.is_none_or(|home| home > place));
            return if swapped {
                (
                    Verdict::OutOfOrder,
                    format!("what was sealed as row {place} stands at place {}", moved.to),
                )
            } else {
                let text = format!(
                    "the row at place {place} was put in; row {place} itself stands at {}",
                    moved.to
                );
                (Verdict::Inserted, text)
            };
        }
        if beyond_head {
            let text = format!("a row stands at place {place}, after the end of the chain");
            return (Verdict::Inserted, text);
        }
        self.judge_foreign_row(row, evidence, home)
    }

    // Bytes, place and MAC are as sealed; something beside them is not.
    fn judge_own_row(&self, evidence: &Evidence) -> (Verdict, String) {
        let place = self.place;
        if !evidence.linked {
            let text = format!(
                "row {place} does not name the hash of row {} as the one before it",
                place - 1
            );
            (Verdict::BrokenLink, text)
        } else if !evidence.content {
            (
                Verdict::Edited,
                format!("the stored hash of row {place} is not that of its content"),
            )
        } else {
            (
                Verdict::Edited,
                format!("what stands beside the bytes of row {place} differs from them"),
            )
        }
    }

    // What was sealed for this place is nowhere.
    fn judge_foreign_row(&self, row: &Kept, evidence: &Evidence, home: Option<i64>) -> (Verdict, String) {
        let place = self.place;
        match (evidence.content, evidence.sealed, home) {
            (true, true, _) => {
                let text = format!(
                    "row {place} was sealed after another row {} than the stored one",
                    place - 1
                );
                (Verdict::BrokenLink, text)
            }
            (false, true, Some(home)) if home > place => {
                let text = format!(
                    "at place {place} stands row {home}: rows before it were removed and places renumbered"
                );
                (Verdict::Gap, text)
            }
            (false, true, Some(home)) if !self.followed => (
                Verdict::Inserted,
                format!("a copy of row {home} was put in at place {place}"),
            ),
            (false, true, Some(home)) => (
                Verdict::Edited,
                format!("row {place} was overwritten with a copy of row {home}"),
            ),
            (true, false, _) if !evidence.key => {
                let text = format!(
                    "row {place} names the key {:?}, which is not in the keys folder",
                    row.key_id
                );
                (Verdict::BadMac, text)
            }
            (true, false, _) if self.vouched_for => (
                Verdict::BadMac,
                format!("the MAC of row {place} was edited: the row after it confirms its hash"),
            ),
            (true, false, _) => {
                let text = format!("row {place} was written by someone who does not hold the gateway's key");
                (Verdict::BadMac, text)
            }
            (false, true, None) => (
                Verdict::Edited,
                format!("the content of row {place} is not what was sealed"),
            ),
            (false, false, _) => (
                Verdict::Edited,
                format!("neither content nor MAC of row {place} is what was sealed"),
            ),
        }
    }

    // The place that a sealed row was sealed for, the nearest first.
    fn home(&self, row: &Kept, reach: i64, seals: &Seals) -> Option<i64> {
        let prev = as_hash(&row.prev)?;
        let is_home =
            |place: &i64| *place >= 1 && *place <= reach && row.hash == seals.hash(*place, &prev, &row.bytes);
        (1..=SEARCH.min(reach))
            .flat_map(|distance| [self.place + distance, self.place - distance])
            .find(is_home)
    }
}

fn named(place: i64) -> String {
    match place {
        NO_PLACE => "a place that is no number".into(),
        place => format!("place {place}"),
    }
}
