//! Reads rows of the record as they lie in the store, whatever they hold.
//!
//! A store that was tampered with may hold anything in any column. What is not of the type the gateway writes becomes
//! a value that no sealed row has, so that it is a finding and never an error that hides one.

use toolgate_contract::ids::TenantId;

use super::{Columns, Head, StoredRow};
use crate::store::{Row, Store, StoreError, params};

/// Rows read at once.
pub(super) const PAGE: i64 = 1_000;

const ROWS: &str = "select seq, prev, bytes, hash, mac, algorithm, key_id, event_id, time_us, kind, principal, \
                    capability, target_id, result, correlation_id \
                    from audit_event where tenant_id = $1 and seq > $2 order by seq limit $3";
const HEAD: &str = "select seq, hash from audit_head where tenant_id = $1";

/// What no text on the record is: it holds a control character.
const FOREIGN: &str = "\0";

/// Some rows of a chain, and its head at the same moment.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) rows: Vec<Row>,
    pub(super) head: Option<Head>,
}

impl Page {
    /// The rows after place `after`, in order. The last page has fewer than [`PAGE`].
    pub(super) async fn read(store: &Store, tenant: &TenantId, after: i64) -> Result<Self, StoreError> {
        let owner = tenant.clone();
        store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move {
                    let rows = tx.query(ROWS, params![&owner, after, PAGE]).await?;
                    let head = tx.query_opt(HEAD, params![&owner]).await?;
                    let head = head.as_ref().map(head_of);
                    Ok(Self { rows, head })
                })
            })
            .await
    }

    /// Where the next page begins; `None` after the last.
    pub(super) fn next(&self) -> Option<i64> {
        let full = i64::try_from(self.rows.len()).is_ok_and(|count| count >= PAGE);
        // A place that is no number sorts last, and nothing can come after it.
        self.rows.last().filter(|_| full).and_then(|row| row.int(0).ok())
    }
}

/// A row as the verifier takes it.
pub(super) fn stored(row: &Row) -> StoredRow<'_> {
    let text = |column| row.text(column).unwrap_or(FOREIGN);
    let optional = |column| row.opt_text(column).unwrap_or(Some(FOREIGN));
    let blob = |column| row.blob(column).unwrap_or_default();
    StoredRow {
        seq: row.int(0).unwrap_or(i64::MAX),
        prev: blob(1),
        bytes: blob(2),
        hash: blob(3),
        mac: blob(4),
        algorithm: row.int(5).unwrap_or(-1),
        key_id: text(6),
        columns: Some(Columns {
            event_id: text(7),
            time_us: row.int(8).unwrap_or(i64::MIN),
            kind: text(9),
            principal: text(10),
            capability: text(11),
            target_id: optional(12),
            result: text(13),
            correlation_id: optional(14),
        }),
    }
}

fn head_of(row: &Row) -> Head {
    Head {
        seq: row.int(0).unwrap_or(-1),
        hash: row.array(1).unwrap_or_default(),
    }
}
