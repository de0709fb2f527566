//! Holds the rows of a chain against its checkpoints, in one walk.

use crate::anchor::{Checkpoint, WitnessFault};

/// What checkpoints say against a chain.
#[derive(Debug)]
pub enum Finding {
    /// The row at this place is another one than when the gateway signed it: the chain was rewritten.
    Fork {
        /// The checkpoint.
        checkpoint: Checkpoint,
    },
    /// The chain ends before a place that the gateway signed: its tail was cut off, or an older copy put back.
    Truncated {
        /// The checkpoint.
        checkpoint: Checkpoint,
        /// The last row that is there; 0 where there is none.
        last: i64,
    },
    /// A checkpoint itself is not genuine, or contradicts another.
    Unbelievable(WitnessFault),
}

/// A walk along a chain beside its checkpoints.
#[derive(Debug)]
pub struct Comparison<W> {
    witness: W,
    next: Option<Checkpoint>,
    /// The newest checkpoint that was met.
    met: Option<Checkpoint>,
    last: i64,
    finding: Option<Finding>,
}

impl<W: Iterator<Item = Result<Checkpoint, WitnessFault>>> Comparison<W> {
    /// Begins before the first row.
    pub fn new(witness: W) -> Self {
        let mut comparison = Self {
            witness,
            next: None,
            met: None,
            last: 0,
            finding: None,
        };
        comparison.advance();
        comparison
    }

    /// The next row that is there. Rows come in the order of their places.
    pub fn row(&mut self, seq: i64, hash: &[u8]) {
        self.last = self.last.max(seq);
        while let Some(checkpoint) = self.next.take_if(|next| next.seq <= seq) {
            // A place that was passed over has no row; the walk itself tells of a gap, and here the row differs.
            let same = checkpoint.seq == seq && checkpoint.hash == hash;
            if same || checkpoint.seq == 0 {
                self.met = Some(checkpoint);
                self.advance();
            } else {
                self.finding = Some(Finding::Fork { checkpoint });
            }
        }
    }

    /// The newest checkpoint that the chain was found to hold to, so far.
    #[must_use]
    pub fn met(&self) -> Option<&Checkpoint> {
        self.met.as_ref()
    }

    /// What the checkpoints say against the chain, once all rows were shown; the first fault.
    ///
    /// # Errors
    /// The first thing they say against it; without one, the newest checkpoint that it holds to is given.
    pub fn finish(mut self) -> Result<Option<Checkpoint>, Finding> {
        if let Some(finding) = self.finding {
            return Err(finding);
        }
        while let Some(checkpoint) = self.next.take() {
            if checkpoint.seq > self.last {
                return Err(Finding::Truncated {
                    checkpoint,
                    last: self.last,
                });
            }
            self.advance();
        }
        match self.finding {
            Some(finding) => Err(finding),
            None => Ok(self.met),
        }
    }

    fn advance(&mut self) {
        if self.finding.is_some() {
            return;
        }
        match self.witness.next() {
            Some(Ok(checkpoint)) => self.next = Some(checkpoint),
            Some(Err(fault)) => self.finding = Some(Finding::Unbelievable(fault)),
            None => {}
        }
    }
}
