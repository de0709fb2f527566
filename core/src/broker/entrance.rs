//! The entrance: whether calls are still let in, and how many are inside.
//!
//! Closing it and going in exclude each other, so that whoever waits for the last call after closing misses none.

use std::sync::{
    PoisonError, RwLock,
    atomic::{AtomicBool, Ordering},
};

use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

use crate::error::Error;

/// The entrance of the path of calls.
#[derive(Debug, Default)]
pub(crate) struct Entrance {
    ending: AtomicBool,
    closed: RwLock<bool>,
}

impl Entrance {
    /// Lets one call in, counted in `calls` until the token is dropped.
    pub(super) fn enter(&self, calls: &TaskTracker) -> Result<TaskTrackerToken, Error> {
        let closed = self.closed.read().unwrap_or_else(PoisonError::into_inner);
        if *closed {
            return Err(Error::Stopping);
        }
        Ok(calls.token())
    }

    /// From now on probes hear that this gateway is going; calls are still let in.
    pub(crate) fn announce_end(&self) {
        self.ending.store(true, Ordering::Relaxed);
    }

    /// Whether the end was announced.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Lets nobody in any more.
    pub(crate) fn close(&self) {
        self.announce_end();
        *self.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
    }
}
