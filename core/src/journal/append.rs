//! Appending to chains: whose end is where, the row after it, and the compare-and-set that lets only one row follow.

use std::collections::{BTreeMap, HashMap};

use toolgate_contract::ids::TenantId;

use super::{JournalError, Receipt};
use crate::{
    audit::{Event, Head, SealedRow, Sealer},
    store::{Row, StoreError, Tx, params},
};

const HEAD: &str = "select seq, hash from audit_head where tenant_id = $1";
const LAST: &str = "select seq, hash from audit_event where tenant_id = $1 order by seq desc limit 1";
const FIRST_HEAD: &str =
    "insert into audit_head (tenant_id, seq, hash) values ($1, $2, $3) on conflict (tenant_id) do nothing";
const NEXT_HEAD: &str =
    "update audit_head set seq = $2, hash = $3 where tenant_id = $1 and seq = $4 and hash = $5";
const INSERT: &str = "insert into audit_event (tenant_id, seq, event_id, prev, bytes, hash, mac, algorithm, key_id, \
                      time_us, kind, principal, capability, target_id, result, correlation_id) \
                      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
const STANDING: &str = "select seq, bytes from audit_event where tenant_id = $1 and event_id = $2";

/// Heads kept at hand; past it they are read anew.
pub(super) const AT_HAND: usize = 65_536;

/// The ends of chains, as of the last commit.
pub(super) type Heads = HashMap<TenantId, Head>;

/// The chains one transaction appends to.
pub(super) struct Chains<'a> {
    sealer: &'a Sealer,
    known: Heads,
    touched: BTreeMap<TenantId, Touched>,
    /// Chains whose ends were looked at in this transaction, and whether they fit.
    sound: BTreeMap<TenantId, bool>,
}

struct Touched {
    was: Head,
    now: Head,
}

/// Why a transaction cannot stand.
#[derive(Debug)]
pub(super) enum AppendError {
    /// Somebody else moved the head of a chain; read the heads and try again.
    HeadLost,
    /// The transaction failed.
    Store(StoreError),
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<'a> Chains<'a> {
    pub(super) fn new(sealer: &'a Sealer, known: Heads) -> Self {
        Self {
            sealer,
            known,
            touched: BTreeMap::new(),
            sound: BTreeMap::new(),
        }
    }

    /// Appends `event`, or finds that it stands there already. The inner error is this row's alone.
    pub(super) async fn append(
        &mut self,
        tx: &mut Tx,
        tenant: &TenantId,
        event: &Event,
    ) -> Result<Result<Receipt, JournalError>, StoreError> {
        let head = self.head(tx, tenant).await?;
        let tried = self.append_after(tx, tenant, head, event).await?;
        // The place was taken. A head at hand may be out of date; one that was read within this transaction is not.
        if tried == Err(Refused::Taken) && self.known.remove(tenant).is_some() {
            let head = self.head(tx, tenant).await?;
            let tried = self.append_after(tx, tenant, head, event).await?;
            return Ok(tried.map_err(|refused| refused.into_error(tenant)));
        }
        Ok(tried.map_err(|refused| refused.into_error(tenant)))
    }

    /// Whether the stored head of a chain is that of its last row and not behind what was committed here: then a row can
    /// follow. Two look-ups by key, once for each chain in a transaction.
    pub(super) async fn is_sound(&mut self, tx: &mut Tx, tenant: &TenantId) -> Result<bool, StoreError> {
        if let Some(sound) = self.sound.get(tenant) {
            return Ok(*sound);
        }
        let stored = tx.query_opt(HEAD, params![tenant]).await?;
        let last = tx.query_opt(LAST, params![tenant]).await?;
        let sound = self.fits(tenant, stored.as_ref(), last.as_ref());
        self.sound.insert(tenant.clone(), sound);
        Ok(sound)
    }

    fn fits(&self, tenant: &TenantId, stored: Option<&Row>, last: Option<&Row>) -> bool {
        let end = |row: Option<&Row>| row.map_or_else(|| Ok(Head::genesis(tenant)), head);
        // What is of another type than the journal writes is no end of a chain.
        let (Ok(stored), Ok(last)) = (end(stored), end(last)) else {
            return false;
        };
        // Heads move at the end of the transaction, after the rows.
        let (was, now) = match self.touched.get(tenant) {
            Some(touched) => (touched.was, touched.now),
            None => (stored, stored),
        };
        let known = self.known.get(tenant);
        let is_behind = known.is_some_and(|known| {
            stored.seq < known.seq || (stored.seq == known.seq && stored.hash != known.hash)
        });
        stored == was && last == now && !is_behind
    }

    async fn append_after(
        &mut self,
        tx: &mut Tx,
        tenant: &TenantId,
        head: Head,
        event: &Event,
    ) -> Result<Result<Receipt, Refused>, StoreError> {
        let row = self.sealer.seal(tenant, &head, event);
        match insert(tx, tenant, &row).await {
            Ok(()) => {
                let touched = self
                    .touched
                    .entry(tenant.clone())
                    .or_insert(Touched { was: head, now: head });
                touched.now = row.head();
                Ok(Ok(Receipt::new(row.seq, event.id)))
            }
            Err(StoreError::Duplicate) => standing(tx, tenant, event, &row).await,
            Err(error) if error.is_of_one_row() && tx.is_open() => Ok(Err(Refused::Store(error))),
            Err(error) => Err(error),
        }
    }

    /// Moves the heads of all touched chains, in sorted order. The last statements before the commit.
    pub(super) async fn move_heads(&self, tx: &mut Tx) -> Result<(), AppendError> {
        for (tenant, Touched { was, now }) in &self.touched {
            let moved = if was.seq == 0 {
                tx.execute(FIRST_HEAD, params![tenant, now.seq, &now.hash])
                    .await?
            } else {
                tx.execute(NEXT_HEAD, params![tenant, now.seq, &now.hash, was.seq, &was.hash])
                    .await?
            };
            if moved != 1 {
                return Err(AppendError::HeadLost);
            }
        }
        Ok(())
    }

    /// The heads after the commit.
    pub(super) fn committed(mut self) -> Heads {
        for (tenant, touched) in self.touched {
            self.known.insert(tenant, touched.now);
        }
        self.known
    }

    /// The heads after a transaction that did not commit: those it touched are to be read anew.
    pub(super) fn failed(mut self) -> Heads {
        for tenant in self.touched.keys() {
            self.known.remove(tenant);
        }
        self.known
    }

    async fn head(&mut self, tx: &mut Tx, tenant: &TenantId) -> Result<Head, StoreError> {
        if let Some(touched) = self.touched.get(tenant) {
            return Ok(touched.now);
        }
        if let Some(head) = self.known.get(tenant) {
            return Ok(*head);
        }
        read_head(tx, tenant).await
    }
}

/// The head of a chain as it is stored. One that does not fit its last row is an alarm, but not the end: rows that
/// follow are evidence, and the verifier finds the break.
async fn read_head(tx: &mut Tx, tenant: &TenantId) -> Result<Head, StoreError> {
    let stored = tx
        .query_opt(HEAD, params![tenant])
        .await?
        .as_ref()
        .map(head)
        .transpose()?;
    let last = tx
        .query_opt(LAST, params![tenant])
        .await?
        .as_ref()
        .map(head)
        .transpose()?;
    if stored != last {
        tracing::error!(%tenant, "the head of the record does not fit its last row; run `toolgate audit verify`");
    }
    Ok(stored.unwrap_or_else(|| Head::genesis(tenant)))
}

fn head(row: &Row) -> Result<Head, StoreError> {
    Ok(Head {
        seq: row.int(0)?,
        hash: row.array(1)?,
    })
}

async fn insert(tx: &mut Tx, tenant: &TenantId, row: &SealedRow) -> Result<(), StoreError> {
    // Never fails for a row that was just sealed.
    let columns = row.columns().map_err(|_| StoreError::Column(4))?;
    let values = params![
        tenant,
        row.seq,
        columns.event_id,
        &row.prev,
        &row.bytes,
        &row.hash,
        &row.mac,
        row.algorithm,
        &*row.key_id,
        columns.time_us,
        columns.kind,
        columns.principal,
        columns.capability,
        columns.target_id,
        columns.result,
        columns.correlation_id,
    ];
    tx.execute(INSERT, values).await.map(drop)
}

/// A row with this id, or in this place, stands there. The same event is simply done; a commit whose answer was lost
/// is told apart from a failed one this way.
async fn standing(
    tx: &mut Tx,
    tenant: &TenantId,
    event: &Event,
    row: &SealedRow,
) -> Result<Result<Receipt, Refused>, StoreError> {
    let Some(found) = tx.query_opt(STANDING, params![tenant, event.id]).await? else {
        return Ok(Err(Refused::Taken));
    };
    let same = found.blob(1)? == row.bytes;
    Ok(if same {
        Ok(Receipt::new(found.int(0)?, event.id))
    } else {
        Err(Refused::Other)
    })
}

/// Why one row does not stand.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    /// Another event stands in its place in the chain.
    Taken,
    /// Another event stands there under its id.
    Other,
    Store(StoreError),
}

impl Refused {
    fn into_error(self, tenant: &TenantId) -> JournalError {
        match self {
            Self::Other => return JournalError::Conflict,
            Self::Taken => {
                tracing::error!(%tenant, "the head of the record is behind its rows; run `toolgate audit verify`");
            }
            Self::Store(error) => tracing::error!(%tenant, %error, "a row was refused by the store"),
        }
        JournalError::Unavailable
    }
}
