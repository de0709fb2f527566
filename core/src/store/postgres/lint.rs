//! The rules of the schema (`security.md` §2.2), read from the catalogue of the database at hand. A missing wall shows
//! in no answer, so it is looked for before anything is served.

use tokio::time::{Instant, timeout_at};

use super::{failure::store_error, line::Line, schema::APP};
use crate::store::StoreError;

const RULES: &str = include_str!("lint/rules.sql");
/// So many faults are told at once.
const TOLD: usize = 20;

/// Refuses a database in which a wall is missing, naming where.
pub(super) async fn refuse_unfit(line: &Line, until: Instant) -> Result<(), StoreError> {
    let faults = faults(line, true, until).await?;
    if faults.is_empty() {
        return Ok(());
    }
    Err(StoreError::Unfit(faults.join("; ")))
}

/// Every wall that is missing. `signed_in` holds the role of this session to the rules as well: it is the gateway's.
pub(super) async fn faults(line: &Line, signed_in: bool, until: Instant) -> Result<Vec<String>, StoreError> {
    let question = async {
        let mut roles = vec![APP.to_owned()];
        if signed_in {
            let own: String = line
                .query_one("select session_user::text", &[])
                .await?
                .try_get(0)?;
            if own != APP {
                roles.push(own);
            }
        }
        line.query(RULES, &[&roles]).await
    };
    let rows = match timeout_at(until, question).await {
        Ok(answer) => answer.map_err(|failure| store_error(&failure))?,
        Err(_) => return Err(StoreError::Timeout),
    };
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

#[cfg(test)]
mod tests;
