//! Writing one batch: every op a few statements, all in one transaction, a failed row without harm to the others.

use std::sync::{MutexGuard, PoisonError};

use toolgate_contract::ids::TenantId;

use super::{
    JournalError, Receipt, Room,
    append::{AT_HAND, AppendError, Chains, Heads},
    contact::Facts,
    refusals::{Count, Minute, event_of},
    waiting::{Batch, Op, Work},
};
use crate::{
    audit::{Event, encode},
    store::{StoreError, Tx, params},
};

const INTEND: &str =
    "insert into intent (tenant_id, event_id, instance, time_us, facts) values ($1, $2, $3, $4, $5)";
const END: &str = "delete from intent where tenant_id = $1 and event_id = $2";
const CLOSE: &str = "insert into intent_closed (tenant_id, event_id, closed_us, result, facts) \
                     values ($1, $2, $3, 'cancelled', $4) on conflict (tenant_id, event_id) do nothing";
const COUNT: &str = "insert into refusal_counter \
                     (tenant_id, minute_us, kind, principal, reason, role, facade, capability, count) \
                     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                     on conflict (tenant_id, minute_us, kind, principal, reason) \
                     do update set count = refusal_counter.count + excluded.count";
const ROLL: &str = "delete from refusal_counter where tenant_id = $1 and minute_us = $2 and kind = $3 \
                    and principal = $4 and reason = $5 returning role, facade, capability, count";
const PROBE: &str = "update health set at_us = $1 where id = 1";

/// What became of one op.
#[derive(Debug)]
pub(super) enum Done {
    /// Nobody waited for it any more; nothing was written.
    Moot,
    /// Carried out, without a row.
    Written,
    /// Carried out; its row stands there.
    Row(Receipt),
    /// Only this op failed.
    Refused(JournalError),
}

impl Room {
    /// Writes a batch in one commit and says what became of each op, in order. A head that somebody else moved is
    /// read anew, once.
    pub(super) async fn write(&self, tx: &mut Tx, batch: &Batch) -> Result<Vec<Done>, AppendError> {
        if let Tx::Postgres(tx) = tx {
            return self.write_at_once(tx, batch).await;
        }
        match self.attempt(tx, batch).await {
            Err(AppendError::HeadLost) => self.attempt(tx, batch).await,
            ended => ended,
        }
    }

    /// Appends one event within somebody else's transaction, as its last statements.
    pub(super) async fn append_alone(
        &self,
        tx: &mut Tx,
        tenant: &TenantId,
        event: &Event,
    ) -> Result<Receipt, JournalError> {
        // Whether that transaction commits is not seen here, so the head at hand is read anew either way.
        self.heads().remove(tenant);
        if let Tx::Postgres(tx) = tx {
            return self.append_alone_at_once(tx, tenant, event).await;
        }
        let mut chains = Chains::new(&self.sealer, Heads::new());
        self.is_sound(&mut chains, tx, tenant).await?;
        let receipt = chains.append(tx, tenant, event).await??;
        chains.move_heads(tx).await?;
        Ok(receipt)
    }

    async fn attempt(&self, tx: &mut Tx, batch: &Batch) -> Result<Vec<Done>, AppendError> {
        let known = std::mem::take(&mut *self.heads());
        let mut chains = Chains::new(&self.sealer, known);
        let ended = self.commit(tx, &mut chains, batch).await;
        if ended.is_err() {
            tx.rollback().await;
        }
        self.keep_heads(if ended.is_ok() {
            chains.committed()
        } else {
            chains.failed()
        });
        ended
    }

    async fn commit(
        &self,
        tx: &mut Tx,
        chains: &mut Chains<'_>,
        batch: &Batch,
    ) -> Result<Vec<Done>, AppendError> {
        tx.begin().await?;
        let mut done = Vec::with_capacity(batch.ops.len());
        for op in &batch.ops {
            done.push(self.carry_out(tx, chains, op).await?);
        }
        for (minute, count) in &batch.counts {
            add_count(tx, minute, count).await?;
        }
        chains.move_heads(tx).await?;
        tx.commit().await?;
        Ok(done)
    }

    async fn carry_out(&self, tx: &mut Tx, chains: &mut Chains<'_>, op: &Op) -> Result<Done, StoreError> {
        if op.is_moot() {
            return Ok(Done::Moot);
        }
        match &op.work {
            Work::Intend(facts) => self.intend(chains, tx, facts).await,
            Work::Record(tenant, event) => self.append(chains, tx, tenant, event).await,
            Work::Settle(facts, event) => ended_by_row(chains, tx, facts, event).await,
            Work::Lapse(facts) => ended_by_row(chains, tx, facts, &facts.event).await,
            Work::Cancel(facts) => {
                let bytes = encode(&facts.event);
                let values = params![&facts.tenant, facts.id(), self.clock.wall_us(), bytes.as_slice()];
                tx.execute(CLOSE, values).await?;
                end(tx, facts).await.map(|()| Done::Written)
            }
            Work::Withdraw(facts) => end(tx, facts).await.map(|()| Done::Written),
            Work::Roll(minute) => {
                self.is_sound(chains, tx, &minute.tenant).await?;
                roll(chains, tx, minute).await
            }
            Work::Probe => {
                tx.execute(PROBE, params![self.clock.wall_us()]).await?;
                Ok(Done::Written)
            }
        }
    }

    /// Whether a row can follow in this chain, which is remembered where it cannot.
    async fn is_sound(
        &self,
        chains: &mut Chains<'_>,
        tx: &mut Tx,
        tenant: &TenantId,
    ) -> Result<bool, StoreError> {
        if self.is_distrusted(tenant) {
            return Ok(false);
        }
        let sound = chains.is_sound(tx, tenant).await?;
        if !sound {
            self.distrust(tenant);
        }
        Ok(sound)
    }

    /// A row, which is written even where the chain is broken: it is evidence.
    async fn append(
        &self,
        chains: &mut Chains<'_>,
        tx: &mut Tx,
        tenant: &TenantId,
        event: &Event,
    ) -> Result<Done, StoreError> {
        self.is_sound(chains, tx, tenant).await?;
        row(chains, tx, tenant, event).await
    }

    async fn intend(&self, chains: &mut Chains<'_>, tx: &mut Tx, facts: &Facts) -> Result<Done, StoreError> {
        // A call whose row could not follow must not make contact.
        if !self.is_sound(chains, tx, &facts.tenant).await? {
            return Ok(Done::Refused(JournalError::Unavailable));
        }
        let bytes = encode(&facts.event);
        let values = params![
            &facts.tenant,
            facts.id(),
            self.instance.as_str(),
            facts.event.time_us,
            bytes.as_slice()
        ];
        match tx.execute(INTEND, values).await {
            Ok(_) => Ok(Done::Written),
            Err(StoreError::Duplicate) => Ok(Done::Refused(JournalError::Conflict)),
            Err(error) if error.is_of_one_row() && tx.is_open() => Ok(Done::Refused(error.into())),
            Err(error) => Err(error),
        }
    }

    /// Keeps the ends of chains for the next batch; past the bound they are read anew.
    pub(super) fn keep_heads(&self, heads: Heads) {
        if heads.len() <= AT_HAND {
            *self.heads() = heads;
        }
    }

    // Held for a moment, never across an await.
    pub(super) fn heads(&self) -> MutexGuard<'_, Heads> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn row(
    chains: &mut Chains<'_>,
    tx: &mut Tx,
    tenant: &TenantId,
    event: &Event,
) -> Result<Done, StoreError> {
    Ok(match chains.append(tx, tenant, event).await? {
        Ok(receipt) => Done::Row(receipt),
        Err(error) => Done::Refused(error),
    })
}

/// A row, and the end of its intent. A row that was refused leaves the intent for another try, unless another row
/// tells of the call already.
async fn ended_by_row(
    chains: &mut Chains<'_>,
    tx: &mut Tx,
    facts: &Facts,
    event: &Event,
) -> Result<Done, StoreError> {
    let done = row(chains, tx, &facts.tenant, event).await?;
    if matches!(done, Done::Row(_) | Done::Refused(JournalError::Conflict)) {
        end(tx, facts).await?;
    }
    Ok(done)
}

async fn end(tx: &mut Tx, facts: &Facts) -> Result<(), StoreError> {
    tx.execute(END, params![&facts.tenant, facts.id()])
        .await
        .map(drop)
}

async fn add_count(tx: &mut Tx, minute: &Minute, count: &Count) -> Result<(), StoreError> {
    let values = params![
        &minute.tenant,
        minute.minute_us,
        minute.kind.as_str(),
        &minute.principal,
        &minute.reason,
        &count.role,
        &count.facade,
        &count.capability,
        count.count,
    ];
    tx.execute(COUNT, values).await.map(drop)
}

async fn roll(chains: &mut Chains<'_>, tx: &mut Tx, minute: &Minute) -> Result<Done, StoreError> {
    let values = params![
        &minute.tenant,
        minute.minute_us,
        minute.kind.as_str(),
        &minute.principal,
        &minute.reason
    ];
    let Some(found) = tx.query_opt(ROLL, values).await? else {
        return Ok(Done::Moot);
    };
    let count = Count {
        role: found.text(0)?.to_owned(),
        facade: found.text(1)?.to_owned(),
        capability: found.text(2)?.to_owned(),
        count: found.int(3)?,
    };
    match chains
        .append(tx, &minute.tenant, &event_of(minute, &count))
        .await?
    {
        Ok(receipt) => Ok(Done::Row(receipt)),
        Err(error) => {
            // The count must outlive its refused row.
            add_count(tx, minute, &count).await?;
            Ok(Done::Refused(error))
        }
    }
}
