//! What waits for the next commit, and who is told of it.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use toolgate_contract::ids::TenantId;

use super::{
    JournalError, Receipt,
    contact::{Facts, Grant},
    refusals::{self, Counts, Minute, Refusal},
};
use crate::audit::Event;

/// Ops that callers may have waiting; one more is refused as overload.
pub(super) const ROOM: usize = 16_384;
/// Most rows of one commit.
const ROWS: usize = 512;
/// Most bytes of one commit.
const BYTES: usize = 1024 * 1024;
/// Most failed ops kept for another try. What is dropped beyond it is found at the next start.
const RETRIES: usize = 65_536;

/// Most of them that are tried again at once.
const RETRIES_AT_ONCE: usize = 4_096;

/// One thing to be made durable.
#[derive(Debug)]
pub(super) enum Work {
    /// An intent.
    Intend(Facts),
    /// A row for an intent, which goes.
    Settle(Facts, Box<Event>),
    /// A row without an intent.
    Record(TenantId, Box<Event>),
    /// An intent closed as cancelled.
    Cancel(Facts),
    /// An intent taken back.
    Withdraw(Facts),
    /// An intent that nobody ended: a row with result `unknown`.
    Lapse(Facts),
    /// A finished minute of a refusal counter: a row with the count.
    Roll(Minute),
    /// A write that proves that writing works.
    Probe,
}

/// Who is told.
#[derive(Debug)]
pub(super) enum Reply {
    Grant(oneshot::Sender<Result<Grant, JournalError>>),
    Receipt(oneshot::Sender<Result<Receipt, JournalError>>),
    Done(oneshot::Sender<Result<(), JournalError>>),
    Nobody,
}

/// Work and who is told of it.
#[derive(Debug)]
pub(super) struct Op {
    pub(super) work: Work,
    pub(super) reply: Reply,
}

impl Op {
    pub(super) fn new(work: Work, reply: Reply) -> Self {
        Self { work, reply }
    }

    /// True when it is an intent nobody waits for any more: its target will not be contacted.
    pub(super) fn is_moot(&self) -> bool {
        matches!((&self.work, &self.reply), (Work::Intend(_), Reply::Grant(reply)) if reply.is_closed())
    }

    /// About what it adds to a commit.
    fn bytes(&self) -> usize {
        let event = match &self.work {
            Work::Intend(facts) | Work::Lapse(facts) => &facts.event,
            Work::Settle(_, event) | Work::Record(_, event) => event.as_ref(),
            Work::Cancel(_) | Work::Withdraw(_) | Work::Roll(_) | Work::Probe => return 256,
        };
        512 + event.capability.len() + event.principal.len() + event.detail.len()
    }
}

impl Reply {
    pub(super) fn refuse(self, error: JournalError) {
        // Whoever is gone needs no answer.
        match self {
            Self::Grant(reply) => drop(reply.send(Err(error))),
            Self::Receipt(reply) => drop(reply.send(Err(error))),
            Self::Done(reply) => drop(reply.send(Err(error))),
            Self::Nobody => {}
        }
    }
}

/// What one commit takes.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) ops: Vec<Op>,
    pub(super) counts: refusals::Waiting,
}

/// Everything that waits.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    ops: VecDeque<Op>,
    counts: Counts,
    retries: VecDeque<Op>,
    /// Minutes this process counted in and did not roll yet.
    unrolled: BTreeSet<(i64, TenantId)>,
    /// True while the writer is called or at work; then it need not be called again.
    called: bool,
    closed: bool,
}

impl Waiting {
    /// Queues an op. True when the writer must be called.
    pub(super) fn push(&self, op: Op) -> Result<bool, JournalError> {
        let mut state = self.state();
        if state.closed {
            return Err(JournalError::Unavailable);
        }
        if state.ops.len() >= ROOM {
            return Err(JournalError::Overloaded);
        }
        state.ops.push_back(op);
        Ok(state.call())
    }

    /// Queues an op that must not be turned away. True when the writer must be called.
    pub(super) fn push_past_the_limit(&self, op: Op) -> bool {
        let mut state = self.state();
        state.ops.push_back(op);
        state.call()
    }

    /// Counts a refusal. True when the writer must be called.
    pub(super) fn count(&self, refusal: Refusal, minute_us: i64) -> bool {
        let mut state = self.state();
        state.unrolled.insert((minute_us, refusal.tenant.clone()));
        state.counts.add(refusal, minute_us);
        state.call()
    }

    /// What the next commit takes, in the order it came.
    pub(super) fn take(&self) -> Batch {
        let mut state = self.state();
        let (mut rows, mut bytes) = (0, 0);
        for op in &state.ops {
            bytes += op.bytes();
            if rows == ROWS || (rows > 0 && bytes > BYTES) {
                break;
            }
            rows += 1;
        }
        let counts = state.counts.take();
        Batch {
            ops: state.ops.drain(..rows).collect(),
            counts,
        }
    }

    /// Ends the writer's turn. True when more waits and the writer must be called again.
    pub(super) fn end_turn(&self) -> bool {
        let mut state = self.state();
        state.called = !state.ops.is_empty() || !state.counts.is_empty();
        state.called
    }

    /// Keeps an op for another try.
    pub(super) fn retry_later(&self, work: Work) {
        let mut state = self.state();
        if state.retries.len() < RETRIES {
            state.retries.push_back(Op::new(work, Reply::Nobody));
        } else {
            tracing::error!("too many ops of the journal failed; their calls are closed at the next start");
        }
    }

    /// Takes back counts whose commit failed; they go with the next.
    pub(super) fn count_again(&self, counts: refusals::Waiting) {
        let mut state = self.state();
        state
            .unrolled
            .extend(counts.keys().map(|key| (key.minute_us, key.tenant.clone())));
        state.counts.merge(counts);
    }

    /// The tenants with minutes that start before this and are not rolled yet.
    pub(super) fn unrolled(&self, before_us: i64) -> BTreeSet<TenantId> {
        let state = self.state();
        let due = state
            .unrolled
            .iter()
            .take_while(|(minute_us, _)| *minute_us < before_us);
        due.map(|(_, tenant)| tenant.clone()).collect()
    }

    /// Notes that a tenant's minutes before this are rolled.
    pub(super) fn rolled(&self, tenant: &TenantId, before_us: i64) {
        self.state()
            .unrolled
            .retain(|(minute_us, other)| *minute_us >= before_us || other != tenant);
    }

    /// Queues what failed before. True when the writer must be called.
    pub(super) fn requeue(&self) -> bool {
        let mut state = self.state();
        // Only so many at a time: a chain that takes no rows must not keep the others waiting.
        let due = state.retries.len().min(RETRIES_AT_ONCE);
        let again: Vec<_> = state.retries.drain(..due).collect();
        state.ops.extend(again);
        !(state.ops.is_empty() && state.counts.is_empty()) && state.call()
    }

    /// Takes everything out, for when there is no writer any more.
    pub(super) fn abandon(&self) -> Vec<Op> {
        let mut state = self.state();
        state.called = false;
        state.ops.drain(..).collect()
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().closed
    }

    // Nothing under this lock can panic half-way but for want of memory.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn call(&mut self) -> bool {
        !std::mem::replace(&mut self.called, true)
    }
}
