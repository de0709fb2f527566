//! Opening connections: file rights, settings, migrations.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path};

use rusqlite::{Connection, OpenFlags};

use super::statement::{SqliteTx, engine_error};
use crate::{
    clock::Clock,
    store::{StoreError, migrations},
};

/// Settings of every connection. `recursive_triggers` lets the append-only guard see a REPLACE as the delete it is.
const EVERY: &str = "pragma busy_timeout = 1500; pragma foreign_keys = on; pragma recursive_triggers = on;
    pragma trusted_schema = off; pragma temp_store = memory; pragma mmap_size = 0; pragma cache_size = -4096;";

/// Settings of the write connection. `synchronous = full` makes every commit durable before it is answered. A write-
/// ahead log of 32 MiB between checkpoints keeps them rare: with rows of many tenants their page writes would otherwise
/// cost more than the commits.
const WRITER: &str = "pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 8192;
    pragma journal_size_limit = 67108864;";

const READER: &str = "pragma query_only = on;";

const HISTORY: &str = "create table if not exists schema_migration (
    version bigint not null primary key, name text not null, checksum text not null, applied_us bigint not null)";

/// The write connection, with the schema up to date.
pub(super) fn open_writer(path: &Path) -> Result<SqliteTx, StoreError> {
    make_private(path)?;
    let mut connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    settle_in(&connection, WRITER).map_err(|error| at_opening(path, error))?;
    assert_durable(&connection, path).map_err(|error| at_opening(path, error))?;
    migrate(&mut connection).map_err(|error| at_opening(path, error))?;
    Ok(SqliteTx::new(connection))
}

/// One read connection. It wants the right to write beside the gateway's writer, so that either may be the first to
/// map the write-ahead log; a reader of its own must not have it.
pub(super) fn open_reader(path: &Path, read_only: bool) -> Result<SqliteTx, StoreError> {
    let access = if read_only {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    } else {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    };
    let connection = open(path, access)?;
    settle_in(&connection, READER).map_err(|error| at_opening(path, error))?;
    Ok(SqliteTx::new(connection))
}

/// Makes the file readable by its owner only, before SQLite makes it with the process' umask. Its side files get the
/// rights of the file.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path);
    made.map(drop).map_err(|error| cannot_open(path, &error))
}

fn open(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(|error| cannot_open(path, &error))
}

fn settle_in(connection: &Connection, own: &str) -> Result<(), StoreError> {
    // `journal_mode` answers with a row, which `execute_batch` skips.
    connection
        .execute_batch(EVERY)
        .and_then(|()| connection.execute_batch(own))
        .map_err(engine_error)?;
    connection.set_prepared_statement_cache_capacity(256);
    Ok(())
}

/// Settings can be refused in silence, by a file system without shared memory for one. Better not to start then.
fn assert_durable(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let mode: String = connection
        .query_row("pragma journal_mode", [], |row| row.get(0))
        .map_err(engine_error)?;
    let level: i64 = connection
        .query_row("pragma synchronous", [], |row| row.get(0))
        .map_err(engine_error)?;
    if mode == "wal" && level == 2 {
        return Ok(());
    }
    let reason = format!(
        "journal mode {mode} and synchronous {level}; a write-ahead log and full synchronisation are needed"
    );
    Err(StoreError::Open {
        path: path.display().to_string(),
        reason,
    })
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    connection.execute_batch(HISTORY).map_err(engine_error)?;
    let tx = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(engine_error)?;
    let applied = {
        let mut statement = tx
            .prepare("select version, checksum from schema_migration order by version")
            .map_err(engine_error)?;
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(engine_error)?;
        rows.collect::<Result<Vec<(i64, String)>, _>>()
            .map_err(engine_error)?
    };
    for step in migrations::pending(migrations::SQLITE, &applied)? {
        tx.execute_batch(step.sql).map_err(engine_error)?;
        tx.execute(
            "insert into schema_migration (version, name, checksum, applied_us) values (?1, ?2, ?3, ?4)",
            (
                step.version,
                step.name,
                step.checksum(),
                Clock::system().wall_us(),
            ),
        )
        .map_err(engine_error)?;
    }
    tx.commit().map_err(engine_error)
}

// While a file is opened, the engine's failures are about this file and want its path.
fn at_opening(path: &Path, error: StoreError) -> StoreError {
    let path = path.display().to_string();
    match error {
        StoreError::Corrupt(reason) => StoreError::Damaged { path, reason },
        StoreError::Engine(reason) => StoreError::Open { path, reason },
        other => other,
    }
}

fn cannot_open(path: &Path, error: &dyn std::error::Error) -> StoreError {
    StoreError::Open {
        path: path.display().to_string(),
        reason: error.to_string(),
    }
}
