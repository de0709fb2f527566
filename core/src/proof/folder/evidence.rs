//! The signed part of an export: checkpoints of its rows, and the public keys that they are checked with.

use std::path::Path;

use super::{FolderError, Listed, Segment, failed};
use crate::{
    anchor::{Checkpoint, PublicKeys},
    proof::manifest::{CHECKPOINTS, KEYS},
};

const DRAFT: &str = "new";

/// Takes the lines that a gateway sends about an export.
#[derive(Debug)]
pub(super) struct Evidence {
    keys: String,
    checkpoints: Segment,
    /// Place of the newest checkpoint, and the record that it names.
    newest: Option<(i64, String)>,
}

impl Evidence {
    pub(super) fn begin(dir: &Path) -> Result<Self, FolderError> {
        let draft = dir.join(CHECKPOINTS).with_extension(DRAFT);
        // What an earlier run left.
        match std::fs::remove_file(&draft) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&draft, error)),
            _ => {}
        }
        Ok(Self {
            keys: String::new(),
            checkpoints: Segment::create(&draft)?,
            newest: None,
        })
    }

    /// Takes a line with its end.
    pub(super) fn take(&mut self, line: &[u8]) -> Result<(), FolderError> {
        let text = std::str::from_utf8(line)
            .unwrap_or_default()
            .trim_end_matches('\n');
        if text.starts_with("{\"type\":\"key\"") {
            self.keys.push_str(text);
            self.keys.push('\n');
            return Ok(());
        }
        let checkpoint = Checkpoint::parse(text).map_err(|fault| FolderError::Evidence(fault.to_string()))?;
        self.checkpoints.write(line)?;
        self.newest = Some((checkpoint.seq, checkpoint.origin));
        Ok(())
    }

    /// Place of the newest checkpoint.
    pub(super) fn covers(&self) -> Option<i64> {
        self.newest.as_ref().map(|(seq, _)| *seq)
    }

    /// Puts both files in place; gives the record's name as well.
    pub(super) fn finish(self, dir: &Path) -> Result<(String, [Listed; 2]), FolderError> {
        let keys = PublicKeys::parse(&self.keys).map_err(|fault| FolderError::Evidence(fault.to_string()))?;
        let list = dir.join(KEYS).with_extension(DRAFT);
        match std::fs::remove_file(&list) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(&list, error)),
            _ => {}
        }
        let mut written = Segment::create(&list)?;
        written.write(self.keys.as_bytes())?;
        let listed = [
            in_place(dir, self.checkpoints, CHECKPOINTS)?,
            in_place(dir, written, KEYS)?,
        ];
        let origin = self
            .newest
            .map_or_else(|| keys.origin().to_owned(), |(_, origin)| origin);
        Ok((origin, listed))
    }
}

fn in_place(dir: &Path, draft: Segment, name: &str) -> Result<Listed, FolderError> {
    let (from, to) = (dir.join(name).with_extension(DRAFT), dir.join(name));
    let listed = draft.close()?;
    std::fs::rename(&from, &to).map_err(|error| failed(&to, error))?;
    Ok(Listed {
        name: name.to_owned(),
        ..listed
    })
}
