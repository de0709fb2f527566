//! `db`: the PostgreSQL database, as an admin of its server sees it.

mod check;
mod migrate;

use toolgate_core::store::{DatabaseUrl, StoreError};

use super::Context;
use crate::{
    args::DbCommand,
    config::Reader,
    failure::{Exit, Failure},
};

/// Runs the command.
pub(super) async fn run(context: &Context, command: DbCommand) -> Result<Exit, Failure> {
    let url = context.config(Reader::Database)?.database_url.ok_or_else(|| {
        Failure::usage("no database is named").next(
            "give `--database-url postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or set TOOLGATE_DATABASE_URL",
        )
    })?;
    match command {
        DbCommand::Migrate { app_password_file } => {
            migrate::run(context.output, &url, app_password_file.as_deref()).await
        }
        DbCommand::Check => check::run(context.output, &url).await,
    }
}

fn failed(url: &DatabaseUrl, error: &StoreError) -> Failure {
    match error {
        StoreError::Connect { .. } => Failure::new(Exit::Unreachable, error.to_string())
            .next("see that the server runs and lets this role in"),
        StoreError::Timeout | StoreError::Lost => Failure::new(Exit::Unreachable, format!("{url}: {error}"))
            .next("see that the server runs and answers"),
        other => Failure::failed(other.to_string()),
    }
}
