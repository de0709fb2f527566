//! Watches held on after `Prefer: wait=N` ran out, until the caller takes up the stream or the call ends.
//!
//! Bounded in number and time. Held by correlation id, which is no secret: taking a watch up only lets go of ours,
//! and happens only after the core has let that caller watch.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::Streaming;
use toolgate_contract::v1::WatchResponse;

/// More than all calls that one gateway carries at a time.
const ROOM: usize = 4096;
/// Longer than any call; results are readable no longer either.
const LONGEST: Duration = Duration::from_secs(60);

/// The held watches.
#[derive(Debug, Clone)]
pub(in crate::rest) struct Held {
    calls: Arc<Mutex<HashMap<String, CancellationToken>>>,
    tasks: TaskTracker,
}

impl Held {
    pub(in crate::rest) fn new(tasks: TaskTracker) -> Self {
        Self {
            calls: Arc::default(),
            tasks,
        }
    }

    /// Holds a watch; gives it back when there is no room.
    pub(super) fn keep(
        &self,
        id: &str,
        mut events: Box<Streaming<WatchResponse>>,
    ) -> Result<(), Box<Streaming<WatchResponse>>> {
        let released = CancellationToken::new();
        {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            if calls.len() >= ROOM {
                return Err(events);
            }
            calls.insert(id.to_owned(), released.clone());
        }
        let (held, id) = (self.clone(), id.to_owned());
        self.tasks.spawn(async move {
            let to_the_end = async { while let Ok(Some(_)) = events.message().await {} };
            tokio::select! {
                () = released.cancelled() => {}
                _ = tokio::time::timeout(LONGEST, to_the_end) => {}
            }
            held.calls
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&id);
        });
        Ok(())
    }

    /// Lets go of a call that someone else watches now.
    pub(super) fn release(&self, id: &str) {
        if let Some(token) = self.calls.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            token.cancel();
        }
    }
}
