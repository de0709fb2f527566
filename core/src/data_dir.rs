//! The data directory: one process owns it at a time.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::store::StorePlace;

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
    /// Its keys and checkpoints belong to a record elsewhere.
    #[error(
        "{dir} holds the keys and checkpoints of a record {here}, and {asked} was asked for; {next}, or name another data directory"
    )]
    OtherRecord {
        /// The directory.
        dir: String,
        /// Where its record lies.
        here: &'static str,
        /// Where it was looked for.
        asked: &'static str,
        /// What to do.
        next: &'static str,
    },
    /// Its keys and checkpoints belong to a record that is not the empty database at hand.
    #[error(
        "{dir} holds the keys and checkpoints of a record on PostgreSQL, and this database is empty; name the database of that record, or another data directory"
    )]
    Empty {
        /// The directory.
        dir: String,
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

/// Says where the record lies whose keys are in the directory.
const RECORD: &str = "record";

/// Where a record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the directory itself.
    Embedded,
    /// On a PostgreSQL server.
    Postgres,
}

impl Place {
    fn of(store: &StorePlace) -> Self {
        match store {
            StorePlace::File(_) => Self::Embedded,
            StorePlace::Server(_) => Self::Postgres,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Embedded => "sqlite",
            Self::Postgres => "postgresql",
        }
    }

    fn told(self) -> &'static str {
        match self {
            Self::Embedded => "in its own toolgate.db",
            Self::Postgres => "on PostgreSQL",
        }
    }
}

/// A data directory owned by this process until it is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    lock: File,
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
            lock,
        })
    }

    /// Makes sure that the record whose keys lie here is where it is looked for.
    pub(crate) fn expect_record(&self, asked: &StorePlace) -> Result<(), DataDirError> {
        let asked = Place::of(asked);
        let Some(here) = self.noted()?.filter(|here| *here != asked) else {
            return Ok(());
        };
        Err(DataDirError::OtherRecord {
            dir: self.path.display().to_string(),
            here: here.told(),
            asked: asked.told(),
            next: match here {
                Place::Postgres => "set `database_url` (TOOLGATE_DATABASE_URL)",
                Place::Embedded => "leave `database_url` out",
            },
        })
    }

    /// Refuses a database without a row where the record of this directory has some. An embedded one that is gone is
    /// begun anew: its file was in this very directory.
    pub(crate) fn expect_rows(&self, are_there: bool) -> Result<(), DataDirError> {
        if are_there || self.noted()? != Some(Place::Postgres) {
            return Ok(());
        }
        let dir = self.path.display().to_string();
        Err(DataDirError::Empty { dir })
    }

    fn noted(&self) -> Result<Option<Place>, DataDirError> {
        let path = self.path.join(RECORD);
        match fs::read_to_string(&path) {
            Ok(told) if told.trim() == Place::Postgres.name() => Ok(Some(Place::Postgres)),
            Ok(_) => Ok(Some(Place::Embedded)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => {
                let path = path.display().to_string();
                Err(DataDirError::Io { path, source })
            }
        }
    }

    /// Notes where the record lies whose keys are here.
    pub(crate) fn note_record(&self, place: &StorePlace) -> Result<(), DataDirError> {
        let path = self.path.join(RECORD);
        fs::write(&path, format!("{}\n", Place::of(place).name())).map_err(|source| DataDirError::Io {
            path: path.display().to_string(),
            source,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DataDir {
    /// Gives the lock up by name. Closing the file is not enough: a program that this process happens to start just now
    /// holds it open as well until it has become another program, and the next owner would find it taken.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.lock, rustix::fs::FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_whose_record_lies_elsewhere_is_refused() {
        let file = StorePlace::File("toolgate.db".into());
        let url = "postgres://toolgate_app@localhost/toolgate".parse().unwrap();
        let server = StorePlace::Server(Box::new(url));
        let dir = tempfile::tempdir().unwrap();
        let owner = DataDir::own(dir.path()).unwrap();
        owner.expect_record(&file).unwrap();
        owner.expect_record(&server).unwrap();
        owner.expect_rows(false).unwrap();

        owner.note_record(&server).unwrap();

        owner.expect_record(&server).unwrap();
        owner.expect_rows(true).unwrap();
        let refused = owner.expect_record(&file).unwrap_err().to_string();
        assert!(refused.contains("TOOLGATE_DATABASE_URL"), "{refused}");
        let refused = owner.expect_rows(false).unwrap_err().to_string();
        assert!(refused.contains("this database is empty"), "{refused}");
    }

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

    #[test]
    fn a_directory_that_was_given_up_is_free_whoever_has_its_lock_open_still() {
        let dir = tempfile::tempdir().unwrap();
        let owner = DataDir::own(dir.path()).unwrap();
        // What a child has between its birth and its becoming another program.
        let inherited = owner.lock.try_clone().unwrap();
        drop(owner);
        DataDir::own(dir.path()).unwrap();
        drop(inherited);
    }
}
