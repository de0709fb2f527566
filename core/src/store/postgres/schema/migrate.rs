//! Bringing a database up to date: roles, ground, and every migration that was not applied, each in one transaction.

use std::time::Duration;

use tokio::time::{Instant, timeout};
use tokio_postgres::Client;
use tokio_util::task::TaskTracker;

use super::{
    super::{connect::Connector, settings},
    history, password, roles,
};
use crate::{
    clock::Clock,
    store::{DatabaseUrl, StoreError, migrations::Migration},
};

/// Whoever else migrates is waited for, and a migration may rewrite a large table.
const WITHIN: Duration = Duration::from_secs(3_600);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// `toolmigr`, as a number. Held by whoever migrates a database.
const ONE_MIGRATOR: i64 = 0x746f_6f6c_6d69_6772;

const REMEMBER: &str =
    "insert into toolgate.schema_migration (version, name, checksum, applied_us) values ($1, $2, $3, $4)";

/// What was done to a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// Roles that were missing.
    pub roles: Vec<String>,
    /// Migrations that were applied: number and name.
    pub applied: Vec<(i64, String)>,
    /// The version the schema has now.
    pub version: i64,
    /// Whether the password of the gateway's role was set.
    pub password_set: bool,
}

/// Makes what is missing in a database, as an admin of its server or as `toolgate_migrator`.
///
/// # Errors
/// When the server is not to be had, the role may not do it, or a migration fails; then what was applied before it
/// stays.
pub async fn migrate(url: &DatabaseUrl, app_password: Option<&str>) -> Result<Migrated, StoreError> {
    let tasks = TaskTracker::new();
    let connector = Connector::new(url.clone(), tasks, WITHIN)?.unguarded();
    let until = Instant::now() + CONNECT_WITHIN;
    let line = connector.open(until).await?;
    settings::check_version(&line, until).await?;
    timeout(WITHIN, bring_up(&line, app_password))
        .await
        .map_err(|_| StoreError::Timeout)?
}

async fn bring_up(client: &Client, app_password: Option<&str>) -> Result<Migrated, StoreError> {
    let locked = client
        .query_one("select pg_catalog.pg_advisory_lock($1)", &[&ONE_MIGRATOR])
        .await;
    locked.map_err(|failure| roles::unfit("the lock of migrations cannot be taken", &failure))?;
    let roles = roles::lay_ground(client).await?;
    let mut applied = Vec::new();
    for step in history::missing(client).await? {
        if let Err(error) = apply(client, step).await {
            // The session ends with this connection; what failed is rolled back either way.
            let _ = client.batch_execute("rollback").await;
            return Err(error);
        }
        applied.push((step.version, step.name.to_owned()));
    }
    if let Some(password) = app_password {
        password::set(client, password).await?;
    }
    Ok(Migrated {
        roles,
        applied,
        version: history::newest(),
        password_set: app_password.is_some(),
    })
}

async fn apply(client: &Client, step: &Migration) -> Result<(), StoreError> {
    let failed = |failure: tokio_postgres::Error| {
        roles::unfit(
            &format!("migration {} ({}) failed", step.version, step.name),
            &failure,
        )
    };
    client.batch_execute("begin").await.map_err(failed)?;
    client.batch_execute(step.sql).await.map_err(failed)?;
    client
        .batch_execute("reset role; set local role toolgate_owner")
        .await
        .map_err(failed)?;
    client
        .execute(
            REMEMBER,
            &[
                &step.version,
                &step.name,
                &step.checksum(),
                &Clock::system().wall_us(),
            ],
        )
        .await
        .map_err(failed)?;
    client.batch_execute("commit").await.map_err(failed)
}
