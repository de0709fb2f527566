//! A file that grows line by line and knows its digest.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};

use super::{FolderError, Listed, failed};

/// A file that is written.
pub(super) struct Segment {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    context: Context,
}

impl Segment {
    /// Makes the file, which must not be there.
    pub(super) fn create(path: &Path) -> Result<Self, FolderError> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        let file = file.map_err(|error| failed(path, error))?;
        Ok(Self::of(path, file, 0, Context::new(&SHA256)))
    }

    /// Goes on after the first `bytes` of a file that is there, whose digest so far is `context`.
    pub(super) fn go_on(path: &Path, bytes: u64, context: Context) -> Result<Self, FolderError> {
        let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let opened = OpenOptions::new().append(true).custom_flags(nofollow).open(path);
        let cut = opened.and_then(|file| file.set_len(bytes).map(|()| file));
        let file = cut.map_err(|error| failed(path, error))?;
        Ok(Self::of(path, file, bytes, context))
    }

    fn of(path: &Path, file: File, bytes: u64, context: Context) -> Self {
        Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(256 * 1024, file),
            bytes,
            context,
        }
    }

    /// What it has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds `text`.
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), FolderError> {
        self.file
            .write_all(text)
            .map_err(|error| failed(&self.path, error))?;
        self.bytes += text.len() as u64;
        self.context.update(text);
        Ok(())
    }

    /// Makes it durable.
    pub(super) fn close(self) -> Result<Listed, FolderError> {
        let path = self.path;
        let synced = self.file.into_inner().map_err(io::IntoInnerError::into_error);
        synced
            .and_then(|file| file.sync_all())
            .map_err(|error| failed(&path, error))?;
        let name = path.file_name().unwrap_or_default();
        Ok(Listed {
            name: name.to_string_lossy().into_owned(),
            bytes: self.bytes,
            sha256: HEXLOWER.encode(self.context.finish().as_ref()),
        })
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({}, {} bytes)", self.path.display(), self.bytes)
    }
}
