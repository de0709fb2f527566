//! The journal's own connection: nobody waits for it in a pool, and whoever holds it is the one gateway of its database.
//!
//! One task serves loans, one at a time, as the writer's thread does on the embedded store.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::task::TaskTracker;

use super::{PostgresTx, connect::Connector, door::watched, failure::store_error, line::Line};
use crate::store::{StoreError, Tx};

/// `toolgate`, as a number. Held by the session of the one gateway that serves a database.
const ONE_GATEWAY: i64 = 0x746f_6f6c_6761_7465;
const HOLD: &str = "select pg_try_advisory_lock($1), a.pid, a.backend_start::text \
    from pg_catalog.pg_stat_activity a where a.pid = pg_catalog.pg_backend_pid()";
/// A session is known by its start as well, since numbers of processes come again.
const END: &str = "select pg_catalog.pg_terminate_backend(a.pid) from pg_catalog.pg_stat_activity a \
    where a.pid = $1 and a.backend_start::text = $2";
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// The journal asks for its next loan within the one at hand, so one place would do.
const LOANS: usize = 4;

/// A piece of the journal's work.
pub(super) type Loan = Box<dyn for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, ()> + Send>;

/// Where the journal's connection comes from.
#[derive(Debug)]
pub(super) struct JournalLine {
    connector: Connector,
    /// The session that had the place last, by its process and its start.
    last: Mutex<Option<(i32, String)>>,
}

impl JournalLine {
    pub(super) fn new(connector: Connector) -> Self {
        Self {
            connector,
            last: Mutex::default(),
        }
    }

    /// Connects and takes the place of the one gateway. Where this gateway's own former session still has it, because
    /// the server did not see it go, that session is ended. Another's end is waited for until the deadline: it may be a
    /// predecessor that was killed.
    pub(super) async fn open(&self, until: Instant) -> Result<Line, StoreError> {
        let line = self.connector.open(until).await?;
        loop {
            if let Some(session) = hold(&line, until).await? {
                *self.last() = Some(session);
                return Ok(line);
            }
            let last = self.last().clone();
            if let Some((process, start)) = last {
                tracing::warn!(
                    process,
                    "a session of this gateway that the server still kept is ended"
                );
                answer(until, line.query(END, &[&process, &start])).await?;
            }
            if Instant::now() + AGAIN_AFTER >= until {
                return Err(StoreError::Served {
                    address: self.connector.url().to_string(),
                });
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<(i32, String)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This session, when it has the place now.
async fn hold(line: &Line, until: Instant) -> Result<Option<(i32, String)>, StoreError> {
    let row = answer(until, line.query_one(HOLD, &[&ONE_GATEWAY])).await?;
    let is_held: bool = row.try_get(0).map_err(|_| StoreError::Column(0))?;
    let process = row.try_get(1).map_err(|_| StoreError::Column(1))?;
    let start = row.try_get(2).map_err(|_| StoreError::Column(2))?;
    Ok(is_held.then_some((process, start)))
}

async fn answer<T>(
    until: Instant,
    question: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, StoreError> {
    match timeout_at(until, question).await {
        Ok(answer) => answer.map_err(|failure| store_error(&failure)),
        Err(_) => Err(StoreError::Timeout),
    }
}

/// The queue of loans and the task behind it.
#[derive(Debug)]
pub(super) struct Loans(mpsc::Sender<Loan>);

impl Loans {
    /// Starts the task; it ends when this handle is dropped.
    pub(super) fn serve(tx: PostgresTx, tasks: &TaskTracker) -> Self {
        let (sender, loans) = mpsc::channel(LOANS);
        tasks.spawn(serve(Tx::Postgres(tx), loans));
        Self(sender)
    }

    /// Queues a loan; never waits.
    pub(super) fn lend(&self, loan: Loan) -> Result<(), StoreError> {
        self.0.try_send(loan).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => StoreError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => StoreError::Closed,
        })
    }
}

async fn serve(mut tx: Tx, mut loans: mpsc::Receiver<Loan>) {
    while let Some(loan) = loans.recv().await {
        let Tx::Postgres(own) = &tx else { return };
        let asking = own.asking();
        match watched(async { loan(&mut tx).await }, &asking).await {
            Ok(()) => {}
            Err(StoreError::Panicked) => {
                tracing::error!("a job of the journal panicked");
                tx.give_up();
            }
            Err(_) => tracing::error!("the journal awaited something other than the store"),
        }
        tx.rollback().await;
    }
}
