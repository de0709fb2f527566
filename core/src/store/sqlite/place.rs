//! Where the open file stands. A file that is removed under its reader can still be written, and all of it is lost.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::StoreError;

/// A path and the file that stood there when it was opened.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    file: Option<(u64, u64)>,
}

impl Place {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            file: identity(path),
        }
    }

    /// Refuses when another file or none stands there now.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.file.is_some() && identity(&self.path) != self.file {
            return Err(StoreError::Displaced {
                path: self.path.display().to_string(),
            });
        }
        Ok(())
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
