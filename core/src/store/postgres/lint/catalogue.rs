//! Holds the catalogue against that of a database which was just migrated. What differs is told by its line, whether it
//! is dangerous or not: a table that is no longer logged, a function with another body, a rule that swallows rows.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::{super::line::Line, TOLD, answered};
use crate::store::StoreError;

/// One line for each thing, right and role.
const CATALOGUE: &str = include_str!("catalogue.sql");
/// The same lines, of a database that was just migrated.
pub(super) const MADE: &str = include_str!("catalogue.txt");
const REMEDY: &str = "restore what `toolgate db migrate` made, or migrate into an empty database";

/// The auditor, for one, may not read it; then it is left to whoever may.
const MAY_READ_HEALTH: &str = "select coalesce(pg_catalog.has_table_privilege(\
    pg_catalog.to_regclass('audit.health'), 'SELECT') \
    and pg_catalog.has_schema_privilege('audit', 'USAGE'), false)";
const HEALTH: &str = "select count(*) from audit.health";

/// So many letters of a line are told.
const TOLD_OF_LINE: usize = 240;

/// Every difference, and as the last what to do about them.
pub(super) async fn changes(
    line: &Line,
    roles: &[String],
    until: Instant,
) -> Result<Vec<String>, StoreError> {
    let found = read(line, roles, until).await?;
    let mut changes = differences(MADE, &found);
    let may_read: bool = first(line, MAY_READ_HEALTH, until).await?;
    if may_read {
        let rows: i64 = first(line, HEALTH, until).await?;
        if rows != 1 {
            changes.push(format!(
                "schema: changed \"rows of audit.health\": {rows}, made as 1"
            ));
        }
    }
    let more = changes.len().saturating_sub(TOLD);
    changes.truncate(TOLD);
    if more > 0 {
        changes.push(format!("{more} more changes of the schema"));
    }
    if !changes.is_empty() {
        changes.push(REMEDY.to_owned());
    }
    Ok(changes)
}

/// The lines of the database at hand.
pub(super) async fn read(line: &Line, roles: &[String], until: Instant) -> Result<String, StoreError> {
    // Names are told with their schemas unless the search path finds them, and that is a setting of role and database.
    let path = "begin read only; set local search_path = pg_catalog";
    answered(line.batch_execute(path), until).await?;
    let rows = answered(line.query(CATALOGUE, &[&roles]), until).await;
    answered(line.batch_execute("rollback"), until).await?;
    let mut lines = Vec::new();
    for row in rows? {
        lines.push(row.try_get::<_, String>(0).map_err(|_| StoreError::Column(0))?);
    }
    // By bytes, whatever the server's locale.
    lines.sort();
    lines.push(String::new());
    Ok(lines.join("\n"))
}

async fn first<T>(line: &Line, question: &str, until: Instant) -> Result<T, StoreError>
where
    T: for<'a> tokio_postgres::types::FromSql<'a>,
{
    let row = answered(line.query_one(question, &[]), until).await?;
    row.try_get(0).map_err(|_| StoreError::Column(0))
}

/// Lines of one that are not in the other; two that speak of the same thing are one change.
fn differences(made: &str, found: &str) -> Vec<String> {
    let (made, found): (BTreeSet<&str>, BTreeSet<&str>) = (made.lines().collect(), found.lines().collect());
    let missing: Vec<&str> = made.difference(&found).copied().collect();
    let mut unexpected: Vec<&str> = found.difference(&made).copied().collect();
    let mut told = Vec::new();
    for line in missing {
        let (thing, was) = parts(line);
        let now = unexpected.iter().position(|other| parts(other).0 == thing);
        match now.map(|place| parts(unexpected.remove(place)).1) {
            Some(now) => told.push(format!(
                "schema: changed \"{thing}\": {}, made as {}",
                short(now),
                short(was)
            )),
            None => told.push(format!("schema: missing \"{}\"", short(line))),
        }
    }
    told.extend(
        unexpected
            .iter()
            .map(|line| format!("schema: unexpected \"{}\"", short(line))),
    );
    told
}

fn parts(line: &str) -> (&str, &str) {
    line.split_once(": ").unwrap_or((line, ""))
}

fn short(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(TOLD_OF_LINE).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
