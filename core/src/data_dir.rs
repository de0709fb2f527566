//! The data directory: one process owns it at a time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Another process owns it.
    #[error("{dir} is in use by process {pid}; talk to that one, or stop it first")]
    InUse {
        /// The directory.
        dir: String,
        /// Who holds the lock; `unknown` where it does not say.
        pid: String,
    },
    /// It cannot be read or written.
    #[error("{path} cannot be used: {source}")]
    Io {
        /// Which file or directory.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// A data directory owned by this process until it is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the directory if it is not there and takes its lock.
    pub(crate) fn own(path: &Path) -> Result<Self, DataDirError> {
        let failed = |path: &Path| {
            let path = path.display().to_string();
            move |source| DataDirError::Io { path, source }
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(failed(path))?;
        let lock_path = path.join("lock");
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path)
            .map_err(failed(&lock_path))?;
        if rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut pid = String::new();
            lock.read_to_string(&mut pid).map_err(failed(&lock_path))?;
            let pid = if pid.trim().is_empty() {
                "unknown".to_owned()
            } else {
                pid.trim().to_owned()
            };
            return Err(DataDirError::InUse {
                dir: path.display().to_string(),
                pid,
            });
        }
        lock.set_len(0)
            .and_then(|()| lock.rewind())
            .map_err(failed(&lock_path))?;
        write!(lock, "{}", std::process::id()).map_err(failed(&lock_path))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_owner_at_a_time_and_says_who() {
        let dir = tempfile::tempdir().unwrap();
        let owner = DataDir::own(dir.path()).unwrap();
        let refused = DataDir::own(dir.path()).unwrap_err().to_string();
        assert!(
            refused.contains(&format!("process {}", std::process::id())),
            "{refused}"
        );
        drop(owner);
        DataDir::own(dir.path()).unwrap();
    }
}
