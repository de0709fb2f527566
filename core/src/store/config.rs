//! How a store is opened.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// How to open the embedded store.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// The database file; made with mode 0600 where it is missing.
    pub path: PathBuf,
    /// How long a caller waits at a door before it is told that the store is unavailable.
    pub deadline: Duration,
    /// Read connections.
    pub readers: usize,
    /// Jobs that may wait in front of a connection; one more is refused as overload.
    pub queue: usize,
    /// Whether the file is opened as it is and never written: no migration, no writer.
    pub read_only: bool,
}

impl StoreConfig {
    /// The embedded store at `path`, with the usual figures.
    #[must_use]
    pub fn sqlite(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            deadline: Duration::from_secs(2),
            readers: 2,
            queue: 1024,
            read_only: false,
        }
    }

    /// The embedded store at `path` as it is, for a reader beside or after the gateway. Doors for writing are closed,
    /// and a page of rows may take a busy machine longer than a caller of the gateway would wait.
    #[must_use]
    pub fn sqlite_read_only(path: impl AsRef<Path>) -> Self {
        Self {
            deadline: Duration::from_secs(30),
            readers: 1,
            read_only: true,
            ..Self::sqlite(path)
        }
    }
}
