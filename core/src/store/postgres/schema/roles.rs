//! The roles, and what is theirs before any table: made where they are missing, never changed where they are there.
//!
//! Roles belong to the whole server, so two databases may be set up at once and stand in each other's way; then it is
//! tried again.

use std::time::Duration;

use tokio_postgres::{Client, Error, error::SqlState};

use super::super::failure::connect_reason;
use crate::store::StoreError;

/// Roles and schemas: an administrator's work, done once for a database.
const BOOTSTRAP: &str = include_str!("../../../../migrations/postgres/bootstrap.sql");

const ROLES: [&str; 5] = [
    "toolgate_owner",
    "toolgate_audit_owner",
    "toolgate_migrator",
    "toolgate_app",
    "toolgate_auditor",
];
const THERE: &str = "select rolname::text from pg_catalog.pg_roles where rolname = any ($1)";
/// Whether this session can migrate as things are. Somebody who may not make roles must not be asked to.
const IS_LAID: &str = "select pg_catalog.to_regnamespace('toolgate') is not null \
    and pg_catalog.to_regnamespace('audit') is not null \
    and pg_catalog.pg_has_role(current_user, 'toolgate_owner', 'SET') \
    and pg_catalog.pg_has_role(current_user, 'toolgate_audit_owner', 'SET')";

/// The history of migrations, which the gateway reads to see whether it fits.
const HISTORY: &str = "set role toolgate_owner;
create table if not exists toolgate.schema_migration (
    version    bigint           not null primary key,
    name       text collate \"C\" not null,
    checksum   text collate \"C\" not null,
    applied_us bigint           not null
);
grant usage on schema toolgate to toolgate_app, toolgate_auditor;
grant select on toolgate.schema_migration to toolgate_app, toolgate_auditor;
reset role";

const TRIES: u32 = 20;
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Makes roles, schemas and the history where they are missing, and tells which roles were.
pub(super) async fn lay_ground(client: &Client) -> Result<Vec<String>, StoreError> {
    let before = there(client).await?;
    let missing: Vec<String> = ROLES
        .iter()
        .filter(|role| !before.iter().any(|there| there == *role))
        .map(ToString::to_string)
        .collect();
    if !missing.is_empty() || !is_laid(client).await? {
        again(client, BOOTSTRAP).await.map_err(|failure| {
            let text = "roles and schemas of the gateway are missing, and this role cannot make them; run this as a \
                        superuser once";
            unfit(text, &failure)
        })?;
    }
    again(client, HISTORY)
        .await
        .map_err(|failure| unfit("the history of migrations cannot be made", &failure))?;
    Ok(missing)
}

async fn there(client: &Client) -> Result<Vec<String>, StoreError> {
    let roles: Vec<&str> = ROLES.to_vec();
    let rows = client.query(THERE, &[&roles]).await;
    rows.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect())
        .map_err(|failure| unfit("the roles cannot be read", &failure))
}

async fn is_laid(client: &Client) -> Result<bool, StoreError> {
    let row = client.query_one(IS_LAID, &[]).await;
    row.and_then(|row| row.try_get(0))
        .map_err(|failure| unfit("the roles cannot be read", &failure))
}

/// Runs statements, which together are one transaction, until no other session changes the same rows of the catalogue
/// at the same time.
async fn again(client: &Client, sql: &str) -> Result<(), Error> {
    let mut tries = 1;
    loop {
        match client.batch_execute(sql).await {
            Err(failure) if tries < TRIES && is_crossed(&failure) => {
                tokio::time::sleep(AGAIN_AFTER * tries).await;
                tries += 1;
            }
            ended => return ended,
        }
    }
}

/// Another session changed the same row of the catalogue (`tuple concurrently updated`), or made it first.
fn is_crossed(failure: &Error) -> bool {
    [Some(&SqlState::INTERNAL_ERROR), Some(&SqlState::UNIQUE_VIOLATION)].contains(&failure.code())
}

/// A step that failed, with the server's own words.
pub(super) fn unfit(what: &str, failure: &Error) -> StoreError {
    StoreError::Unfit(format!("{what}: {}", connect_reason(failure)))
}
