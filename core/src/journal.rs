//! What must be durable, and the proofs that it is.
//!
//! An intent is durable before a target is contacted ([`Contact`]), a chained row before anything is released
//! ([`Receipt`]). Rows of all tenants ride in one group commit: the store's writer commits what is queued as soon as
//! the commit before has ended; no timer waits for more. What was queued is carried out although its caller vanished.
//! This room knows nothing of tools, roles or dialects, and never looks into what an event says.

mod append;
mod batch;
mod bulk;
mod contact;
mod error;
mod reconcile;
mod refusals;
mod shift;
mod waiting;

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{sync::oneshot, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::{EventId, TenantId};

use self::{
    append::Heads,
    contact::Facts,
    error::Failed,
    waiting::{Op, Reply, Waiting, Work},
};
pub use self::{
    contact::{Contact, Intent, Receipt},
    error::JournalError,
    reconcile::Reconciled,
    refusals::Refusal,
};
use crate::{
    anchor::Progress,
    audit::{Event, Sealer},
    clock::Clock,
    store::{Store, Tx},
};

/// How long a caller waits for durability before it is told that there is none; the answer is out within two seconds.
const PATIENCE: Duration = Duration::from_millis(1_800);
/// A commit this recent answers a health check without another.
const FRESH: Duration = Duration::from_secs(1);
/// A commit that failed this recently answers it with no, unless a row was committed since.
const DOUBT: Duration = Duration::from_secs(5);

/// The journal. Clones share it.
#[derive(Debug, Clone)]
pub struct Journal {
    room: Arc<Room>,
    keeper: Arc<Keeper>,
}

/// What contacts, jobs of the writer and handles share.
pub(crate) struct Room {
    store: Store,
    sealer: Sealer,
    clock: Clock,
    /// Marks the intents of this process; others' are left over from a crash.
    instance: String,
    waiting: Waiting,
    /// Ends of chains, as of the last commit. Only the writer's thread takes them, so nobody waits here.
    heads: Mutex<Heads>,
    /// When a commit last succeeded, monotonic microseconds plus one; 0 for never.
    committed: AtomicU64,
    /// When a commit last failed and none with a row in it has succeeded since; the same measure.
    failed: AtomicU64,
    /// Tells the keeper of checkpoints how much was committed.
    progress: Arc<Progress>,
    /// Fires when what the record depends on has ended by itself.
    ended: CancellationToken,
}

/// Owns the journal's one task and ends it with the last handle.
#[derive(Debug)]
struct Keeper(Mutex<Option<JoinHandle<()>>>);

impl Journal {
    /// Starts the journal and the task that closes what is left over. Wants a tokio runtime.
    #[must_use]
    pub fn start(store: Store, sealer: Sealer, clock: Clock) -> Self {
        let room = Arc::new(Room {
            store,
            sealer,
            clock,
            instance: EventId::mint().to_string(),
            waiting: Waiting::default(),
            heads: Mutex::default(),
            committed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            progress: Arc::default(),
            ended: CancellationToken::new(),
        });
        let kept = Arc::downgrade(&room);
        let task = tokio::spawn(reconcile::watched(Arc::downgrade(&room), reconcile::keep(kept)));
        Self {
            room,
            keeper: Arc::new(Keeper(Mutex::new(Some(task)))),
        }
    }

    /// Makes it durable that a target is about to be contacted. A caller that vanishes leaves no intent behind.
    pub async fn intend(&self, tenant: &TenantId, intent: Intent) -> Result<Contact, JournalError> {
        let (reply, answer) = oneshot::channel();
        let facts = Facts::new(tenant.clone(), intent);
        self.room
            .queue(Op::new(Work::Intend(facts), Reply::Grant(reply)))?;
        patiently(answer).await.map(contact::Grant::accept)
    }

    /// Puts the outcome of a contact on the record and removes the intent, in one commit. The row takes the intent's
    /// id.
    pub async fn settle(&self, contact: Contact, event: Event) -> Result<Receipt, JournalError> {
        self.settle_shared(&contact, event).await
    }

    /// Like [`Journal::settle`], for a call that ends while an errand that it began goes on for others: from now on the
    /// errand is covered by the row.
    pub async fn settle_shared(&self, contact: &Contact, event: Event) -> Result<Receipt, JournalError> {
        let (reply, answer) = oneshot::channel();
        let facts = contact.spend();
        let event = Box::new(Event {
            id: facts.id(),
            ..event
        });
        self.room
            .queue_past_the_limit(Op::new(Work::Settle(facts, event), Reply::Receipt(reply)));
        patiently(answer).await
    }

    /// Puts an event on the record that follows no contact.
    pub async fn record(&self, tenant: &TenantId, event: Event) -> Result<Receipt, JournalError> {
        let (reply, answer) = oneshot::channel();
        let work = Work::Record(tenant.clone(), Box::new(event));
        self.room.queue(Op::new(work, Reply::Receipt(reply)))?;
        patiently(answer).await
    }

    /// Closes the intent of a read whose caller left after contact: as cancelled, unchained, kept for 24 hours.
    pub async fn close_cancelled(&self, contact: Contact) -> Result<(), JournalError> {
        self.end(contact, Work::Cancel).await
    }

    /// Removes the intent of a call whose caller left before contact.
    pub async fn withdraw(&self, contact: Contact) -> Result<(), JournalError> {
        self.end(contact, Work::Withdraw).await
    }

    /// Counts a refusal towards the one row that its minute will have. Does not wait.
    pub fn count_refusal(&self, refusal: Refusal) {
        let minute_us = refusals::minute_of(self.room.clock.wall_us());
        if self.room.waiting.count(refusal, minute_us) {
            self.room.call_the_writer();
        }
    }

    /// Carries out a change of a tenant's configuration and puts its event on the record, in one transaction, and
    /// bumps the tenant's version. Carried out to the end although its caller vanished.
    pub async fn with<T, E, W, V>(&self, tenant: &TenantId, work: W, event: V) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + Send + 'static,
        W: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
        V: FnOnce(&T) -> Event + Send + 'static,
    {
        self.with_rows(tenant, work, |value| vec![event(value)]).await
    }

    /// Like [`Journal::with`], for a change that is several events, or none where it changed nothing: then the version
    /// stays.
    pub async fn with_rows<T, E, W, V>(&self, tenant: &TenantId, work: W, events: V) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + Send + 'static,
        W: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
        V: FnOnce(&T) -> Vec<Event> + Send + 'static,
    {
        let (room, owner) = (Arc::clone(&self.room), tenant.clone());
        let change = self.room.store.with_tenant_to_the_end(tenant, move |tx| {
            Box::pin(async move {
                let value = work(&mut *tx).await.map_err(Failed::Work)?;
                let events = events(&value);
                for event in &events {
                    room.append_alone(tx, &owner, event).await?;
                }
                if !events.is_empty() {
                    tx.bump_version().await?;
                }
                Ok(value)
            })
        });
        change.await.map_err(Failed::into_error)
    }

    /// Puts an event on the record together with the change that it tells of, in one transaction. Carried out to the end
    /// although its caller vanished.
    pub async fn record_with<E, W>(&self, tenant: &TenantId, work: W, event: Event) -> Result<Receipt, E>
    where
        E: From<JournalError> + Send + 'static,
        W: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<(), E>> + Send + 'static,
    {
        let (room, owner) = (Arc::clone(&self.room), tenant.clone());
        let change = self.room.store.with_tenant_to_the_end(tenant, move |tx| {
            Box::pin(async move {
                work(&mut *tx).await.map_err(Failed::Work)?;
                let receipt = room.append_alone(tx, &owner, &event).await?;
                tx.bump_version().await?;
                Ok(receipt)
            })
        });
        change.await.map_err(Failed::into_error)
    }

    /// What the journal tells the keeper of checkpoints: rows of its group commits. Rows of configuration changes ride
    /// elsewhere and are too few to count.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.room.progress)
    }

    /// Waits until what the record depends on has ended by itself. Then nothing is taken any more, and the process
    /// should end: the next start finds out how far the record came.
    pub async fn ended(&self) {
        self.room.ended.cancelled().await;
    }

    /// Ends the record where what is written to it would not be there at the next start.
    pub fn end_if_displaced(&self) {
        if !self.room.ended.is_cancelled()
            && let Err(error) = self.room.store.in_place()
        {
            tracing::error!(%error, "the record has no place any more");
            self.room.give_up("the database file is gone");
        }
    }

    /// Refuses this tenant's calls from now on, since its chain was found broken.
    pub fn distrust(&self, tenant: &TenantId) {
        self.room.distrust(tenant);
    }

    /// Says whether the record can be written.
    pub async fn check(&self) -> Result<(), JournalError> {
        if self.room.ended.is_cancelled() {
            return Err(JournalError::Ended);
        }
        // A probe is small, and may find room where a call's rows do not.
        if self.room.is_within(&self.room.failed, DOUBT) {
            return Err(JournalError::Unavailable);
        }
        if self.room.is_within(&self.room.committed, FRESH) {
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        self.room.queue(Op::new(Work::Probe, Reply::Done(reply)))?;
        patiently(answer).await
    }

    /// Takes no more, and returns when everything queued is durable or has failed.
    pub async fn close(&self) {
        self.keeper.end();
        let (reply, answer) = oneshot::channel();
        self.room
            .queue_past_the_limit(Op::new(Work::Probe, Reply::Done(reply)));
        self.room.waiting.close();
        if let Err(error) = patiently(answer).await {
            tracing::error!(%error, "the journal was closed with work undone");
        }
    }

    async fn end(&self, contact: Contact, how: fn(Facts) -> Work) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        let work = how(contact.spend());
        self.room.queue_past_the_limit(Op::new(work, Reply::Done(reply)));
        patiently(answer).await
    }
}

impl Room {
    fn queue(self: &Arc<Self>, op: Op) -> Result<(), JournalError> {
        if self.ended.is_cancelled() {
            return Err(JournalError::Ended);
        }
        if self.waiting.push(op)? {
            self.call_the_writer();
        }
        Ok(())
    }

    /// For what ends a contact: there are no more of these than contacts, and none may be turned away.
    fn queue_past_the_limit(self: &Arc<Self>, op: Op) {
        if self.ended.is_cancelled() {
            return op.reply.refuse(JournalError::Ended);
        }
        if self.waiting.push_past_the_limit(op) {
            self.call_the_writer();
        }
        // It may have ended meanwhile.
        if self.ended.is_cancelled() {
            self.refuse_all();
        }
    }

    fn is_within(&self, mark: &AtomicU64, span: Duration) -> bool {
        let then = mark.load(Ordering::Relaxed);
        let age = self
            .clock
            .monotonic()
            .checked_sub(Duration::from_micros(then.saturating_sub(1)));
        then > 0 && age.is_some_and(|age| age < span)
    }

    /// Rows that follow a break would make head and last row fit again, and hide it from whoever only looks at these.
    fn distrust(&self, tenant: &TenantId) {
        if self.progress.distrust(tenant) {
            metrics::counter!("toolgate_journal_broken_chains_total").increment(1);
            tracing::error!(%tenant, "the record of a tenant is broken, so its calls are refused and nothing of it is signed until the gateway is started anew; run `toolgate audit verify`");
        }
    }

    fn is_distrusted(&self, tenant: &TenantId) -> bool {
        self.progress.is_distrusted(tenant)
    }

    fn note_commit(&self, with_row: bool) {
        self.committed.store(self.now(), Ordering::Relaxed);
        if with_row {
            self.failed.store(0, Ordering::Relaxed);
        }
    }

    fn note_failure(&self) {
        self.committed.store(0, Ordering::Relaxed);
        self.failed.store(self.now(), Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.clock.monotonic().as_micros())
            .unwrap_or(u64::MAX)
            .saturating_add(1)
    }
}

impl Keeper {
    fn end(&self) {
        let task = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        if let Some(task) = task {
            task.abort();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

async fn patiently<T>(answer: oneshot::Receiver<Result<T, JournalError>>) -> Result<T, JournalError> {
    match tokio::time::timeout(PATIENCE, answer).await {
        Ok(Ok(outcome)) => outcome,
        // Dropped unanswered, or not answered in time.
        Ok(Err(_)) | Err(_) => Err(JournalError::Unavailable),
    }
}

#[cfg(test)]
mod tests;
