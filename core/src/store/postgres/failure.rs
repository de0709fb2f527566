//! What the server's errors mean to whoever asked, by SQLSTATE. Values of rows never get into a text.

use tokio_postgres::{
    Error,
    error::{DbError, Severity, SqlState},
};

use super::values::BindError;
use crate::store::StoreError;

/// How a connection stands after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// As before: the server was not asked at all.
    Same,
    /// The server refused a statement; the transaction, where there is one, is lost.
    Rollback,
    /// The connection is of no more use.
    Gone,
}

/// How a connection stands after this failure.
pub(super) fn after(failure: &Error) -> After {
    let Some(error) = failure.as_db_error() else {
        return if is_of_binding(failure) {
            After::Same
        } else {
            After::Gone
        };
    };
    let ended = matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic));
    // A statement that was prepared before a migration, or by a session that a pooler swapped.
    let stale = [
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::INVALID_SQL_STATEMENT_NAME,
    ]
    .contains(error.code());
    if ended || stale || error.code().code().starts_with("08") {
        After::Gone
    } else {
        After::Rollback
    }
}

/// What this failure means to whoever asked.
pub(super) fn store_error(failure: &Error) -> StoreError {
    match failure.as_db_error() {
        Some(error) => of_server(error),
        None if is_of_binding(failure) => {
            StoreError::Constraint("a value is of another type than its column".into())
        }
        None => StoreError::Lost,
    }
}

fn of_server(error: &DbError) -> StoreError {
    let code = error.code();
    if matches!(error.parsed_severity(), Some(Severity::Fatal | Severity::Panic)) {
        return StoreError::Lost;
    }
    match code.code() {
        "23505" => StoreError::Duplicate,
        "23503" => StoreError::Reference,
        "25006" => StoreError::ReadOnly,
        "42501" => StoreError::Guard(error.message().to_owned()),
        // Cancelled by its own deadline, or a lock was not had in time.
        "57014" | "55P03" => StoreError::Timeout,
        "40001" | "40P01" => {
            StoreError::Engine("two transactions stood in each other's way; try again".into())
        }
        "53100" => StoreError::Engine("the disk of the database server is full".into()),
        "53200" => StoreError::Engine("the database server is out of memory".into()),
        "53300" => StoreError::Engine("the database server takes no more connections".into()),
        other => match other.get(..2) {
            Some("22" | "23") => StoreError::Constraint(place_of(error)),
            Some("25" | "26" | "42") => StoreError::Statement(error.message().to_owned()),
            Some("08" | "57") => StoreError::Lost,
            Some("XX") if other != "XX000" => StoreError::Corrupt(error.message().to_owned()),
            _ => StoreError::Engine(format!("{} ({other})", error.message())),
        },
    }
}

/// Names what refused a value, without the value.
fn place_of(error: &DbError) -> String {
    let code = error.code().code();
    match (error.constraint(), error.table(), error.column()) {
        (Some(constraint), _, _) => format!("constraint {constraint} ({code})"),
        (None, Some(table), Some(column)) => format!("column {column} of {table} ({code})"),
        _ => format!("SQLSTATE {code}"),
    }
}

fn is_of_binding(failure: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(failure);
    while let Some(error) = cause {
        if error.is::<BindError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Why no connection was had, for the operator. Names the cause, never the password.
pub(super) fn connect_reason(failure: &Error) -> String {
    if let Some(error) = failure.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    let mut text = failure.to_string();
    let mut cause = std::error::Error::source(failure);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
