//! Lists the record, newest first, by pages that carry on where the last one ended, or oldest first after a place.
//!
//! Who may list what is decided by whoever calls; this room only filters. A search for something rare looks at a
//! bounded number of rows a page and then hands out a cursor, so that no question occupies the store for long.

use toolgate_contract::ids::{CallId, TargetId, TenantId};

use super::{Event, EventKind, Outcome, RowError, decode, normal, rows::Batch};
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
const STRETCH_FORWARD: &str = "select seq, bytes from audit_event where tenant_id = $1 and seq < $2 and seq >= $3 \
     and (time_us >= $4 or $4 is null) and (time_us < $5 or $5 is null) \
     and (principal = $6 or $6 is null) and (capability = $7 or $7 is null) \
     and (target_id = $8 or $8 is null) and (result = $9 or $9 is null) \
     and (correlation_id = $10 or $10 is null) and (kind = $11 or $11 is null) \
     order by seq limit $12";

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
        let found = stretch(STRETCH_OF_ROWS, store, tenant, &filter, from..before, room).await?;
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

/// Some events after a place, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Following {
    /// The events. There may be few or none though more follow.
    pub entries: Vec<Entry>,
    /// The last place that was looked at: what comes next is after it.
    pub through: i64,
}

/// At most `size` events (bounded by [`LONGEST_PAGE`]) after place `after` that pass the filter, oldest first: for whoever
/// follows the record.
///
/// # Errors
/// When the store does not answer.
pub async fn follow(
    store: &Store,
    tenant: &TenantId,
    filter: &Filter,
    after: i64,
    size: u32,
) -> Result<Following, StoreError> {
    let newest = newest(store, tenant).await?;
    let wanted = usize::try_from(size.clamp(1, LONGEST_PAGE)).unwrap_or(usize::MAX);
    let filter = Normal::from(filter);
    let mut entries: Vec<Entry> = Vec::new();
    let mut through = after;
    for _ in 0..STRETCHES {
        if through >= newest {
            break;
        }
        let end = through.saturating_add(STRETCH).min(newest);
        let room = wanted - entries.len();
        let places = through.saturating_add(1)..end.saturating_add(1);
        let found = stretch(STRETCH_FORWARD, store, tenant, &filter, places, room).await?;
        let full = found.len() == room;
        entries.extend(found);
        through = if full {
            entries.last().map_or(end, |entry| entry.seq)
        } else {
            end
        };
        if full {
            break;
        }
    }
    Ok(Following { entries, through })
}

/// One row as the chain holds it, whatever that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The event with its place.
    pub entry: Entry,
    /// What was hashed.
    pub bytes: Vec<u8>,
    /// Hash of the row before it.
    pub prev: Vec<u8>,
    /// Its hash.
    pub hash: Vec<u8>,
    /// Its MAC.
    pub mac: Vec<u8>,
    /// Its algorithm.
    pub algorithm: i64,
    /// The root that its key comes from.
    pub key_id: String,
}

impl Held {
    /// Whether the event tells of what `principal` did.
    #[must_use]
    pub fn is_of(&self, principal: &str) -> bool {
        let name = normal::text(principal, normal::PRINCIPAL);
        matches!(&self.entry.event, Ok(event) if *event.principal == *name)
    }
}

/// The row at place `seq`; `None` where there is none.
///
/// # Errors
/// When the store does not answer.
pub async fn held(store: &Store, tenant: &TenantId, seq: i64) -> Result<Option<Held>, StoreError> {
    let batch = Batch::one(store, tenant, seq).await?;
    Ok(batch.row(0).map(|row| Held {
        entry: Entry {
            seq,
            event: decode(row.bytes),
        },
        bytes: row.bytes.to_vec(),
        prev: row.prev.to_vec(),
        hash: row.hash.to_vec(),
        mac: row.mac.to_vec(),
        algorithm: row.algorithm,
        key_id: normal::text(row.key_id, normal::KEY_ID).into_owned(),
    }))
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
    statement: &'static str,
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
                tx.query(statement, &values).await
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
