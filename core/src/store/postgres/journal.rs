//! What the journal asks of the schema: whole commits in one call each, their values as one array a column.
//!
//! The functions are `audit.journal` and its neighbours in `migrations/postgres/0001_record.sql`, which says what each
//! does. Nothing here decides; which rows to write, and what to do about those that were not, is the journal's matter.

use tokio_postgres::types::{FromSql, ToSql};
use toolgate_contract::ids::TenantId;

use super::PostgresTx;
use crate::store::StoreError;

const JOURNAL: &str = "select verdict, tenant_id, event_id, place, seq, same from audit.journal(\
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, \
    $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45)";
const TAKE_COUNTS: &str =
    "select place, role, facade, capability, count from audit.take_counts($1, $2, $3, $4, $5)";
const HOLD_HEAD: &str = "select $1, seq, hash, last_seq, last_hash from audit.hold_head($1, $2)";
const ENDS_OF: &str = "select tenant_id, seq, hash, last_seq, last_hash from audit.ends_of($1)";

/// Everything that one commit writes, column by column.
#[derive(Debug, Default)]
pub(crate) struct Entries<'a> {
    /// Chains that go on.
    pub(crate) moves: Moves<'a>,
    /// Rows of those chains.
    pub(crate) rows: Rows<'a>,
    /// What the caller knows of the chains of the intents' tenants, each tenant once.
    pub(crate) known: Ends<'a>,
    /// Intents.
    pub(crate) intents: Intents<'a>,
    /// Intents that end.
    pub(crate) ended: Ended<'a>,
    /// Reads whose caller left.
    pub(crate) closed: Closed<'a>,
    /// Refusals counted.
    pub(crate) counts: Counts<'a>,
    /// The time to leave in `health`; nothing where it is not asked for.
    pub(crate) probe_us: Option<i64>,
}

/// Ends of chains, one tenant an entry.
#[derive(Debug, Default)]
pub(crate) struct Ends<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) seq: Vec<i64>,
    pub(crate) hash: Vec<&'a [u8]>,
}

/// From which end to which a chain goes.
#[derive(Debug, Default)]
pub(crate) struct Moves<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) was_seq: Vec<i64>,
    pub(crate) was_hash: Vec<&'a [u8]>,
    pub(crate) now_seq: Vec<i64>,
    pub(crate) now_hash: Vec<&'a [u8]>,
}

/// Columns of `audit_event`.
#[derive(Debug, Default)]
pub(crate) struct Rows<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) seq: Vec<i64>,
    pub(crate) event: Vec<&'a str>,
    pub(crate) prev: Vec<&'a [u8]>,
    pub(crate) bytes: Vec<&'a [u8]>,
    pub(crate) hash: Vec<&'a [u8]>,
    pub(crate) mac: Vec<&'a [u8]>,
    pub(crate) algorithm: Vec<i64>,
    pub(crate) key: Vec<&'a str>,
    pub(crate) time: Vec<i64>,
    pub(crate) kind: Vec<&'a str>,
    pub(crate) principal: Vec<&'a str>,
    pub(crate) capability: Vec<&'a str>,
    pub(crate) target: Vec<Option<&'a str>>,
    pub(crate) result: Vec<&'a str>,
    pub(crate) correlation: Vec<Option<&'a str>>,
}

/// Columns of `intent`; all are one process's.
#[derive(Debug, Default)]
pub(crate) struct Intents<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) event: Vec<String>,
    pub(crate) instance: &'a str,
    pub(crate) time: Vec<i64>,
    pub(crate) facts: Vec<&'a [u8]>,
}

/// Keys of `intent`.
#[derive(Debug, Default)]
pub(crate) struct Ended<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) event: Vec<String>,
}

/// Columns of `intent_closed`; all are closed at one time.
#[derive(Debug, Default)]
pub(crate) struct Closed<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) event: Vec<String>,
    pub(crate) at_us: i64,
    pub(crate) facts: Vec<&'a [u8]>,
}

/// Columns of `refusal_counter`; each key once.
#[derive(Debug, Default)]
pub(crate) struct Counts<'a> {
    pub(crate) key: CountKeys<'a>,
    pub(crate) role: Vec<&'a str>,
    pub(crate) facade: Vec<&'a str>,
    pub(crate) capability: Vec<&'a str>,
    pub(crate) many: Vec<i64>,
}

/// Keys of `refusal_counter`.
#[derive(Debug, Default)]
pub(crate) struct CountKeys<'a> {
    pub(crate) tenant: Vec<&'a str>,
    pub(crate) minute: Vec<i64>,
    pub(crate) kind: Vec<&'a str>,
    pub(crate) principal: Vec<&'a str>,
    pub(crate) reason: Vec<&'a str>,
}

/// What did not go as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remark {
    /// Another writer moved the head of this tenant's chain; nothing of the tenant was written.
    Lost(String),
    /// The event of this row, counted from 0, stands at `seq` already, and is the same or not; nothing of its tenant was
    /// written.
    Standing {
        tenant: String,
        row: usize,
        seq: i64,
        same: bool,
    },
    /// The head of this tenant's chain does not fit; none of its intents was written.
    Unsound(String),
    /// An intent with this id is there already.
    Duplicate { tenant: String, event: String },
}

/// The stored end of a chain and its last row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredEnd {
    pub(crate) tenant: String,
    pub(crate) head: Option<(i64, [u8; 32])>,
    pub(crate) last: Option<(i64, [u8; 32])>,
}

/// A minute's counter that was taken out; `place` is its place among the keys, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TakenCount {
    pub(crate) place: usize,
    pub(crate) role: String,
    pub(crate) facade: String,
    pub(crate) capability: String,
    pub(crate) count: i64,
}

impl PostgresTx {
    /// Writes a whole commit's entries: at once and durably where no transaction is open, else as part of it.
    pub(crate) async fn journal(&mut self, entries: &Entries<'_>) -> Result<Vec<Remark>, StoreError> {
        let Entries {
            moves,
            rows,
            known,
            intents,
            ended,
            closed,
            counts,
            probe_us,
        } = entries;
        let values: [&(dyn ToSql + Sync); 45] = [
            &moves.tenant,
            &moves.was_seq,
            &moves.was_hash,
            &moves.now_seq,
            &moves.now_hash,
            &rows.tenant,
            &rows.seq,
            &rows.event,
            &rows.prev,
            &rows.bytes,
            &rows.hash,
            &rows.mac,
            &rows.algorithm,
            &rows.key,
            &rows.time,
            &rows.kind,
            &rows.principal,
            &rows.capability,
            &rows.target,
            &rows.result,
            &rows.correlation,
            &known.tenant,
            &known.seq,
            &known.hash,
            &intents.tenant,
            &intents.event,
            &intents.instance,
            &intents.time,
            &intents.facts,
            &ended.tenant,
            &ended.event,
            &closed.tenant,
            &closed.event,
            &closed.at_us,
            &closed.facts,
            &counts.key.tenant,
            &counts.key.minute,
            &counts.key.kind,
            &counts.key.principal,
            &counts.key.reason,
            &counts.role,
            &counts.facade,
            &counts.capability,
            &counts.many,
            probe_us,
        ];
        let found = self.ask(JOURNAL, &values).await?;
        found.iter().map(remark).collect()
    }

    /// Takes counters out of the store, in the transaction that is open.
    pub(crate) async fn take_counts(&mut self, keys: &CountKeys<'_>) -> Result<Vec<TakenCount>, StoreError> {
        let values: [&(dyn ToSql + Sync); 5] = [
            &keys.tenant,
            &keys.minute,
            &keys.kind,
            &keys.principal,
            &keys.reason,
        ];
        let found = self.ask(TAKE_COUNTS, &values).await?;
        found.iter().map(taken).collect()
    }

    /// Holds the head of a chain until the open transaction ends; one with place 0 is made where the chain begins.
    pub(crate) async fn hold_head(
        &mut self,
        tenant: &TenantId,
        genesis: &[u8; 32],
    ) -> Result<Option<StoredEnd>, StoreError> {
        let found = self
            .ask(HOLD_HEAD, &[&tenant.as_str(), &genesis.as_slice()])
            .await?;
        found.first().map(end).transpose()
    }

    /// The ends of these tenants' chains.
    pub(crate) async fn ends_of(&mut self, tenants: &[&str]) -> Result<Vec<StoredEnd>, StoreError> {
        let found = self.ask(ENDS_OF, &[&tenants]).await?;
        found.iter().map(end).collect()
    }
}

impl PostgresTx {
    /// Asks a function and gives its rows: within the open transaction, or where there is none as one of its own.
    async fn ask(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        if !self.is_open() {
            self.be_ready().await?;
        }
        let statement = self.prepare(sql, values.len()).await?;
        let Self { line, flow, .. } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        flow.ask(client.query(&statement, values)).await
    }
}

fn remark(row: &tokio_postgres::Row) -> Result<Remark, StoreError> {
    let verdict: &str = column(row, 0)?;
    let tenant: String = column(row, 1)?;
    Ok(match verdict {
        "lost" => Remark::Lost(tenant),
        "unsound" => Remark::Unsound(tenant),
        "standing" => Remark::Standing {
            tenant,
            row: from_one(column(row, 3)?, 3)?,
            seq: column(row, 4)?,
            same: column(row, 5)?,
        },
        "duplicate" => Remark::Duplicate {
            tenant,
            event: column(row, 2)?,
        },
        _ => return Err(StoreError::Column(0)),
    })
}

fn taken(row: &tokio_postgres::Row) -> Result<TakenCount, StoreError> {
    Ok(TakenCount {
        place: from_one(column(row, 0)?, 0)?,
        role: column(row, 1)?,
        facade: column(row, 2)?,
        capability: column(row, 3)?,
        count: column(row, 4)?,
    })
}

fn end(row: &tokio_postgres::Row) -> Result<StoredEnd, StoreError> {
    Ok(StoredEnd {
        tenant: column(row, 0)?,
        head: place(row, 1)?,
        last: place(row, 3)?,
    })
}

fn place(row: &tokio_postgres::Row, at: usize) -> Result<Option<(i64, [u8; 32])>, StoreError> {
    let seq: Option<i64> = column(row, at)?;
    let hash: Option<&[u8]> = column(row, at + 1)?;
    let (Some(seq), Some(hash)) = (seq, hash) else {
        return Ok(None);
    };
    // A hash of another length is no end that a row can follow; all zeros is none either.
    Ok(Some((seq, hash.try_into().unwrap_or([0; 32]))))
}

/// A place that the server counts from 1, counted from 0.
fn from_one(place: i64, at: usize) -> Result<usize, StoreError> {
    usize::try_from(place - 1).map_err(|_| StoreError::Column(at))
}

fn column<'r, T: FromSql<'r>>(row: &'r tokio_postgres::Row, at: usize) -> Result<T, StoreError> {
    row.try_get(at).map_err(|_| StoreError::Column(at))
}
