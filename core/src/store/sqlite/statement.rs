//! A connection with its transaction: begin, statements, commit.

use std::{collections::HashMap, fmt, ops::ControlFlow};

use rusqlite::{CachedStatement, Connection, ErrorCode, ffi, types::ValueRef};

use super::dialect::rewrite;
use crate::store::{
    LentRow, Param, Row, StoreError, Value,
    scope::{Scope, names_its_tenant},
};

/// Whether a transaction may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Mode {
    /// One snapshot, nothing else.
    Read,
    /// The write lock from the start, so that nothing fails half-way for want of it.
    Write,
}

/// A transaction of the embedded store; owns its connection.
pub struct SqliteTx {
    connection: Connection,
    scope: Scope,
    known: HashMap<usize, Known>,
}

/// What is remembered of a statement: its own dialect and whether it names its tenant. The key is the address of its
/// text, which is static.
struct Known {
    length: usize,
    text: String,
    named: bool,
}

impl SqliteTx {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            connection,
            scope: Scope::Global,
            known: HashMap::new(),
        }
    }

    pub(in crate::store) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(super) fn enter(&mut self, scope: Scope) {
        self.scope = scope;
    }

    pub(in crate::store) fn execute(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64, StoreError> {
        let mut statement = self.prepare(sql, params, true)?;
        let touched = statement.raw_execute().map_err(engine_error)?;
        Ok(touched as u64)
    }

    pub(in crate::store) fn execute_unscoped(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64, StoreError> {
        let mut statement = self.prepare(sql, params, false)?;
        let touched = statement.raw_execute().map_err(engine_error)?;
        Ok(touched as u64)
    }

    pub(in crate::store) fn query(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.prepare(sql, params, true)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(engine_error)? {
            let values: Result<_, _> = (0..columns).map(|column| value(row, column)).collect();
            out.push(Row::new(values?));
        }
        Ok(out)
    }

    pub(in crate::store) fn lend_rows(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        take: &mut dyn FnMut(&LentRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut statement = self.prepare(sql, params, true)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(engine_error)? {
            if take(&LentRow::sqlite(row)).is_break() {
                break;
            }
        }
        Ok(())
    }

    pub(in crate::store) fn begin(&mut self, mode: Mode) -> Result<(), StoreError> {
        self.control(match mode {
            Mode::Read => "begin",
            Mode::Write => "begin immediate",
        })
    }

    pub(in crate::store) fn commit(&mut self) -> Result<(), StoreError> {
        self.control("commit")
    }

    /// Ends the transaction without its changes; does nothing where the engine has ended it already.
    pub(in crate::store) fn rollback(&mut self) {
        if self.is_open()
            && let Err(error) = self.control("rollback")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }

    pub(in crate::store) fn is_open(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn control(&mut self, sql: &'static str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(engine_error)?;
        statement.raw_execute().map(drop).map_err(engine_error)
    }

    fn prepare(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        scoped: bool,
    ) -> Result<CachedStatement<'_>, StoreError> {
        let known = self
            .known
            .entry(sql.as_ptr() as usize)
            .or_insert_with(|| Known::read(sql));
        if known.length != sql.len() {
            *known = Known::read(sql);
        }
        if scoped {
            self.scope.admit(sql, known.named, params)?;
        }
        let mut statement = self
            .connection
            .prepare_cached(&known.text)
            .map_err(engine_error)?;
        for (index, param) in params.iter().enumerate() {
            bind(&mut statement, index + 1, param).map_err(engine_error)?;
        }
        Ok(statement)
    }
}

impl Known {
    fn read(sql: &'static str) -> Self {
        Self {
            length: sql.len(),
            text: rewrite(sql),
            named: names_its_tenant(sql),
        }
    }
}

fn bind(statement: &mut CachedStatement<'_>, index: usize, param: &Param<'_>) -> rusqlite::Result<()> {
    match param {
        Param::Null => statement.raw_bind_parameter(index, rusqlite::types::Null),
        Param::Int(value) => statement.raw_bind_parameter(index, value),
        Param::Text(value) => statement.raw_bind_parameter(index, value),
        Param::Owned(value) => statement.raw_bind_parameter(index, value),
        Param::Blob(value) => statement.raw_bind_parameter(index, value),
    }
}

fn value(row: &rusqlite::Row<'_>, column: usize) -> Result<Value, StoreError> {
    Ok(match row.get_ref(column).map_err(engine_error)? {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Text(bytes) => {
            Value::Text(String::from_utf8(bytes.to_vec()).map_err(|_| StoreError::Column(column))?)
        }
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
        ValueRef::Real(_) => return Err(StoreError::Column(column)),
    })
}

/// What the engine's error means to whoever asked.
pub(super) fn engine_error(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    let rusqlite::Error::SqliteFailure(failure, _) = &error else {
        return StoreError::Statement(text);
    };
    match failure.extended_code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            StoreError::Duplicate
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => StoreError::Reference,
        ffi::SQLITE_CONSTRAINT_TRIGGER => StoreError::Guard(text),
        _ => match failure.code {
            ErrorCode::ConstraintViolation => StoreError::Constraint(text),
            ErrorCode::ReadOnly => StoreError::ReadOnly,
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => StoreError::Corrupt(text),
            // SQLite's plain ERROR: a statement it cannot make sense of.
            ErrorCode::Unknown => StoreError::Statement(text),
            _ => StoreError::Engine(text),
        },
    }
}

impl fmt::Debug for SqliteTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTx")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
