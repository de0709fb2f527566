//! The threads that own connections, and how they carry out one piece of work.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread::JoinHandle,
};

use futures::future::BoxFuture;

use super::{
    queue::Queue,
    statement::{Mode, SqliteTx},
};
use crate::store::{StoreError, Tx, scope::Scope};

/// A piece of work for a connection's thread.
pub(super) type Job = Box<dyn FnOnce(&mut Tx) + Send>;

/// Starts a thread that serves `queue` with one connection until the queue closes.
pub(super) fn serve(
    name: &str,
    queue: Arc<Queue<Job>>,
    connection: SqliteTx,
) -> Result<JoinHandle<()>, StoreError> {
    let mut tx = Tx::Sqlite(connection);
    let work = move || {
        while let Some(job) = queue.pop() {
            let carried = catch_unwind(AssertUnwindSafe(|| carry(job, &mut tx)));
            if carried.is_err() {
                // Nobody knows what state the connection is in. Whoever waits for it must not wait in vain.
                return queue.abandon();
            }
        }
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| StoreError::Engine(format!("cannot start the thread {name}: {error}")))
}

fn carry(job: Job, tx: &mut Tx) {
    // A job that panics must not take the thread, and with it the store, along.
    if catch_unwind(AssertUnwindSafe(|| job(tx))).is_err() {
        tracing::error!("a job of the store panicked");
    }
    tx.own().rollback();
}

/// Runs `work` in one transaction: committed when it gives `Ok` and is still wanted, else rolled back.
pub(super) fn transact<T, E, F>(
    tx: &mut Tx,
    mode: Mode,
    scope: Scope,
    wanted: impl Fn() -> bool,
    work: F,
) -> Result<T, E>
where
    E: From<StoreError>,
    F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>>,
{
    tx.enter(scope);
    tx.own().begin(mode)?;
    // After a panic nothing of the work is looked at again, and the transaction is rolled back.
    let ended = catch_unwind(AssertUnwindSafe(|| poll_once(work(tx))));
    let outcome = match ended {
        Ok(Some(Ok(_))) if !wanted() => Err(StoreError::Timeout.into()),
        Ok(Some(Ok(value))) => tx.own().commit().map(|()| value).map_err(E::from),
        Ok(Some(Err(error))) => Err(error),
        Ok(None) => Err(StoreError::ForeignAwait.into()),
        Err(_) => Err(StoreError::Panicked.into()),
    };
    if outcome.is_err() {
        tx.own().rollback();
    }
    outcome
}

/// Polls once. Statements are ready at once; `None` means that something else was awaited.
pub(super) fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

impl Tx {
    pub(super) fn enter(&mut self, scope: Scope) {
        self.own().enter(scope);
    }

    /// The embedded transaction: the threads of this back end hold no other.
    fn own(&mut self) -> &mut SqliteTx {
        match self {
            Self::Sqlite(tx) => tx,
            Self::Postgres(_) => {
                unreachable!("the threads of the embedded back end make no other transaction")
            }
        }
    }
}
