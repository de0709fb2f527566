//! One request over a connection.

use std::sync::Arc;

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{Instant, timeout_at},
};
use tokio_util::task::TaskTracker;
use toolgate_contract::frame::{Frame, FrameId, Kind, Refusal};

use super::{Call, Connection};
use crate::uplinks::UplinkError;

impl Connection {
    /// Asks, and waits until `until`. Dropping the future cancels the request at the relay.
    pub(in crate::uplinks) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: Bytes,
        until: Instant,
        tracker: &TaskTracker,
    ) -> Result<Bytes, UplinkError> {
        tokio::select! {
            biased;
            answer = timeout_at(until, self.ask(method, params, until, tracker)) => {
                answer.unwrap_or(Err(UplinkError::Deadline))
            }
            // Also for those who wait for a slot or for room in the queue.
            () = self.life.closed.cancelled() => Err(UplinkError::Lost),
        }
    }

    async fn ask(
        self: &Arc<Self>,
        method: &str,
        params: Bytes,
        until: Instant,
        tracker: &TaskTracker,
    ) -> Result<Bytes, UplinkError> {
        let slot = self.slot().await?;
        let room = self.outgoing.reserve().await.map_err(|_| UplinkError::Lost)?;
        let left = until.saturating_duration_since(Instant::now());
        let request = Request {
            method,
            params,
            deadline_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
        };
        let (id, answer, rest) = self.begin(request, slot, room)?;
        let mut asking = Asking {
            connection: self,
            tracker,
            id: Some(id),
        };
        for chunk in rest {
            let message = chunk.encode().map_err(|_| UplinkError::TooLarge)?;
            self.outgoing.send(message).await.map_err(|_| UplinkError::Lost)?;
        }
        // The sender goes away only with the connection.
        let answer = answer.await.unwrap_or(Err(UplinkError::Lost));
        if answer != Err(UplinkError::TooLarge) {
            asking.id = None;
        }
        answer
    }

    async fn slot(&self) -> Result<OwnedSemaphorePermit, UplinkError> {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(slot);
        }
        let _waiting = self.waiting.try_acquire().map_err(|_| UplinkError::Overloaded)?;
        // Never closed.
        Arc::clone(&self.slots)
            .acquire_owned()
            .await
            .map_err(|_| UplinkError::Lost)
    }

    /// Numbers the request and queues its first frame in one step, so that numbers leave in order: the relay takes a
    /// number that does not grow for a replay.
    fn begin(
        &self,
        request: Request<'_>,
        slot: OwnedSemaphorePermit,
        room: mpsc::Permit<'_, Bytes>,
    ) -> Result<Begun, UplinkError> {
        let (asker, answer) = oneshot::channel();
        let mut calls = self.calls();
        let counter = calls.next;
        let id = self.session.request(counter);
        let frame = Frame::request(id.clone(), request.method, request.deadline_ms, request.params);
        let mut rest = frame.chunks().map_err(|_| UplinkError::TooLarge)?;
        let first = rest
            .next()
            .and_then(|chunk| chunk.encode().ok())
            .ok_or(UplinkError::TooLarge)?;
        // A connection that has just ended clears its calls and takes no more.
        if self.life.closed.is_cancelled() {
            return Err(UplinkError::Lost);
        }
        calls.next += 1;
        calls.open.insert(
            counter,
            Call {
                asker: Some(asker),
                _slot: slot,
            },
        );
        room.send(first);
        Ok((id, answer, rest))
    }
}

struct Request<'a> {
    method: &'a str,
    params: Bytes,
    deadline_ms: u64,
}

type Begun = (
    FrameId,
    oneshot::Receiver<Result<Bytes, UplinkError>>,
    toolgate_contract::frame::Chunks,
);

/// What an answer says.
pub(super) fn outcome(answer: Frame) -> Result<Bytes, UplinkError> {
    match answer.header.error {
        None => Ok(answer.body),
        Some(code) => {
            if let Ok(refusal) = serde_json::from_slice::<Refusal>(&answer.body) {
                tracing::debug!(?code, message = refusal.message, "the relay refused");
            }
            Err(UplinkError::Refused(code))
        }
    }
}

/// A request nobody has been answered yet; dropping it tells the relay to stop.
struct Asking<'a> {
    connection: &'a Arc<Connection>,
    tracker: &'a TaskTracker,
    id: Option<FrameId>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        if let Some(counter) = self.connection.session.counter(&id)
            && let Some(call) = self.connection.calls().open.get_mut(&counter)
        {
            call.asker = None;
        }
        let Ok(cancel) = Frame::new(Kind::Cancel, id, Bytes::new()).encode() else {
            return;
        };
        match self.connection.outgoing.try_send(cancel) {
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            // Behind its request in the queue, so never before it. As many of these as slots at most.
            Err(mpsc::error::TrySendError::Full(cancel)) => self.cancel_later(cancel),
        }
    }
}

impl Asking<'_> {
    fn cancel_later(&self, cancel: Bytes) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let connection = Arc::clone(self.connection);
        let later = async move {
            tokio::select! {
                _ = connection.outgoing.send(cancel) => {}
                () = connection.life.closed.cancelled() => {}
            }
        };
        self.tracker.spawn_on(later, &runtime);
    }
}
