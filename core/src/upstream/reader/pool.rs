//! The connections of one reader: so many at most, and those that rest are taken again, the warmest first.
//!
//! A new one is made only by whoever has a turn and found none at rest, so there are never more than there are turns.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    Fault,
    connection::Connection,
    dial::Dialler,
    stage::{Progress, Stage},
};

/// Connections, used and resting.
const MOST: usize = 64;

/// The connections of one reader.
pub(super) struct Pool {
    dialler: Dialler,
    turns: Semaphore,
    resting: Mutex<Vec<Connection>>,
}

/// The right to use one connection.
pub(super) struct Turn<'a> {
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    pub(super) fn new(dialler: Dialler) -> Self {
        Self {
            dialler,
            turns: Semaphore::new(MOST),
            resting: Mutex::new(Vec::new()),
        }
    }

    /// Waits until one of the connections may be used.
    pub(super) async fn turn(&self, progress: &Progress) -> Result<Turn<'_>, Fault> {
        progress.reached(Stage::Turn);
        let permit = self.turns.acquire().await;
        permit
            .map(|permit| Turn {
                pool: self,
                _permit: permit,
            })
            .map_err(|_| Fault::unreachable("the gateway is done with this target"))
    }

    // Nothing is done under the lock that can fail, so a poisoned one holds what it held.
    fn resting(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// A connection that rested, if one is still open.
    pub(super) fn warm(&self) -> Option<Connection> {
        let mut resting = self.pool.resting();
        resting.retain(|connection| !connection.is_closed());
        resting.pop()
    }

    /// A new connection.
    pub(super) async fn fresh(&self, progress: &Progress) -> Result<Connection, Fault> {
        let stream = self.pool.dialler.dial(progress).await?;
        Connection::open(stream)
            .await
            .map_err(|error| super::exchange::broken(&error))
    }

    /// Lets this connection rest until it is needed again.
    pub(super) fn keep(self, connection: Connection) {
        if !connection.is_closed() {
            connection.rests();
            self.pool.resting().push(connection);
        }
    }
}
