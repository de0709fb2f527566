//! One request over a connection.

use std::sync::Arc;

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{Instant, timeout_at},
};
use tokio_util::task::TaskTracker;
use toolgate_contract::frame::{Frame, FrameId, Kind, Refusal, RefusalCode};

use super::{Call, Connection};
use crate::{uplinks::UplinkError, upstream::Reports};

/// One request, as it is asked.
pub(in crate::uplinks) struct Request<'a> {
    /// The method.
    pub(in crate::uplinks) method: &'a str,
    /// The parameters, raw.
    pub(in crate::uplinks) params: Bytes,
    /// Until when its asker waits; `None` for as long as it takes.
    pub(in crate::uplinks) until: Option<Instant>,
    /// The conversation it belongs to.
    pub(in crate::uplinks) conversation: Option<FrameId>,
    /// Where it is told what its server says meanwhile.
    pub(in crate::uplinks) reports: Reports,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::uplinks) enum Answer {
    /// The result.
    Result(Bytes),
    /// The error that a project's server answered with.
    Error(Bytes),
}

impl Connection {
    /// Asks, and waits until the answer or until it may wait no more. Dropping the future cancels the request at the
    /// relay.
    pub(in crate::uplinks) async fn request(
        self: &Arc<Self>,
        request: Request<'_>,
        tracker: &TaskTracker,
    ) -> Result<Answer, UplinkError> {
        let until = request.until;
        let asking = self.ask(request, tracker);
        let answer = async {
            match until {
                Some(until) => timeout_at(until, asking)
                    .await
                    .unwrap_or(Err(UplinkError::Deadline)),
                None => asking.await,
            }
        };
        tokio::select! {
            biased;
            answer = answer => answer,
            // Also for those who wait for a slot or for room in the queue.
            () = self.life.closed.cancelled() => Err(UplinkError::Lost),
        }
    }

    async fn ask(
        self: &Arc<Self>,
        request: Request<'_>,
        tracker: &TaskTracker,
    ) -> Result<Answer, UplinkError> {
        self.may_ask(&request)?;
        // Requests without an end leave room for those with one.
        let lingering = match request.until {
            Some(_) => None,
            None => Some(self.lingering()?),
        };
        let slot = self.slot().await?;
        let room = self.outgoing.reserve().await.map_err(|_| UplinkError::Lost)?;
        let (id, answer, rest) = self.begin(request, [Some(slot), lingering], room)?;
        let mut asking = Asking {
            connection: self,
            tracker,
            id: Some(id),
        };
        if let Some(talk) = &self.talk {
            self.find_hearers(talk);
        }
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

    /// Whether the conversation goes on.
    fn may_ask(&self, request: &Request<'_>) -> Result<(), UplinkError> {
        let led = request.conversation.as_ref().filter(|&it| *it != FrameId::raw());
        match (led, &self.talk) {
            (None, _) => Ok(()),
            (Some(conversation), Some(talk)) if talk.has(conversation) => Ok(()),
            _ => Err(UplinkError::Refused(RefusalCode::ConversationUnknown)),
        }
    }

    fn lingering(&self) -> Result<OwnedSemaphorePermit, UplinkError> {
        Arc::clone(&self.lingering)
            .try_acquire_owned()
            .map_err(|_| UplinkError::Overloaded)
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
        slots: [Option<OwnedSemaphorePermit>; 2],
        room: mpsc::Permit<'_, Bytes>,
    ) -> Result<Begun, UplinkError> {
        let (asker, answer) = oneshot::channel();
        let call = Call {
            asker: Some(asker),
            conversation: request.conversation.clone(),
            reports: request.reports.clone(),
            _slots: slots,
        };
        let mut calls = self.calls();
        let counter = calls.next;
        let id = self.session.request(counter);
        let mut rest = request
            .frame(id.clone())
            .chunks()
            .map_err(|_| UplinkError::TooLarge)?;
        let first = rest
            .next()
            .and_then(|chunk| chunk.encode().ok())
            .ok_or(UplinkError::TooLarge)?;
        // A connection that has just ended clears its calls and takes no more.
        if self.life.closed.is_cancelled() {
            return Err(UplinkError::Lost);
        }
        calls.next += 1;
        calls.open.insert(counter, call);
        room.send(first);
        Ok((id, answer, rest))
    }
}

impl Request<'_> {
    fn frame(self, id: FrameId) -> Frame {
        let left = self.until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
        });
        let mut frame = Frame::request(id, self.method, 0, self.params).within(self.conversation);
        frame.header.deadline_ms = left;
        frame
    }
}

type Begun = (
    FrameId,
    oneshot::Receiver<Result<Answer, UplinkError>>,
    toolgate_contract::frame::Chunks,
);

/// What an answer says.
pub(super) fn outcome(answer: Frame) -> Result<Answer, UplinkError> {
    match answer.header.error {
        None => Ok(Answer::Result(answer.body)),
        Some(RefusalCode::AnsweredWithError) => Ok(Answer::Error(answer.body)),
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
