//! PostgreSQL: a small pool for doors, one connection of its own for the journal, and a task for every piece of work.
//!
//! Work runs in a task that the store owns, so a caller that leaves never leaves a transaction open: before the commit
//! the task looks whether anybody still waits. Every step has a deadline on this side, because a server that is paused
//! answers nothing, not even that it is late. A connection that failed, or whose state is in doubt, is closed; only one
//! that ended its transaction by an answer goes back to the pool.

mod checkout;
mod connect;
mod door;
mod failure;
mod flow;
pub(crate) mod journal;
mod journal_line;
mod known;
mod line;
mod lint;
pub mod schema;
mod settings;
mod tls;
mod transaction;
mod turns;
mod values;

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolConfig, RecyclingMethod, Runtime};
use futures::future::BoxFuture;
use tokio::{
    sync::{Semaphore, oneshot},
    time::{Instant, timeout_at},
};
use tokio_util::task::TaskTracker;

pub(crate) use self::transaction::PostgresTx;
use self::{
    connect::Connector,
    door::Door,
    journal_line::{JournalLine, Loan, Loans},
    known::Known,
    turns::Turns,
};
use super::{DatabaseUrl, IfGone, StoreConfig, StoreError, Tx, scope::Scope};

/// The PostgreSQL back end.
#[derive(Debug, Clone)]
pub(super) struct Postgres(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    door: Arc<Door>,
    /// Places in front of the pool and on it.
    places: Arc<Semaphore>,
    /// Nothing is lent where the store only reads.
    loans: Option<Loans>,
    tasks: TaskTracker,
    deadline: Duration,
}

/// Whether a transaction may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// One snapshot, nothing else.
    Read,
    Write,
}

impl Postgres {
    /// Connects, makes sure that the database is fit, and takes the place of the gateway that serves it.
    pub(super) async fn open(url: DatabaseUrl, config: StoreConfig) -> Result<Self, StoreError> {
        let tasks = TaskTracker::new();
        let connector = Connector::new(url, tasks.clone(), config.deadline)?;
        let opening = Instant::now() + config.deadline;
        let first = connector.open(opening).await?;
        settings::check_version(&first, opening).await?;
        schema::refuse_behind(&first, connector.url(), opening).await?;
        if !config.read_only {
            if config.insist_on_durability {
                settings::check_durability(&first, opening).await?;
            }
            lint::refuse_unfit(&first, opening).await?;
        }
        drop(first);
        let known = Arc::new(known(&config));
        let loans = match config.read_only {
            true => None,
            false => {
                let line = Arc::new(JournalLine::new(connector.clone()));
                let held = line.open(Instant::now() + config.take_over_within).await?;
                let tx = PostgresTx::of_journal(line, held, Arc::clone(&known), config.deadline);
                Some(Loans::serve(tx, &tasks))
            }
        };
        let door = Door {
            pool: pool(connector.clone(), config.connections)?,
            turns: Turns::over(config.connections),
            connector,
            known,
        };
        Ok(Self(Arc::new(Inner {
            door: Arc::new(door),
            places: Arc::new(Semaphore::new(config.queue + config.connections)),
            loans,
            tasks,
            deadline: config.deadline,
        })))
    }

    pub(super) async fn write<T, E, F>(&self, scope: Scope, if_gone: IfGone, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        if self.0.loans.is_none() {
            return Err(StoreError::Closed.into());
        }
        self.run(Mode::Write, scope, if_gone, work).await
    }

    pub(super) async fn read<T, E, F>(&self, scope: Scope, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.run(Mode::Read, scope, IfGone::RollBack, work).await
    }

    /// Lends the journal its connection. The work gets its transaction even where the server is away; then it fails
    /// to begin.
    pub(super) fn lend<F>(&self, work: F) -> Result<(), StoreError>
    where
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, ()> + Send + 'static,
    {
        let loan: Loan = Box::new(work);
        self.0.loans.as_ref().ok_or(StoreError::Closed)?.lend(loan)
    }

    async fn run<T, E, F>(&self, mode: Mode, scope: Scope, if_gone: IfGone, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let Ok(place) = Arc::clone(&self.0.places).try_acquire_owned() else {
            return Err(StoreError::Overloaded.into());
        };
        let until = Instant::now() + self.0.deadline;
        let (reply, answer) = oneshot::channel();
        let door = Arc::clone(&self.0.door);
        self.0.tasks.spawn(async move {
            door.pass(mode, scope, until, if_gone, reply, work).await;
            drop(place);
        });
        match timeout_at(until, answer).await {
            Ok(Ok(outcome)) => outcome,
            // The task ended unanswered: the runtime shuts down.
            Ok(Err(_)) => Err(StoreError::Closed.into()),
            Err(_) => Err(StoreError::Timeout.into()),
        }
    }
}

#[cfg(not(test))]
fn known(_: &StoreConfig) -> Known {
    Known::default()
}

#[cfg(test)]
fn known(config: &StoreConfig) -> Known {
    if config.strip_tenants {
        Known::stripping()
    } else {
        Known::default()
    }
}

fn pool(connector: Connector, size: usize) -> Result<Pool, StoreError> {
    // Whether a connection is fit for use is seen at the checkout, by its first statement.
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let manager = Manager::from_connect(connector.url().config().clone(), connector, recycling);
    let built = Pool::builder(manager)
        .config(PoolConfig::new(size.max(1)))
        .runtime(Runtime::Tokio1)
        .build();
    built.map_err(|error| StoreError::Engine(error.to_string()))
}

#[cfg(test)]
pub(crate) mod tests;
