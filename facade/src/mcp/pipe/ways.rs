//! The streams by which servers reach clients outside of their requests, as far as they are open in this process.
//!
//! A request whose client takes no stream has no other way for what its server asks. Bounded: a stream that is not read
//! takes so many messages and no more.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::mcp::level::Scope;

/// Messages that wait for a stream that is read slowly.
const WAITING: usize = 16;

/// The way of each conversation.
#[derive(Debug, Clone, Default)]
pub(in crate::mcp) struct Ways(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    open: HashMap<Scope, (u64, mpsc::Sender<Bytes>)>,
    next: u64,
}

/// The end of a way where messages come out; closed when it is dropped.
#[derive(Debug)]
pub(super) struct Way {
    ways: Ways,
    scope: Scope,
    serial: u64,
    messages: mpsc::Receiver<Bytes>,
}

impl Ways {
    /// Opens the way of a conversation in the place of its former one. The conversation is known to be the caller's.
    pub(super) fn open(&self, scope: Scope) -> Way {
        let (way, messages) = mpsc::channel(WAITING);
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = table.next;
        table.next += 1;
        table.open.insert(scope, (serial, way));
        Way {
            ways: self.clone(),
            scope,
            serial,
            messages,
        }
    }

    /// Sends a message this way; false where nobody takes it.
    pub(super) fn send(&self, scope: Scope, message: Bytes) -> bool {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let way = table.open.get(&scope);
        way.is_some_and(|(_, way)| way.try_send(message).is_ok())
    }
}

impl Way {
    /// The next message; never where there is none any more. Cancel-safe.
    pub(super) async fn next(&mut self) -> Bytes {
        match self.messages.recv().await {
            Some(message) => message,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let mut table = self.ways.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_this = |(serial, _): &(u64, _)| *serial == self.serial;
        if table.open.get(&self.scope).is_some_and(is_this) {
            table.open.remove(&self.scope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_takes_the_newest_way_of_its_own_conversation() {
        let ways = Ways::default();
        assert!(!ways.send(Scope(1), "x".into()));
        let mut other = ways.open(Scope(2));
        let older = ways.open(Scope(1));
        let mut newer = ways.open(Scope(1));
        drop(older);
        assert!(ways.send(Scope(1), "a".into()) && ways.send(Scope(2), "b".into()));
        assert_eq!((newer.next().await, other.next().await), ("a".into(), "b".into()));
        drop(newer);
        assert!(!ways.send(Scope(1), "x".into()));
        drop(other);
        assert!(ways.0.lock().unwrap().open.is_empty());
    }

    #[test]
    fn a_way_that_is_not_read_takes_so_many_messages_and_no_more() {
        let ways = Ways::default();
        let _way = ways.open(Scope(1));
        let taken = (0..2 * WAITING).filter(|_| ways.send(Scope(1), "x".into()));
        assert_eq!(taken.count(), WAITING);
    }
}
