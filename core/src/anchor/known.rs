//! What the keeper knows of the rounds before: the newest checkpoint of every tenant, and the last root.
//!
//! After a start it is read back from the newest files. Each file begins with every tenant, so the newest one that ends a
//! round holds them all.

use std::{collections::BTreeMap, io, path::Path};

use super::{
    checkpoint::Checkpoint,
    files::{Line, Lines, day_files},
    key::PublicKeys,
    line::Digest,
    root::Root,
};

/// What was signed last.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    pub(super) newest: BTreeMap<String, Checkpoint>,
    pub(super) last_root: Option<Root>,
    /// Lines of a round whose root a crash took away: the next root is over them as well.
    pub(super) since_root: Digest,
}

impl Known {
    /// Reads it back. What is not genuine is passed over, and told: it vouches for nothing.
    pub(super) fn read(folder: &Path, keys: &PublicKeys) -> io::Result<Self> {
        let names = day_files(folder)?;
        let mut known = Self::default();
        for from in (0..names.len()).rev() {
            known = Self::of_files(folder, names[from..].to_vec())?;
            // The first round of the file was not ended, so that it need not hold everybody.
            if known.last_root.is_some() {
                break;
            }
        }
        known.keep_genuine(keys);
        Ok(known)
    }

    /// The number of the first round in the files, without looking at more of them than needed.
    pub(super) fn first_round(folder: &Path) -> io::Result<Option<i64>> {
        let mut lines = Lines::of(folder)?;
        while let Some(found) = lines.next()? {
            if let Ok(Line::Root(root)) = Line::parse(found.text()) {
                return Ok(Some(root.number));
            }
        }
        Ok(None)
    }

    /// Number and link of the last round.
    pub(super) fn last_round(&self) -> Option<(i64, [u8; 32])> {
        self.last_root.as_ref().map(|root| (root.number, root.link()))
    }

    fn of_files(folder: &Path, names: Vec<String>) -> io::Result<Self> {
        let mut known = Self::default();
        let mut lines = Lines::of_files(folder, names)?;
        while let Some(found) = lines.next()? {
            let read = Line::parse(found.text());
            match &read {
                Ok(Line::Root(_)) => known.since_root = Digest::default(),
                Ok(Line::Key | Line::Checkpoint(_)) | Err(_) => known.since_root.add(found.bytes),
            }
            match read {
                Ok(Line::Key) => {}
                Ok(Line::Checkpoint(checkpoint)) => {
                    known.newest.insert(checkpoint.tenant_id.clone(), checkpoint);
                }
                Ok(Line::Root(root)) => known.last_root = Some(root),
                Err(fault) => {
                    tracing::error!(file = found.place.file, line = found.place.line, %fault, "a checkpoint file was changed; run `toolgate audit verify`");
                }
            }
        }
        Ok(known)
    }

    fn keep_genuine(&mut self, keys: &PublicKeys) {
        self.newest.retain(|tenant, checkpoint| {
            let fault = checkpoint.check(keys).err();
            if let Some(fault) = &fault {
                tracing::error!(tenant, %fault, "the newest checkpoint of a tenant is not genuine; run `toolgate audit verify`");
            }
            fault.is_none()
        });
        if let Some(fault) = self.last_root.as_ref().and_then(|root| root.check(keys).err()) {
            tracing::error!(%fault, "the last root in the checkpoint files is not genuine; run `toolgate audit verify`");
            self.last_root = None;
        }
    }
}
