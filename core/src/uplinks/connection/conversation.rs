//! A conversation of one client with a project's server, led through the gateway.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::timeout,
};
use tokio_util::task::TaskTracker;
use toolgate_contract::frame::{Frame, FrameId, GoAwayReason, Kind, MAX_CHUNK, RefusalCode};

use super::{Break, Connection, inbox::FromServer, talk::Talk};
use crate::uplinks::UplinkError;

/// How the relay is told that a conversation ends.
const CLOSE: &str = "toolgate/close";
/// How long a client's words wait for a relay that does not read.
const PATIENCE: Duration = Duration::from_secs(10);

/// A conversation that one client leads. It has an id of its own, begins with the request `initialize` under that id, and
/// ends when this is dropped, when the relay says so, or with the connection.
pub struct Conversation {
    connection: Arc<Connection>,
    id: FrameId,
    tracker: TaskTracker,
}

impl Conversation {
    /// Begins one over this connection.
    pub(in crate::uplinks) fn begin(
        connection: Arc<Connection>,
        tracker: TaskTracker,
    ) -> Result<Self, UplinkError> {
        let id = FrameId::parse(&ulid::Ulid::generate().to_string()).unwrap_or_else(FrameId::zero);
        connection.talk.as_ref().ok_or(UplinkError::Offline)?.open(&id)?;
        Ok(Self {
            connection,
            id,
            tracker,
        })
    }

    /// Its id, to be named in requests.
    #[must_use]
    pub fn id(&self) -> FrameId {
        self.id.clone()
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !self.talk().is_some_and(|talk| talk.has(&self.id))
    }

    /// Hears what the server says in it outside of requests. The newest listener wins; the stream of the former one
    /// ends. `None` once the conversation is over.
    #[must_use]
    pub fn listen(&self) -> Option<mpsc::Receiver<FromServer>> {
        self.talk()?.listen(&self.id)
    }

    /// Sends a notification of the client; `params` is one JSON object, or empty.
    ///
    /// # Errors
    /// When the conversation is over, the relay does not read, or the body is too large.
    pub async fn tell(&self, method: &str, params: Bytes) -> Result<(), UplinkError> {
        let room = self.room().await?;
        let talk = self.live()?;
        let mut frame = Frame::notify(method, params).within(Some(self.id.clone()));
        if frame.body.len() > MAX_CHUNK {
            frame.header.id = FrameId::notification(talk.notified.fetch_add(1, Ordering::Relaxed));
        }
        self.send(pieces(frame)?, room).await
    }

    /// Answers a question of the server: with the raw result, or with the raw error object of JSON-RPC.
    ///
    /// # Errors
    /// When nothing of this id is asked in this conversation (any more), the relay does not read, or the body is too
    /// large.
    pub async fn answer(&self, id: &str, answer: Result<Bytes, Bytes>) -> Result<(), UplinkError> {
        let id = FrameId::parse(id).ok_or(UplinkError::NotAsked)?;
        let number = self
            .connection
            .session
            .counter(&id)
            .ok_or(UplinkError::NotAsked)?;
        let room = self.room().await?;
        let talk = self.live()?;
        if !talk.take_from(number, &self.id) {
            return Err(UplinkError::NotAsked);
        }
        let frame = match answer {
            Ok(result) => Frame::new(Kind::Response, id, result),
            Err(error) => Frame::answered_with_error(id, error),
        };
        match pieces(frame.within(Some(self.id.clone()))) {
            Ok(pieces) => self.send(pieces, room).await,
            Err(error) => {
                // It has its one answer all the same.
                let _ = self.connection.refuse(talk, number, RefusalCode::TooLarge);
                Err(error)
            }
        }
    }

    async fn room(&self) -> Result<OwnedSemaphorePermit, UplinkError> {
        let room = Arc::clone(&self.live()?.speaking).acquire_owned();
        match timeout(PATIENCE, room).await {
            Ok(room) => room.map_err(|_| UplinkError::Lost),
            Err(_) => Err(UplinkError::Overloaded),
        }
    }

    async fn send(&self, pieces: Vec<Bytes>, room: OwnedSemaphorePermit) -> Result<(), UplinkError> {
        let connection = Arc::clone(&self.connection);
        // In a task of its own: what has begun is sent whole, whether its client stays or leaves.
        let sending = self.tracker.spawn(async move {
            let _room = room;
            tokio::select! {
                sent = connection.send_all(pieces) => sent,
                () = connection.life.closed.cancelled() => Err(UplinkError::Lost),
            }
        });
        match timeout(PATIENCE, sending).await {
            Ok(sent) => sent.unwrap_or(Err(UplinkError::Lost)),
            Err(_) => Err(UplinkError::Deadline),
        }
    }

    fn live(&self) -> Result<&Talk, UplinkError> {
        if self.connection.life.closed.is_cancelled() {
            return Err(UplinkError::Lost);
        }
        self.talk()
            .filter(|talk| talk.has(&self.id))
            .ok_or(UplinkError::Refused(RefusalCode::ConversationUnknown))
    }

    fn talk(&self) -> Option<&Talk> {
        self.connection.talk.as_ref()
    }
}

impl Connection {
    async fn send_all(&self, messages: Vec<Bytes>) -> Result<(), UplinkError> {
        for message in messages {
            self.outgoing.send(message).await.map_err(|_| UplinkError::Lost)?;
        }
        Ok(())
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let Some(talk) = self.talk() else { return };
        let Some(questions) = talk.close(&self.id) else {
            return;
        };
        for number in questions {
            let _ = self.connection.refuse(talk, number, RefusalCode::Cancelled);
        }
        let close = Frame::notify(CLOSE, Bytes::from_static(b"{}")).within(Some(self.id.clone()));
        let told = close
            .encode()
            .map_err(Break::from)
            .and_then(|close| talk.debts.owe(close));
        if told.is_err() {
            // It reads nothing, so the servers of its conversations would run on and on.
            self.connection.close(GoAwayReason::Overloaded);
        }
    }
}

/// The messages that carry a frame.
fn pieces(frame: Frame) -> Result<Vec<Bytes>, UplinkError> {
    let chunks = frame.chunks().map_err(|_| UplinkError::TooLarge)?;
    let encoded: Result<_, _> = chunks.map(|chunk| chunk.encode()).collect();
    encoded.map_err(|_| UplinkError::TooLarge)
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
