//! Reads rows of the record as they lie in the store, whatever they hold, many at a time into the same memory.
//!
//! A store that was tampered with may hold anything in any column. What is not of the type the gateway writes becomes
//! a value that no sealed row has, so that it is a finding and never an error that hides one. Whether the index columns
//! repeat the bytes is looked at while the row is lent, so they are never copied.

use std::{ops::ControlFlow, str};

use toolgate_contract::ids::TenantId;

use super::{Columns, Head, StoredRow};
use crate::store::{Cell, LentRow, Store, StoreError, params};

/// Most rows of a batch, and how many bytes they have when no more are taken.
const ROWS: usize = 2_048;
const BYTES: usize = 2 * 1024 * 1024;
/// What a row may have at most to be taken as it is; the gateway's have far less.
const LONGEST_ROW: usize = 64 * 1024;

const PAGE: &str = "select seq, prev, bytes, hash, mac, algorithm, key_id, event_id, time_us, kind, principal, \
                    capability, target_id, result, correlation_id \
                    from audit_event where tenant_id = $1 and seq > $2 order by seq limit $3";
const HEAD: &str = "select seq, hash from audit_head where tenant_id = $1";

/// What no text on the record is: it holds a control character.
const FOREIGN: &str = "\0";

/// Some rows of a chain, one behind the other, and its head at the same moment.
#[derive(Debug, Default)]
pub(super) struct Batch {
    packed: Vec<Packed>,
    data: Vec<u8>,
    /// The head of the chain.
    pub(super) head: Option<Head>,
    /// Where the next batch begins; `None` after the last.
    pub(super) next: Option<i64>,
}

/// Where a row lies in `data`, and the lengths of its parts, in their order there.
#[derive(Debug)]
struct Packed {
    at: usize,
    seq: i64,
    algorithm: i64,
    prev: usize,
    bytes: usize,
    hash: usize,
    mac: usize,
    key_id: usize,
    columns_agree: bool,
}

impl Batch {
    /// The rows after place `after`, in order, in place of those it held.
    pub(super) async fn read(self, store: &Store, tenant: &TenantId, after: i64) -> Result<Self, StoreError> {
        self.read_some(store, tenant, after, ROWS).await
    }

    /// The row at place `seq` alone; none where there is none.
    pub(super) async fn one(store: &Store, tenant: &TenantId, seq: i64) -> Result<Self, StoreError> {
        let mut batch = Self::default()
            .read_some(store, tenant, seq.saturating_sub(1), 1)
            .await?;
        batch.packed.retain(|row| row.seq == seq);
        Ok(batch)
    }

    async fn read_some(
        mut self,
        store: &Store,
        tenant: &TenantId,
        after: i64,
        most: usize,
    ) -> Result<Self, StoreError> {
        let owner = tenant.clone();
        store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move {
                    self.clear();
                    let mut full = false;
                    let values = params![&owner, after, i64::try_from(most).unwrap_or(1)];
                    tx.lend_rows(PAGE, values, &mut |row| {
                        self.take(row);
                        full = self.packed.len() >= most || self.data.len() >= BYTES;
                        if full {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    })
                    .await?;
                    let head = &mut self.head;
                    tx.lend_rows(HEAD, params![&owner], &mut |row| {
                        *head = Some(head_of(row));
                        ControlFlow::Break(())
                    })
                    .await?;
                    // A place that is no number sorts last, and nothing can come after it.
                    let last = self
                        .packed
                        .iter()
                        .rev()
                        .map(|row| row.seq)
                        .find(|seq| *seq != NO_PLACE);
                    self.next = last.filter(|last| full && *last > after);
                    Ok(self)
                })
            })
            .await
    }

    /// The rows, in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = StoredRow<'_>> {
        self.packed.iter().map(|row| self.unpack(row))
    }

    /// One row, by its number from 0.
    pub(super) fn row(&self, number: usize) -> Option<StoredRow<'_>> {
        self.packed.get(number).map(|row| self.unpack(row))
    }

    fn unpack(&self, row: &Packed) -> StoredRow<'_> {
        let mut rest = self.data.get(row.at..).unwrap_or_default();
        let mut cut = |length| {
            let (piece, after) = rest.split_at_checked(length).unwrap_or_default();
            rest = after;
            piece
        };
        StoredRow {
            seq: row.seq,
            prev: cut(row.prev),
            bytes: cut(row.bytes),
            hash: cut(row.hash),
            mac: cut(row.mac),
            algorithm: row.algorithm,
            key_id: str::from_utf8(cut(row.key_id)).unwrap_or(FOREIGN),
            columns_agree: row.columns_agree,
        }
    }

    fn clear(&mut self) {
        self.packed.clear();
        self.data.clear();
        (self.head, self.next) = (None, None);
    }

    fn take(&mut self, row: &LentRow<'_>) {
        let blob = |column| row.cell(column).blob().filter(|bytes| bytes.len() <= LONGEST_ROW);
        let [prev, bytes, hash, mac] = [1, 2, 3, 4].map(|column| blob(column).unwrap_or_default());
        let key_id = match row.cell(6) {
            Cell::Text(text) if text.len() <= LONGEST_ROW => text,
            _ => FOREIGN.as_bytes(),
        };
        let at = self.data.len();
        for piece in [prev, bytes, hash, mac, key_id] {
            self.data.extend_from_slice(piece);
        }
        self.packed.push(Packed {
            at,
            seq: row.cell(0).int().unwrap_or(NO_PLACE),
            algorithm: row.cell(5).int().unwrap_or(-1),
            prev: prev.len(),
            bytes: bytes.len(),
            hash: hash.len(),
            mac: mac.len(),
            key_id: key_id.len(),
            columns_agree: columns_agree(row, bytes),
        });
    }
}

/// The place of a row whose place is no number.
pub(super) const NO_PLACE: i64 = i64::MAX;

fn columns_agree(row: &LentRow<'_>, bytes: &[u8]) -> bool {
    let Ok(sealed) = Columns::of(bytes) else {
        return false;
    };
    let is = |column, text: &str| row.cell(column) == Cell::Text(text.as_bytes());
    let may_be = |column, text: Option<&str>| {
        row.cell(column) == text.map_or(Cell::Null, |text| Cell::Text(text.as_bytes()))
    };
    is(7, sealed.event_id)
        && row.cell(8) == Cell::Int(sealed.time_us)
        && is(9, sealed.kind)
        && is(10, sealed.principal)
        && is(11, sealed.capability)
        && may_be(12, sealed.target_id)
        && is(13, sealed.result)
        && may_be(14, sealed.correlation_id)
}

fn head_of(row: &LentRow<'_>) -> Head {
    let hash = row.cell(1).blob().and_then(|bytes| bytes.try_into().ok());
    Head {
        seq: row.cell(0).int().unwrap_or(-1),
        hash: hash.unwrap_or_default(),
    }
}
