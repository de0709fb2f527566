//! Opens files of a folder that somebody else may have filled: plain files only, never through a link, never too much.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The file system said no.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a folder, a pipe or the like.
    #[error("{path} is no plain file", path = .path.display())]
    NotPlain {
        /// What it should be.
        path: PathBuf,
    },
    /// It is longer than any that belongs there.
    #[error("{path} is over {limit} bytes", path = .path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// What it may have.
        limit: u64,
    },
}

impl FileFault {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// Whether there is no such file.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Opens `path` for reading.
pub(super) fn open(path: &Path) -> Result<File, FileFault> {
    // A pipe would keep the opener waiting for ever without NONBLOCK.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| FileFault::io(path, error))?;
    let metadata = file.metadata().map_err(|error| FileFault::io(path, error))?;
    if metadata.is_file() {
        Ok(file)
    } else {
        Err(FileFault::NotPlain {
            path: path.to_owned(),
        })
    }
}

/// The whole of a small file.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileFault> {
    let mut content = Vec::new();
    open(path)?
        .take(limit + 1)
        .read_to_end(&mut content)
        .map_err(|error| FileFault::io(path, error))?;
    if content.len() as u64 > limit {
        return Err(FileFault::TooLong {
            path: path.to_owned(),
            limit,
        });
    }
    Ok(content)
}
