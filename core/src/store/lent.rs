//! A row lent where it lies: for those who read many and keep little.

use rusqlite::types::ValueRef;

/// One row of an answer, valid for the call it is given to.
#[derive(Debug)]
pub struct LentRow<'r> {
    source: Source<'r>,
}

#[derive(Debug)]
enum Source<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

/// One value of a lent row. Text is not checked for being UTF-8.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'r> {
    /// No value.
    Null,
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(&'r [u8]),
    /// BLOB.
    Blob(&'r [u8]),
    /// A type that nothing here writes, or no such column.
    Foreign,
}

impl<'r> LentRow<'r> {
    pub(super) fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self {
            source: Source::Sqlite(row),
        }
    }

    pub(super) fn postgres(row: &'r tokio_postgres::Row) -> Self {
        Self {
            source: Source::Postgres(row),
        }
    }

    /// The value in a column, by its number from 0.
    #[must_use]
    pub fn cell(&self, column: usize) -> Cell<'_> {
        match self.source {
            Source::Sqlite(row) => match row.get_ref(column) {
                Ok(ValueRef::Null) => Cell::Null,
                Ok(ValueRef::Integer(value)) => Cell::Int(value),
                Ok(ValueRef::Text(bytes)) => Cell::Text(bytes),
                Ok(ValueRef::Blob(bytes)) => Cell::Blob(bytes),
                Ok(ValueRef::Real(_)) | Err(_) => Cell::Foreign,
            },
            Source::Postgres(row) => row.try_get(column).unwrap_or(Cell::Foreign),
        }
    }
}

impl<'r> Cell<'r> {
    /// The integer, where it is one.
    #[must_use]
    pub fn int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Null | Self::Text(_) | Self::Blob(_) | Self::Foreign => None,
        }
    }

    /// The bytes, where they are a BLOB.
    #[must_use]
    pub fn blob(self) -> Option<&'r [u8]> {
        match self {
            Self::Blob(bytes) => Some(bytes),
            Self::Null | Self::Int(_) | Self::Text(_) | Self::Foreign => None,
        }
    }
}
