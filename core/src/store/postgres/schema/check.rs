//! Everything that would keep a gateway from starting on a database, told at once.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::{
    super::{connect::Connector, lint, settings},
    history,
};
use crate::store::{DatabaseUrl, StoreError};

const WITHIN: Duration = Duration::from_secs(10);

/// One check of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// What is wrong and what to do; empty when nothing is.
    pub faults: Vec<String>,
}

/// Looks at version, settings, migrations and rights.
///
/// # Errors
/// When the server is not to be had.
pub async fn check(url: &DatabaseUrl) -> Result<Vec<Check>, StoreError> {
    let connector = Connector::new(url.clone(), TaskTracker::new(), WITHIN)?.unguarded();
    let until = Instant::now() + WITHIN;
    let line = connector.open(until).await?;
    let mut checks = vec![
        of("server", settings::check_version(&line, until).await)?,
        of("durability", settings::check_durability(&line, until).await)?,
        of("migrations", history::refuse_behind(&line, url, until).await)?,
    ];
    // A schema of another version differs anyway.
    let is_current = checks
        .last()
        .is_some_and(|migrations| migrations.faults.is_empty());
    checks.push(Check {
        name: "rights",
        faults: lint::faults(&line, is_current, until).await?,
    });
    Ok(checks)
}

fn of(name: &'static str, checked: Result<(), StoreError>) -> Result<Check, StoreError> {
    let faults = match checked {
        Ok(()) => Vec::new(),
        Err(error @ (StoreError::Timeout | StoreError::Lost | StoreError::Connect { .. })) => {
            return Err(error);
        }
        Err(StoreError::Unfit(fault)) => vec![fault],
        Err(error) => vec![error.to_string()],
    };
    Ok(Check { name, faults })
}
