//! Chunks of what a relay sends, joined within bounds.
//!
//! Answers have a budget of their own, so that whatever else a relay sends never costs the answer of a call. What was
//! refused in the middle is passed over to its end: its tail must not be taken for a whole.

use std::collections::HashSet;

use toolgate_contract::frame::{Assembler, Frame, FrameId, Kind, MAX_IN_FLIGHT};

use super::Break;

/// Bytes of answers that are being joined.
const ANSWER_BUDGET: usize = 32 * 1024 * 1024;
/// Bytes of notifications and of the relay's own requests that are being joined.
const REST_BUDGET: usize = 16 * 1024 * 1024;

/// Everything of one connection that is not whole yet.
pub(super) struct Joining {
    pub(super) answers: Assembler,
    rest: Assembler,
    skipped: HashSet<(Kind, FrameId)>,
}

/// What came of a frame.
pub(super) enum Joined {
    /// The whole one.
    Whole(Frame),
    /// More follows, or nobody wants it.
    Part,
    /// Over the limits; what follows of it is passed over.
    TooLarge,
}

impl Joining {
    pub(super) fn new() -> Self {
        Self {
            answers: Assembler::new(ANSWER_BUDGET),
            rest: Assembler::new(REST_BUDGET),
            skipped: HashSet::new(),
        }
    }

    /// Takes a frame of a notification or of a request.
    pub(super) fn join(&mut self, frame: Frame) -> Result<Joined, Break> {
        let (kind, id, more) = (frame.header.kind, frame.header.id.clone(), frame.header.more);
        let key = (kind, id);
        if self.skipped.contains(&key) {
            if !more {
                self.skipped.remove(&key);
            }
            return Ok(Joined::Part);
        }
        match self.rest.push(frame) {
            Ok(Some(whole)) => Ok(Joined::Whole(whole)),
            Ok(None) => Ok(Joined::Part),
            Err(_) => {
                self.skip(key.0, &key.1, more)?;
                Ok(Joined::TooLarge)
            }
        }
    }

    /// Whether a chunk of this was seen, and its last one not yet.
    pub(super) fn is_open(&self, kind: Kind, id: &FrameId) -> bool {
        self.rest.is_open(kind, id) || self.skipped.contains(&(kind, id.clone()))
    }

    /// Forgets what there is of it, and passes over the rest where `more` follows.
    pub(super) fn skip(&mut self, kind: Kind, id: &FrameId, more: bool) -> Result<(), Break> {
        self.rest.forget(kind, id);
        if !more {
            return Ok(());
        }
        if self.skipped.len() >= MAX_IN_FLIGHT {
            return Err(Break::Protocol);
        }
        self.skipped.insert((kind, id.clone()));
        Ok(())
    }
}
