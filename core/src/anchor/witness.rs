//! The checkpoints of one tenant, from a folder of checkpoint files, in the order of their places.
//!
//! Read as a stream, in constant memory, each checked. Knows no store: a verifier holds them against the chain it
//! walks. The folder may be the gateway's own or one that a sink filled elsewhere.

mod survey;

use std::{io, path::Path, sync::Arc};

pub use self::survey::{Survey, survey, survey_of};
use super::{
    checkpoint::{Checkpoint, CheckpointFault},
    files::{Line, Lines},
    key::PublicKeys,
};
pub use crate::anchor::files::Place;

/// Why checkpoint files cannot be believed, or read.
#[derive(Debug, thiserror::Error)]
pub enum WitnessFault {
    /// The file system said no.
    #[error("the checkpoint files cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A line is not what the gateway signed.
    #[error("line {line} of {file}: {fault}", line = .place.line, file = .place.file)]
    Line {
        /// Which.
        place: Place,
        /// What is wrong with it.
        fault: CheckpointFault,
    },
    /// A later checkpoint is of an earlier place: the gateway signs none.
    #[error("line {line} of {file}: the checkpoint of row {seq} comes after that of row {after}",
        line = .place.line, file = .place.file)]
    Disorder {
        /// Where.
        place: Place,
        /// Its row.
        seq: i64,
        /// The row of the one before.
        after: i64,
    },
    /// Lines between two roots are not those that were signed.
    #[error("line {line} of {file}: lines of round {number} were changed, added or removed",
        line = .place.line, file = .place.file)]
    Round {
        /// Where its root is.
        place: Place,
        /// Which round.
        number: i64,
    },
    /// A folder of files does not begin as every file does.
    #[error("line {line} of {file}: a file begins with the public keys, and this one does not: its first lines were cut",
        line = .place.line, file = .place.file)]
    Beginning {
        /// Where.
        place: Place,
    },
    /// A root does not follow the one before it.
    #[error("line {line} of {file}: round {number} does not follow round {after}: rounds were removed, or two records were mixed",
        line = .place.line, file = .place.file)]
    Rounds {
        /// Where.
        place: Place,
        /// Which round.
        number: i64,
        /// The round before it in the files.
        after: i64,
    },
}

/// The checkpoints of one tenant. Ends at the first fault.
#[derive(Debug)]
pub struct Witness {
    lines: Lines,
    keys: Arc<PublicKeys>,
    tenant_id: String,
    mark: String,
    last: Option<Checkpoint>,
    ended: bool,
}

impl Witness {
    /// Opens the checkpoint files in `folder`.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn open(folder: &Path, keys: Arc<PublicKeys>, tenant_id: &str) -> io::Result<Self> {
        Ok(Self {
            lines: Lines::of(folder)?,
            keys,
            tenant_id: tenant_id.to_owned(),
            // A tenant's id needs no escaping in JSON, and a line has one spelling.
            mark: format!("\"tenantId\":\"{tenant_id}\""),
            last: None,
            ended: false,
        })
    }

    /// The next checkpoint that says something new: of a later place than the one before, or of the same place and another
    /// hash. Two genuine ones that differ are two chains, and no chain holds to both.
    ///
    /// # Errors
    /// When a checkpoint is not genuine or contradicts another one.
    pub fn next_place(&mut self) -> Result<Option<Checkpoint>, WitnessFault> {
        while let Some(found) = self.lines.next()? {
            let text = found.text();
            if !text.contains(&self.mark) {
                continue;
            }
            let wrong = |fault| WitnessFault::Line {
                place: found.place.clone(),
                fault,
            };
            let Line::Checkpoint(read) = Line::parse(text).map_err(wrong)? else {
                continue;
            };
            if read.tenant_id != self.tenant_id {
                continue;
            }
            read.check(&self.keys).map_err(wrong)?;
            match &self.last {
                // Said again, as of an idle tenant, or as a sink that was told twice has it.
                Some(last) if last.seq == read.seq && last.hash == read.hash => {}
                Some(last) if last.seq > read.seq && last.time_us >= read.time_us => {}
                Some(last) if last.seq > read.seq => {
                    return Err(WitnessFault::Disorder {
                        place: found.place,
                        seq: read.seq,
                        after: last.seq,
                    });
                }
                _ => {
                    self.last = Some(read.clone());
                    return Ok(Some(read));
                }
            }
        }
        Ok(None)
    }
}

impl Iterator for Witness {
    type Item = Result<Checkpoint, WitnessFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_place().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

#[cfg(test)]
mod tests;
