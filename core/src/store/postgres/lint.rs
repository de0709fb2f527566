//! The rules of the schema (`security.md` §2.2), read from the catalogue of the database at hand. A missing wall shows
//! in no answer, so it is looked for before anything is served.
//!
//! Two looks: the rules know what is dangerous and name what mends it; the comparison with what `db migrate` made knows
//! nothing of danger and lets no other change pass.

mod catalogue;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::Error;

use super::{failure::store_error, line::Line, schema::APP};
use crate::store::StoreError;

const RULES: &str = include_str!("lint/rules.sql");
/// So many faults are told at once.
const TOLD: usize = 20;

/// Refuses a database in which a wall is missing, naming where.
pub(super) async fn refuse_unfit(line: &Line, until: Instant) -> Result<(), StoreError> {
    let roles = [vec![APP.to_owned()], signed_in(line, until).await?].concat();
    let faults = [
        broken_rules(line, &roles, until).await?,
        catalogue::changes(line, &roles, until).await?,
    ]
    .concat();
    if faults.is_empty() {
        return Ok(());
    }
    Err(StoreError::Unfit(faults.join("; ")))
}

/// Every wall that is missing for the gateway's own role, and every change of the schema where it is one of this
/// build: `is_current`.
pub(super) async fn faults(line: &Line, is_current: bool, until: Instant) -> Result<Vec<String>, StoreError> {
    let roles = [APP.to_owned()];
    let mut faults = broken_rules(line, &roles, until).await?;
    if is_current {
        faults.extend(catalogue::changes(line, &roles, until).await?);
    }
    Ok(faults)
}

/// The role of this session, where it is another: it is held to the rules as well, being the gateway's.
async fn signed_in(line: &Line, until: Instant) -> Result<Vec<String>, StoreError> {
    let question = line.query_one("select session_user::text", &[]);
    let row = answered(question, until).await?;
    let own: String = row.try_get(0).map_err(|failure| store_error(&failure))?;
    Ok(if own == APP { Vec::new() } else { vec![own] })
}

async fn broken_rules(line: &Line, roles: &[String], until: Instant) -> Result<Vec<String>, StoreError> {
    let rows = answered(line.query(RULES, &[&roles]), until).await?;
    let mut faults = Vec::new();
    for row in rows.iter().take(TOLD) {
        let (rule, fault): (&str, &str) = match (row.try_get(0), row.try_get(1)) {
            (Ok(rule), Ok(fault)) => (rule, fault),
            _ => return Err(StoreError::Column(0)),
        };
        faults.push(format!("{rule}: {fault}"));
    }
    if rows.len() > TOLD {
        faults.push(format!("{} more", rows.len() - TOLD));
    }
    Ok(faults)
}

async fn answered<T>(
    question: impl Future<Output = Result<T, Error>>,
    until: Instant,
) -> Result<T, StoreError> {
    match timeout_at(until, question).await {
        Ok(answer) => answer.map_err(|failure| store_error(&failure)),
        Err(_) => Err(StoreError::Timeout),
    }
}

#[cfg(test)]
mod tests;
