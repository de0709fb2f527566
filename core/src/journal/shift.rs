//! The writer's turns: call it when there is work, write one batch, tell everyone, call it again if more waits.

use std::sync::Arc;

use super::{
    JournalError, Room,
    batch::Done,
    bulk::tenant_of,
    contact::Grant,
    waiting::{Batch, Op, Reply, Work},
};
use crate::store::Tx;

/// One turn of the writer. When it ends, the next one is called if more waits; when it panics, or is never taken
/// because the store has ended, there is no next one.
pub(super) struct Turn {
    room: Arc<Room>,
    taken: bool,
}

impl Room {
    /// Asks the store for its write connection. Called when nothing was waiting before, so there is one call at a
    /// time.
    pub(super) fn call_the_writer(self: &Arc<Self>) {
        let turn = Turn::new(self);
        // A turn that is refused is dropped, and gives up.
        let _ = self.store.lend_to_journal(move |tx| Box::pin(turn.take(tx)));
    }

    /// Ends the record in this process: what was to be written is in doubt, so nothing more is taken, and whoever
    /// watches is told.
    pub(super) fn give_up(&self, why: &'static str) {
        if !self.ended.is_cancelled() && !self.waiting.is_closed() {
            tracing::error!(why, "what writes the record has ended");
        }
        self.ended.cancel();
        self.refuse_all();
    }

    pub(super) fn refuse_all(&self) {
        for op in self.waiting.abandon() {
            op.reply.refuse(JournalError::Ended);
        }
    }

    fn tell(self: &Arc<Self>, op: Op, done: Done) {
        match (op.work, op.reply, done) {
            (Work::Intend(facts), Reply::Grant(reply), Done::Written) => {
                // Whoever is gone by now drops the grant, which withdraws the intent.
                let _ = reply.send(Ok(Grant::new(facts, Arc::clone(self))));
            }
            (_, Reply::Receipt(reply), Done::Row(receipt)) => drop(reply.send(Ok(receipt))),
            (work, reply, Done::Refused(error)) => self.failed(Op { work, reply }, error),
            (_, Reply::Done(reply), Done::Moot | Done::Written | Done::Row(_)) => drop(reply.send(Ok(()))),
            (_, _, Done::Moot | Done::Written | Done::Row(_)) => {}
        }
    }

    fn all_failed(&self, batch: Batch, error: JournalError) {
        for op in batch.ops {
            self.failed(op, error);
        }
        self.waiting.count_again(batch.counts);
    }

    /// Tells whoever waits, and keeps what ends a contact for another try: it must be done some time. So must the end
    /// of an intent whose commit failed, for its answer may have been lost, not the intent. What the reconciler waits
    /// for it finds again in the store.
    fn failed(&self, Op { work, reply }: Op, error: JournalError) {
        let later = match work {
            _ if error == JournalError::Conflict => None,
            Work::Intend(facts) => Some(Work::Withdraw(facts)),
            Work::Lapse(_) if !matches!(reply, Reply::Nobody) => None,
            Work::Settle(..) | Work::Lapse(_) | Work::Cancel(_) | Work::Withdraw(_) => Some(work),
            Work::Record(..) | Work::Roll(_) | Work::Probe => None,
        };
        if let Some(work) = later {
            self.waiting.retry_later(work);
        }
        reply.refuse(error);
    }
}

impl Turn {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self {
            room: Arc::clone(room),
            taken: false,
        }
    }

    async fn take(mut self, tx: &mut Tx) {
        self.taken = true;
        let room = &self.room;
        let batch = room.waiting.take();
        let started = room.clock.monotonic();
        match room.write(tx, &batch).await {
            Ok(done) => {
                // Intents may find room where rows do not.
                room.note_commit(done.iter().any(|done| matches!(done, Done::Row(_))));
                let took = room.clock.monotonic().saturating_sub(started);
                metrics::histogram!("toolgate_journal_commit_seconds").record(took);
                metrics::histogram!("toolgate_journal_commit_ops").record(batch.ops.len() as f64);
                let rows = batch.ops.iter().zip(&done);
                let rows = rows.filter(|(_, done)| matches!(done, Done::Row(_)));
                room.progress
                    .add(rows.filter_map(|(op, _)| tenant_of(op)).map(|tenant| (tenant, 1)));
                for (op, done) in batch.ops.into_iter().zip(done) {
                    room.tell(op, done);
                }
            }
            Err(error) => {
                room.note_failure();
                metrics::counter!("toolgate_journal_failed_commits_total").increment(1);
                room.all_failed(batch, error.into());
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.room.give_up("a commit panicked");
        } else if !self.taken {
            self.room.give_up("the store takes no more work");
        } else if self.room.waiting.end_turn() {
            self.room.call_the_writer();
        }
    }
}
