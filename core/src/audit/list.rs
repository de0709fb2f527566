//! Lists the record, newest first, by pages that carry on where the last one ended.
//!
//! Who may list what is decided by whoever calls; this room only filters. A search for something rare looks at a
//! bounded number of rows a page and then hands out a cursor, so that no question occupies the store for long.

use toolgate_contract::ids::{CallId, TargetId, TenantId};

use super::{Event, EventKind, Outcome, RowError, decode, normal};
use crate::store::{Param, Row, Store, StoreError, params};

/// Most events of one page.
pub const LONGEST_PAGE: u32 = 500;
/// Rows looked at in one go, and how many such goes a page may take.
const STRETCH: i64 = 20_000;
const STRETCHES: u32 = 25;

const NEWEST: &str = "select seq from audit_event where tenant_id = $1 order by seq desc limit 1";
// Absent filters are null; a comparison comes first, because PostgreSQL takes a value's type from there. Bounds on seq
// keep each go short, whatever the filters are.
const STRETCH_OF_ROWS: &str = "select seq, bytes from audit_event where tenant_id = $1 and seq < $2 and seq >= $3 \
     and (time_us >= $4 or $4 is null) and (time_us < $5 or $5 is null) \
     and (principal = $6 or $6 is null) and (capability = $7 or $7 is null) \
     and (target_id = $8 or $8 is null) and (result = $9 or $9 is null) \
     and (correlation_id = $10 or $10 is null) and (kind = $11 or $11 is null) \
     order by seq desc limit $12";
const AFTER: &str =
    "select seq, bytes from audit_event where tenant_id = $1 and seq > $2 order by seq limit $3";

/// What to list. Filters are combined with and.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Not before, microseconds UTC.
    pub since_us: Option<i64>,
    /// Before, microseconds UTC.
    pub until_us: Option<i64>,
    /// Only this principal.
    pub principal: Option<String>,
    /// Only this tool.
    pub capability: Option<String>,
    /// Only this target.
    pub target_id: Option<TargetId>,
    /// Only this result.
    pub result: Option<Outcome>,
    /// Only this call.
    pub correlation_id: Option<CallId>,
    /// Only this kind of event.
    pub kind: Option<EventKind>,
}

/// Where a list goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(i64);

/// A text that is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor: take next_cursor of the former answer as it is")]
pub struct InvalidCursor;

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "before-{}", self.0)
    }
}

impl std::str::FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let seq: i64 = text
            .strip_prefix("before-")
            .and_then(|seq| seq.parse().ok())
            .ok_or(InvalidCursor)?;
        let cursor = Self(seq);
        if seq > 0 && cursor.to_string() == text {
            Ok(cursor)
        } else {
            Err(InvalidCursor)
        }
    }
}

/// One event with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the chain.
    pub seq: i64,
    /// The event, or why its bytes are none: they were tampered with, or a newer version wrote them.
    pub event: Result<Event, RowError>,
}

/// Some events, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The events. There may be few or none though more follow.
    pub entries: Vec<Entry>,
    /// Where to go on; `None` at the end.
    pub next: Option<Cursor>,
}

/// At most `size` events (bounded by [`LONGEST_PAGE`]) that pass the filter, from `cursor` on.
///
/// # Errors
/// When the store does not answer.
pub async fn list(
    store: &Store,
    tenant: &TenantId,
    filter: &Filter,
    cursor: Option<Cursor>,
    size: u32,
) -> Result<Listing, StoreError> {
    let wanted = size.clamp(1, LONGEST_PAGE) as usize;
    let mut before = match cursor {
        Some(Cursor(before)) => before,
        None => newest(store, tenant).await?.saturating_add(1),
    };
    let filter = Normal::from(filter);
    let mut entries = Vec::new();
    for _ in 0..STRETCHES {
        let from = before.saturating_sub(STRETCH);
        let room = wanted - entries.len();
        let found = stretch(store, tenant, &filter, from..before, room).await?;
        let full = found.len() == room;
        entries.extend(found);
        before = if full {
            entries.last().map_or(from, |entry| entry.seq)
        } else {
            from
        };
        if full || before <= 1 {
            break;
        }
    }
    let next = (before > 1).then_some(Cursor(before));
    Ok(Listing { entries, next })
}

/// At most `size` events after place `seq`, oldest first: for whoever follows the record.
///
/// # Errors
/// When the store does not answer.
pub async fn after(store: &Store, tenant: &TenantId, seq: i64, size: u32) -> Result<Vec<Entry>, StoreError> {
    let owner = tenant.clone();
    let size = i64::from(size.clamp(1, LONGEST_PAGE));
    let rows = store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move { tx.query(AFTER, params![&owner, seq, size]).await })
        })
        .await?;
    rows.iter().map(entry).collect()
}

/// Place of the newest event; 0 when there is none.
///
/// # Errors
/// When the store does not answer.
pub async fn newest(store: &Store, tenant: &TenantId) -> Result<i64, StoreError> {
    let owner = tenant.clone();
    let row = store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move { tx.query_opt(NEWEST, params![&owner]).await })
        })
        .await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The filter as the index columns spell it.
#[derive(Clone)]
struct Normal {
    since_us: Option<i64>,
    until_us: Option<i64>,
    texts: [Option<String>; 6],
}

impl From<&Filter> for Normal {
    fn from(filter: &Filter) -> Self {
        let normal = |text: &Option<String>, longest| {
            text.as_ref().map(|text| normal::text(text, longest).into_owned())
        };
        Self {
            since_us: filter.since_us,
            until_us: filter.until_us,
            texts: [
                normal(&filter.principal, normal::PRINCIPAL),
                normal(&filter.capability, normal::CAPABILITY),
                filter.target_id.map(|id| id.to_string()),
                filter.result.map(|result| result.as_str().to_owned()),
                filter.correlation_id.map(|id| id.to_string()),
                filter.kind.map(|kind| kind.as_str().to_owned()),
            ],
        }
    }
}

async fn stretch(
    store: &Store,
    tenant: &TenantId,
    filter: &Normal,
    places: std::ops::Range<i64>,
    room: usize,
) -> Result<Vec<Entry>, StoreError> {
    let (owner, filter) = (tenant.clone(), filter.clone());
    let room = i64::try_from(room).unwrap_or(i64::MAX);
    let rows = store
        .with_tenant_read(tenant, move |tx| {
            Box::pin(async move {
                let fixed = params![&owner, places.end, places.start, filter.since_us, filter.until_us];
                let mut values: Vec<Param<'_>> = fixed.to_vec();
                values.extend(filter.texts.iter().map(|text| Param::from(text.as_deref())));
                values.push(Param::from(room));
                tx.query(STRETCH_OF_ROWS, &values).await
            })
        })
        .await?;
    rows.iter().map(entry).collect()
}

fn entry(row: &Row) -> Result<Entry, StoreError> {
    Ok(Entry {
        seq: row.int(0)?,
        event: decode(row.blob(1).unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests;
