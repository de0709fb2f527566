//! How a service speaks unasked over the connection that stands: notifications, and requests of its own.
//!
//! Bounded by the queue of the connection: whoever speaks waits while the gateway does not read, and stops when the
//! connection ends. Ids of requests are drawn and queued in one step, because the gateway takes an older one for a replay.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};
use toolgate_contract::frame::{Frame, FrameId, Kind, MAX_CHUNK, Session};

/// The way to the gateway on one connection.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    queue: mpsc::Sender<Bytes>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    session: Session,
    asked: Mutex<u64>,
    /// Notifications that were sent in pieces: each has an id of its own.
    cut: AtomicU64,
    /// One after the other, so that they arrive in the order in which they were said.
    turn: Semaphore,
}

impl Voice {
    pub(crate) fn new(session: Session, queue: mpsc::Sender<Bytes>) -> Self {
        let shared = Arc::new(Shared {
            session,
            asked: Mutex::new(0),
            cut: AtomicU64::new(0),
            turn: Semaphore::new(1),
        });
        Self { queue, shared }
    }

    /// Sends a notification; false when the connection is gone or the notification is too long.
    pub(crate) async fn notify(&self, mut notification: Frame) -> bool {
        // The semaphore is never closed.
        let Ok(_turn) = self.shared.turn.acquire().await else {
            return false;
        };
        if notification.body.len() > MAX_CHUNK {
            let number = self.shared.cut.fetch_add(1, Ordering::Relaxed);
            notification.header.id = FrameId::notification(number);
        }
        send(notification, &self.queue).await
    }

    /// Sends a request that `build` makes of its id; false when the connection is gone or the request is too long.
    pub(crate) async fn ask(&self, build: impl FnOnce(FrameId) -> Frame) -> bool {
        let Ok(place) = self.queue.reserve().await else {
            return false;
        };
        let rest = {
            let mut asked = self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let request = build(self.shared.session.request(*asked));
            *asked += 1;
            let Ok(mut pieces) = request.chunks() else {
                return false;
            };
            let Some(Ok(first)) = pieces.next().map(|piece| piece.encode()) else {
                return false;
            };
            place.send(first);
            pieces
        };
        send_all(rest, &self.queue).await
    }

    /// Says that an answer is no longer waited for.
    pub(crate) async fn withdraw(&self, id: FrameId) {
        send(Frame::new(Kind::Cancel, id, Bytes::new()), &self.queue).await;
    }
}

/// Sends a frame in pieces that let others pass in between; false when it cannot be sent.
pub(crate) async fn send(frame: Frame, queue: &mpsc::Sender<Bytes>) -> bool {
    match frame.chunks() {
        Ok(pieces) => send_all(pieces, queue).await,
        Err(_) => false,
    }
}

async fn send_all(pieces: impl Iterator<Item = Frame>, queue: &mpsc::Sender<Bytes>) -> bool {
    for piece in pieces {
        let Ok(message) = piece.encode() else { return false };
        if queue.send(message).await.is_err() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use toolgate_contract::frame::{Assembler, MAX_BODY, Octets};

    use super::*;

    #[tokio::test]
    async fn long_notifications_arrive_whole_and_in_order() {
        let (queue, mut queued) = mpsc::channel(64);
        let voice = Voice::new(Session::new(&Octets([1; 32])), queue);
        for byte in [b'a', b'b'] {
            let long = Frame::notify("notifications/message", vec![byte; MAX_CHUNK + 1]);
            assert!(voice.notify(long).await);
            assert!(voice.notify(Frame::notify("notifications/message", "{}")).await);
        }
        drop(voice);
        let (mut joined, mut whole) = (Assembler::new(MAX_BODY), Vec::new());
        while let Some(message) = queued.recv().await {
            let frame = Frame::decode(message).expect("a frame");
            whole.extend(joined.push(frame).expect("joins"));
        }
        let lengths: Vec<_> = whole
            .iter()
            .map(|frame| (frame.body[0], frame.body.len()))
            .collect();
        let long = MAX_CHUNK + 1;
        assert_eq!(lengths, [(b'a', long), (b'{', 2), (b'b', long), (b'{', 2)]);
    }
}
