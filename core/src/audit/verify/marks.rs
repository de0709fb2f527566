//! What somebody outside the store says about places of a chain, held against the rows as they pass.

use std::{fmt, iter::Peekable};

use super::{
    Head, Verdict,
    verdict::{Judgement, Verification},
};

/// The hash that a place must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The place; 0 for the beginning of a chain without rows.
    pub seq: i64,
    /// The hash of its row.
    pub hash: [u8; 32],
    /// Who says so, such as `the checkpoint of 2026-01-31T09:30:00Z`.
    pub by: String,
}

/// What a witness says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Testimony {
    /// It can be relied on.
    Sound(Mark),
    /// It cannot: the sentence tells why. Its place counts only if it can be read.
    Unsound {
        /// The place it claims, or 0.
        seq: i64,
        /// What is wrong with it.
        why: String,
    },
}

/// The testimonies about one chain in the order in which they were given; places never go down.
pub type Testimonies = Box<dyn Iterator<Item = Testimony> + Send>;

/// Testimonies, and how far they were heard.
pub(super) struct Marks {
    rest: Peekable<Testimonies>,
    /// Places up to here are not looked at.
    start: i64,
    heard: i64,
    last: i64,
}

impl Marks {
    pub(super) fn none() -> Self {
        Self::new(Box::new(std::iter::empty()), 0)
    }

    pub(super) fn new(testimonies: Testimonies, start: i64) -> Self {
        Self {
            rest: testimonies.peekable(),
            start,
            heard: 0,
            last: 0,
        }
    }

    /// Holds what is said about the place of `tip`, the last sound row, against it.
    pub(super) fn hold_against(&mut self, tip: &Head) -> Option<Judgement> {
        loop {
            match self.rest.peek()? {
                Testimony::Unsound { seq, why } => return Some(unsound(*seq, tip, why)),
                Testimony::Sound(mark) if mark.seq > tip.seq => return None,
                Testimony::Sound(mark) if mark.seq < self.start => {}
                Testimony::Sound(mark) => {
                    let differs = differs(mark, tip);
                    if differs.is_some() {
                        return differs;
                    }
                    self.heard += 1;
                    self.last = mark.seq;
                }
            }
            self.rest.next();
        }
    }

    /// Asks what is said about places after `tip`, the end of the chain.
    pub(super) fn beyond(&mut self, tip: &Head) -> Option<Judgement> {
        let mark = match self.rest.peek()? {
            Testimony::Unsound { seq, why } => return Some(unsound(*seq, tip, why)),
            Testimony::Sound(mark) => mark,
        };
        let (by, seq, last) = (&mark.by, mark.seq, tip.seq);
        Some(if last == 0 {
            let text = format!("the whole chain is gone: {by} vouches for {seq} rows");
            (Verdict::ChainMissing, 1, text)
        } else {
            let text = format!("{by} vouches for row {seq}, but the last row is {last}: the end was cut off");
            (Verdict::Truncated, last + 1, text)
        })
    }

    /// Writes down what was heard.
    pub(super) fn tell(&self, verification: &mut Verification) {
        (verification.checkpoints, verification.covered) = (self.heard, self.last);
    }
}

fn differs(mark: &Mark, tip: &Head) -> Option<Judgement> {
    let (by, seq) = (&mark.by, mark.seq);
    if seq < tip.seq {
        let text = format!("{by} vouches for place {seq} after others went on to {}", tip.seq);
        return Some((Verdict::Fork, seq, text));
    }
    (mark.hash != tip.hash).then(|| {
        let text = format!("row {seq} has another hash than the one that {by} vouches for");
        (Verdict::Fork, seq, text)
    })
}

fn unsound(seq: i64, tip: &Head, why: &str) -> Judgement {
    (Verdict::BadSignature, seq.max(tip.seq), why.to_owned())
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Marks({} heard, the last of place {})", self.heard, self.last)
    }
}
