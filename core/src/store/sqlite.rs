//! The embedded back end: one thread owns the write connection, a few own one read connection each.
//!
//! Work runs on those threads and is polled there once: its statements are ready at once, and whatever else it might
//! await never will be. So no transaction can stay open for a caller's sake.

mod connection;
mod dialect;
mod place;
mod queue;
mod statement;
mod worker;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::sync::oneshot;

pub(super) use self::statement::{Mode, SqliteTx};

use self::{
    connection::{open_reader, open_writer},
    place::Place,
    queue::Queue,
    worker::{Job, poll_once, serve, transact},
};
use super::{IfGone, StoreConfig, StoreError, Tx, scope::Scope};

/// The embedded back end.
#[derive(Debug, Clone)]
pub(super) struct Sqlite(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    writes: Arc<Queue<Job>>,
    reads: Arc<Queue<Job>>,
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
    deadline: Duration,
    place: Place,
}

impl Sqlite {
    /// Opens the file, migrates it and starts the threads.
    pub(super) async fn open(path: PathBuf, config: StoreConfig) -> Result<Self, StoreError> {
        // Opening reads and writes the disk, so it happens off the callers' threads.
        let opened = tokio::task::spawn_blocking(move || start(&path, &config)).await;
        opened
            .unwrap_or(Err(StoreError::Panicked))
            .map(|inner| Self(Arc::new(inner)))
    }

    pub(super) async fn write<T, E, F>(&self, scope: Scope, if_gone: IfGone, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.run(&self.0.writes, Mode::Write, scope, if_gone, work).await
    }

    pub(super) async fn read<T, E, F>(&self, scope: Scope, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        self.run(&self.0.reads, Mode::Read, scope, IfGone::RollBack, work)
            .await
    }

    /// Whether the open file is still the one at its path.
    pub(super) fn in_place(&self) -> Result<(), StoreError> {
        self.0.place.check()
    }

    pub(super) fn lend<F>(&self, work: F) -> Result<(), StoreError>
    where
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, ()> + Send + 'static,
    {
        let job: Job = Box::new(move |tx| {
            tx.enter(Scope::Journal);
            if poll_once(work(tx)).is_none() {
                tracing::error!("the journal awaited something other than the store");
            }
        });
        self.0.writes.push_past_the_limit(job)
    }

    #[cfg(test)]
    pub(super) fn abandon_writer(&self) {
        self.0.writes.abandon();
    }

    async fn run<T, E, F>(
        &self,
        queue: &Queue<Job>,
        mode: Mode,
        scope: Scope,
        if_gone: IfGone,
        work: F,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |tx| {
            let wanted = || if_gone == IfGone::CarryOn || !reply.is_closed();
            if wanted() {
                let outcome = transact(tx, mode, scope, wanted, work);
                // A caller that is gone needs no answer.
                let _ = reply.send(outcome);
            }
        });
        queue.push(job)?;
        match tokio::time::timeout(self.0.deadline, answer).await {
            Ok(Ok(outcome)) => outcome,
            // The thread dropped the job unanswered: the work panicked beyond its own guard, or the store closed.
            Ok(Err(_)) => Err(StoreError::Closed.into()),
            Err(_) => Err(StoreError::Timeout.into()),
        }
    }
}

fn start(path: &Path, config: &StoreConfig) -> Result<Inner, StoreError> {
    let writer = match config.read_only {
        true => None,
        false => Some(open_writer(path)?),
    };
    let mut inner = Inner {
        place: Place::of(path),
        writes: Arc::new(Queue::new(config.queue)),
        reads: Arc::new(Queue::new(config.queue)),
        writer: None,
        readers: Vec::with_capacity(config.connections),
        deadline: config.deadline,
    };
    match writer {
        None => inner.writes.close(),
        Some(writer) => {
            inner.writer = Some(serve("store-writer", Arc::clone(&inner.writes), writer)?);
        }
    }
    for _ in 0..config.connections.max(1) {
        let reader = open_reader(path, config.read_only)?;
        inner
            .readers
            .push(serve("store-reader", Arc::clone(&inner.reads), reader)?);
    }
    Ok(inner)
}

impl Drop for Inner {
    // The writer's connection is the last to close: SQLite then folds the write-ahead log into the one file. Connections
    // that close at the same moment each think another one will.
    fn drop(&mut self) {
        self.reads.close();
        self.readers.drain(..).for_each(join);
        self.writes.close();
        self.writer.take().into_iter().for_each(join);
    }
}

// The last handle may be dropped by a job; its own thread then ends by itself.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        let _ = thread.join();
    }
}
