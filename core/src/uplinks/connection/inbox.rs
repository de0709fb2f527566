//! Where the server's words in one conversation go: to the newest listener, who is told when it is over.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;

/// What may wait for a listener that does not read.
const QUEUE: usize = 64;

/// What a project's server says in a conversation outside of any request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromServer {
    /// A notification.
    Said {
        /// The method.
        method: Arc<str>,
        /// The parameters, byte for byte: one JSON object, or nothing.
        params: Bytes,
    },
    /// A question, to be answered by [`super::Conversation::answer`] under this id. One that its server takes back is
    /// followed by a `notifications/cancelled` whose `requestId` is this id, as a string.
    Asked {
        /// What the answer has to name.
        id: Arc<str>,
        /// The method.
        method: Arc<str>,
        /// The parameters, as above.
        params: Bytes,
    },
    /// The conversation has ended; nothing follows.
    Over,
}

/// Why something was not delivered.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::uplinks) enum Undelivered {
    /// There is no such conversation.
    NoConversation,
    /// Nobody listens.
    NoListener,
    /// Too much waits.
    Full,
}

/// The listener's end of one conversation.
#[derive(Default)]
pub(super) struct Inbox(Option<Listener>);

struct Listener {
    queue: mpsc::Sender<FromServer>,
    /// The room that the end needs.
    end: mpsc::OwnedPermit<FromServer>,
}

impl Inbox {
    /// A new listener in place of the former one, whose stream ends.
    pub(super) fn listen(&mut self) -> Option<mpsc::Receiver<FromServer>> {
        let (queue, told) = mpsc::channel(QUEUE + 1);
        let end = queue.clone().try_reserve_owned().ok()?;
        self.0 = Some(Listener { queue, end });
        Some(told)
    }

    pub(super) fn tell(&mut self, said: FromServer) -> Result<(), Undelivered> {
        let Some(listener) = &self.0 else {
            return Err(Undelivered::NoListener);
        };
        match listener.queue.try_send(said) {
            Ok(()) => Ok(()),
            Err(mpsc::error::TrySendError::Full(_)) => Err(Undelivered::Full),
            Err(mpsc::error::TrySendError::Closed(_)) => {
                self.0 = None;
                Err(Undelivered::NoListener)
            }
        }
    }

    /// Tells the listener that nothing follows.
    pub(super) fn end(self) {
        if let Some(listener) = self.0 {
            listener.end.send(FromServer::Over);
        }
    }
}
