//! What is left over: intents of a process that died, minutes that ended, failures to be tried again.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::FutureExt;
use tokio::{sync::oneshot, time::MissedTickBehavior};
use toolgate_contract::ids::{EventId, TenantId};

use super::{
    Intent, Journal, JournalError, Room,
    contact::Facts,
    patiently,
    refusals::{Minute, finished_before},
    waiting::{Op, Reply, Work},
};
use crate::{
    audit::{Event, EventKind, Outcome, decode},
    store::{Row, StoreError, params},
};

const LEFT_OVER: &str = "select event_id, time_us, facts from intent where tenant_id = $1 and instance <> $2 \
                         order by event_id limit 256";
const FINISHED: &str = "select minute_us, kind, principal, reason from refusal_counter \
                        where tenant_id = $1 and minute_us < $2 order by minute_us limit 256";
/// The `limit` of both.
const PAGE: usize = 256;

/// How often failures are tried again and ended minutes looked for.
const TICK: Duration = Duration::from_secs(1);
/// How many ticks lie between two looks at everything.
const TICKS_PER_ROUND: u32 = 600;
/// How many lie between a round that failed and the next: left-over calls are to be closed within a minute.
const TICKS_UNTIL_NEXT_TRY: u32 = 5;
/// Tenants in a row that may fail before it is not theirs but the store's failure.
const FAILURES: u32 = 3;
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// What a reconciliation closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// Left-over intents that became rows with result `unknown`.
    pub unknown: usize,
    /// Ended minutes that became rows with a count.
    pub counted: usize,
}

impl Journal {
    /// Closes what is left over, for every tenant. The journal's own task does this at the start and from then on.
    pub async fn reconcile(&self) -> Result<Reconciled, JournalError> {
        self.room.reconcile().await
    }
}

/// Runs the journal's task and tells when it ends in a panic: what it left undone would stay so.
pub(super) async fn watched(room: Weak<Room>, task: impl Future<Output = ()> + Send) {
    if AssertUnwindSafe(task).catch_unwind().await.is_err()
        && let Some(room) = room.upgrade()
    {
        room.give_up("its task panicked");
    }
}

/// The journal's task: everything once, then each second what may have become due. Ends with the journal.
pub(super) async fn keep(room: Weak<Room>) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut until_round = 0_u32;
    loop {
        ticks.tick().await;
        let Some(room) = room.upgrade() else { return };
        room.try_again();
        let due = if until_round == 0 {
            room.reconcile().await.map(drop)
        } else {
            room.roll_minutes().await
        };
        let was_round = until_round == 0;
        until_round = match due {
            Ok(()) if was_round => TICKS_PER_ROUND,
            Err(_) if was_round => TICKS_UNTIL_NEXT_TRY,
            Ok(()) | Err(_) => until_round - 1,
        };
        if let Err(error) = due {
            tracing::warn!(%error, "what is left over could not be closed; it is tried again");
        }
    }
}

impl Room {
    async fn reconcile(self: &Arc<Self>) -> Result<Reconciled, JournalError> {
        let mut closed = Reconciled::default();
        let mut failures = Failures::default();
        for tenant in self.store.tenants().await? {
            failures.note(self.close_everything(&tenant.id, &mut closed).await)?;
        }
        if closed.unknown > 0 {
            tracing::warn!(
                calls = closed.unknown,
                "calls of a process that died were closed as unknown"
            );
        }
        failures.last.map_or(Ok(closed), Err)
    }

    async fn close_everything(
        self: &Arc<Self>,
        tenant: &TenantId,
        closed: &mut Reconciled,
    ) -> Result<(), JournalError> {
        closed.unknown += self.close_left_over(tenant).await?;
        closed.counted += self.roll(tenant).await?;
        self.purge(tenant).await.map_err(JournalError::from)
    }

    /// Rolls the minutes this process counted in.
    pub(super) async fn roll_minutes(self: &Arc<Self>) -> Result<(), JournalError> {
        let before = finished_before(self.clock.wall_us());
        let mut failures = Failures::default();
        for tenant in self.waiting.unrolled(before) {
            let rolled = self.roll(&tenant).await.map(drop);
            if rolled.is_ok() {
                self.waiting.rolled(&tenant, before);
            }
            failures.note(rolled)?;
        }
        failures.last.map_or(Ok(()), Err)
    }

    pub(super) fn try_again(self: &Arc<Self>) {
        if self.waiting.requeue() {
            self.call_the_writer();
        }
    }

    async fn close_left_over(self: &Arc<Self>, tenant: &TenantId) -> Result<usize, JournalError> {
        let mut closed = 0;
        loop {
            let rows = self.left_over(tenant).await?;
            let lapses: Vec<_> = rows
                .iter()
                .filter_map(|row| facts(tenant, row))
                .map(Work::Lapse)
                .collect();
            let usable = lapses.len();
            closed += usable;
            self.carry_out_all(lapses).await?;
            if rows.len() < PAGE || usable == 0 {
                return Ok(closed);
            }
        }
    }

    async fn roll(self: &Arc<Self>, tenant: &TenantId) -> Result<usize, JournalError> {
        let mut rolled = 0;
        loop {
            let rows = self.finished(tenant).await?;
            let rolls: Vec<_> = rows
                .iter()
                .filter_map(|row| minute(tenant, row))
                .map(Work::Roll)
                .collect();
            let usable = rolls.len();
            rolled += usable;
            self.carry_out_all(rolls).await?;
            if rows.len() < PAGE || usable == 0 {
                return Ok(rolled);
            }
        }
    }

    async fn left_over(&self, tenant: &TenantId) -> Result<Vec<Row>, StoreError> {
        let (owner, instance) = (tenant.clone(), self.instance.clone());
        self.store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { tx.query(LEFT_OVER, params![&owner, instance.as_str()]).await })
            })
            .await
    }

    async fn finished(&self, tenant: &TenantId) -> Result<Vec<Row>, StoreError> {
        let (owner, before) = (tenant.clone(), finished_before(self.clock.wall_us()));
        self.store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { tx.query(FINISHED, params![&owner, before]).await })
            })
            .await
    }

    async fn purge(&self, tenant: &TenantId) -> Result<(), StoreError> {
        let before = self.clock.wall_us().saturating_sub(DAY_US);
        self.store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move { tx.forget_closed(before).await })
            })
            .await
    }

    async fn carry_out_all(self: &Arc<Self>, work: Vec<Work>) -> Result<(), JournalError> {
        let mut answers = Vec::with_capacity(work.len());
        for work in work {
            let (reply, answer) = oneshot::channel();
            self.queue_past_the_limit(Op::new(work, Reply::Done(reply)));
            answers.push(answer);
        }
        for answer in answers {
            match patiently(answer).await {
                // Its call is told of already.
                Ok(()) | Err(JournalError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A tenant whose record takes no rows must not keep the others from theirs.
#[derive(Default)]
struct Failures {
    last: Option<JournalError>,
    in_a_row: u32,
}

impl Failures {
    fn note(&mut self, ended: Result<(), JournalError>) -> Result<(), JournalError> {
        let Err(error) = ended else {
            self.in_a_row = 0;
            return Ok(());
        };
        self.last = Some(error);
        self.in_a_row += 1;
        if self.in_a_row < FAILURES {
            Ok(())
        } else {
            Err(error)
        }
    }
}

/// What a left-over intent tells. One whose facts cannot be read is still a call that may have made contact.
fn facts(tenant: &TenantId, row: &Row) -> Option<Facts> {
    let Ok(id) = row.parse::<EventId>(0) else {
        tracing::error!(%tenant, "an intent without a readable id cannot be closed");
        return None;
    };
    let told = row.blob(2).ok().and_then(|bytes| decode(bytes).ok());
    let event = told.unwrap_or_else(|| damaged(row.int(1).unwrap_or_default()));
    Some(Facts::new(tenant.clone(), Intent::new(Event { id, ..event })))
}

fn damaged(time_us: i64) -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us,
        principal: String::new(),
        role: String::new(),
        facade: "system".to_owned(),
        adapter_type: String::new(),
        target_id: None,
        capability: String::new(),
        params_hash: None,
        result: Outcome::Unknown,
        reason: String::new(),
        duration_ms: 0,
        correlation_id: None,
        detail: r#"{"intent":"damaged"}"#.to_owned(),
    }
}

fn minute(tenant: &TenantId, row: &Row) -> Option<Minute> {
    let kind = row.text(1).ok().and_then(EventKind::parse);
    let (Ok(minute_us), Some(kind), Ok(principal), Ok(reason)) = (row.int(0), kind, row.text(2), row.text(3))
    else {
        tracing::error!(%tenant, "a refusal counter that cannot be read stays where it is");
        return None;
    };
    let (principal, reason) = (principal.to_owned(), reason.to_owned());
    Some(Minute {
        tenant: tenant.clone(),
        minute_us,
        kind,
        principal,
        reason,
    })
}
