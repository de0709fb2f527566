//! Short frames that the gateway owes a relay, sent by nobody who could wait: refusals, as every request has one answer,
//! and the ends of conversations.
//!
//! They are sent as fast as the relay reads. One that asks on and on without reading its answers is no sane relay.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::{Notify, mpsc};

use super::Break;

/// Frames that may wait: more than there are questions and conversations.
const MOST: usize = 512;

/// Frames that are owed.
#[derive(Default)]
pub(super) struct Debts {
    queue: Mutex<VecDeque<Bytes>>,
    more: Notify,
}

impl Debts {
    /// Queues a frame behind the others.
    pub(super) fn owe(&self, message: Bytes) -> Result<(), Break> {
        let mut queue = self.queue();
        if queue.len() >= MOST {
            return Err(Break::Protocol);
        }
        queue.push_back(message);
        self.more.notify_one();
        Ok(())
    }

    /// Sends what is owed until the transport ends.
    pub(super) async fn pay(&self, outgoing: &mpsc::Sender<Bytes>) {
        loop {
            let owed = self.queue().pop_front();
            let Some(message) = owed else {
                self.more.notified().await;
                continue;
            };
            if outgoing.send(message).await.is_err() {
                return;
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Bytes>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
