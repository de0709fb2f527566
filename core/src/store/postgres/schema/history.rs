//! Which migrations were applied, as the gateway and its admin read it.

use tokio::time::{Instant, timeout_at};
use tokio_postgres::{Client, Error, error::SqlState};

use super::super::{failure::store_error, line::Line};
use crate::store::{
    DatabaseUrl, StoreError,
    migrations::{Migration, POSTGRES, pending},
};

const APPLIED: &str = "select version, checksum from toolgate.schema_migration order by version";

/// Refuses a database that lacks a migration, or has one that this build does not know.
pub(in super::super) async fn refuse_behind(
    line: &Line,
    url: &DatabaseUrl,
    until: Instant,
) -> Result<(), StoreError> {
    let Ok(applied) = timeout_at(until, applied(line)).await else {
        return Err(StoreError::Timeout);
    };
    let applied = applied?;
    if pending(POSTGRES, &applied)?.is_empty() {
        return Ok(());
    }
    Err(StoreError::Behind {
        found: applied.last().map_or(0, |(version, _)| *version),
        known: newest(),
        command_url: url.for_role("ADMIN", None).to_string(),
    })
}

/// What is still to be applied.
pub(super) async fn missing(client: &Client) -> Result<Vec<&'static Migration>, StoreError> {
    pending(POSTGRES, &applied(client).await?)
}

/// The version of this build.
pub(super) fn newest() -> i64 {
    POSTGRES.iter().map(|step| step.version).max().unwrap_or(0)
}

/// Nothing, where there is no history yet.
async fn applied(client: &Client) -> Result<Vec<(i64, String)>, StoreError> {
    match client.query(APPLIED, &[]).await {
        Ok(rows) => rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
            .collect::<Result<_, Error>>()
            .map_err(|failure| store_error(&failure)),
        Err(failure) if is_absent(&failure) => Ok(Vec::new()),
        Err(failure) if failure.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Err(StoreError::Unfit(
            "this role may not read the schema `toolgate`; connect as toolgate_app".into(),
        )),
        Err(failure) => Err(store_error(&failure)),
    }
}

fn is_absent(failure: &Error) -> bool {
    [
        Some(&SqlState::UNDEFINED_TABLE),
        Some(&SqlState::INVALID_SCHEMA_NAME),
    ]
    .contains(&failure.code())
}
