//! What stands in a gateway's store, looked at from beside it.

use std::{path::PathBuf, sync::Arc};

use rusqlite::{Connection, OpenFlags, types::ValueRef};

use crate::Postgres;

/// Where a gateway keeps its record.
#[derive(Debug, Clone)]
pub enum Store {
    /// In a file of its data directory.
    Sqlite(PathBuf),
    /// On a server.
    Postgres(Arc<Postgres>),
}

impl Store {
    /// The first column of each row of a query, as text; null and bytes are empty texts.
    ///
    /// # Errors
    /// Whatever the store says.
    pub async fn column(&self, query: &str) -> Result<Vec<String>, String> {
        match self {
            Self::Sqlite(path) => column(path, query).map_err(|error| error.to_string()),
            Self::Postgres(postgres) => {
                let query = format!("set search_path = toolgate, audit; {query}");
                postgres.database().column(&query).await
            }
        }
    }

    /// The number that a query asks for.
    ///
    /// # Errors
    /// Whatever the store says.
    pub async fn count(&self, query: &str) -> Result<i64, String> {
        let first = self.column(query).await?.into_iter().next();
        first
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("no number: {query}"))
    }

    /// The server.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn postgres(&self) -> &Postgres {
        match self {
            Self::Postgres(postgres) => postgres,
            Self::Sqlite(path) => panic!("{} is a file, no server", path.display()),
        }
    }
}

fn column(path: &PathBuf, query: &str) -> rusqlite::Result<Vec<String>> {
    let store = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = store.prepare(query)?;
    let rows = statement.query_map([], |row| {
        Ok(match row.get_ref(0)? {
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => String::new(),
        })
    })?;
    rows.collect()
}
