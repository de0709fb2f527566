//! How a store is opened.

mod database_url;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub(in crate::store) use self::database_url::SslMode;
pub use self::database_url::{DatabaseUrl, DatabaseUrlError};

/// How to open a store.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Where the data stands.
    pub place: StorePlace,
    /// How long a caller waits at a door before it is told that the store is unavailable.
    pub deadline: Duration,
    /// Connections for readers; of PostgreSQL those of writers too, the journal's not counted.
    pub connections: usize,
    /// Jobs that may wait in front of a connection; one more is refused as overload.
    pub queue: usize,
    /// Whether the store is opened as it is and never written: no migration, no writer.
    pub read_only: bool,
    /// How long a gateway waits for another one to leave its PostgreSQL. A predecessor that was killed stays until the
    /// server notices.
    pub take_over_within: Duration,
    /// Whether a PostgreSQL that may lose what it has committed is refused. Only tests do without.
    pub insist_on_durability: bool,
    /// Takes the tenant's predicate away from every statement, to see what still stands.
    #[cfg(test)]
    pub(crate) strip_tenants: bool,
}

/// Where the data of a store stands.
#[derive(Debug, Clone)]
pub enum StorePlace {
    /// In a file of the embedded store; made with mode 0600 where it is missing.
    File(PathBuf),
    /// In a database of a PostgreSQL server.
    Server(Box<DatabaseUrl>),
}

impl StoreConfig {
    /// The embedded store at `path`, with the usual figures.
    #[must_use]
    pub fn sqlite(path: impl AsRef<Path>) -> Self {
        Self {
            place: StorePlace::File(path.as_ref().to_owned()),
            deadline: Duration::from_secs(2),
            connections: 2,
            queue: 1024,
            read_only: false,
            take_over_within: Duration::from_secs(10),
            insist_on_durability: true,
            #[cfg(test)]
            strip_tenants: false,
        }
    }

    /// The embedded store at `path` as it is, for a reader beside or after the gateway. Doors for writing are closed,
    /// and a page of rows may take a busy machine longer than a caller of the gateway would wait.
    #[must_use]
    pub fn sqlite_read_only(path: impl AsRef<Path>) -> Self {
        Self::sqlite(path).for_a_reader()
    }

    /// A database of a PostgreSQL server, with the usual figures.
    #[must_use]
    pub fn postgres(url: DatabaseUrl) -> Self {
        Self {
            place: StorePlace::Server(Box::new(url)),
            // Answers of the gateway must be given within 2 s.
            deadline: Duration::from_millis(1_500),
            connections: 10,
            queue: 256,
            read_only: false,
            take_over_within: Duration::from_secs(10),
            insist_on_durability: true,
            #[cfg(test)]
            strip_tenants: false,
        }
    }

    /// A database of a PostgreSQL server for a reader beside or after the gateway. Nothing is written, and the role may
    /// be that of an auditor.
    #[must_use]
    pub fn postgres_read_only(url: DatabaseUrl) -> Self {
        Self::postgres(url).for_a_reader()
    }

    fn for_a_reader(self) -> Self {
        Self {
            deadline: Duration::from_secs(30),
            connections: 1,
            read_only: true,
            ..self
        }
    }
}
