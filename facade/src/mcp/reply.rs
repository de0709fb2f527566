//! What a transport gets to send: nothing, one message, or several of which the last one is the answer.

use std::{future::Future, pin::Pin, time::Duration};

use bytes::Bytes;
use futures::{Stream, StreamExt};

use super::fault::{Beside, Fault};

/// Messages as they come, each a whole one on one line. The answer is the last one; without it the request was
/// cancelled. Dropping the stream stops what was asked for.
pub(crate) type Messages = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// How long a request may be silent before its stream begins.
pub(super) const FIRST_WORD: Duration = Duration::from_secs(2);

/// One message of a stream.
pub(super) enum Message {
    /// On the way.
    Early(Bytes),
    /// The answer: nothing comes after it.
    Last(Bytes),
}

/// What has messages to tell, one after the other.
pub(super) trait Telling: Send + Sized + 'static {
    /// The next one; none where the request was taken back. Not called again after the last one.
    fn tell(&mut self) -> impl Future<Output = Option<Message>> + Send;

    /// All of them, after one that was told before.
    fn messages(self, first: Option<Bytes>) -> Messages {
        let rest = futures::stream::unfold(Some(self), |telling| async {
            let mut telling = telling?;
            match telling.tell().await? {
                Message::Early(message) => Some((message, Some(telling))),
                Message::Last(message) => Some((message, None)),
            }
        });
        Box::pin(futures::stream::iter(first).chain(rest))
    }
}

/// What is sent for one message of a peer.
pub(crate) enum Reply {
    /// No message: the peer wanted none, or took its request back.
    Nothing,
    /// The answer.
    Whole(Answer),
    /// Notifications, and then the answer.
    Stream(Messages),
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Whole(answer) => f.debug_tuple("Whole").field(answer).finish(),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

/// One whole message.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The message on one line, in pieces to be sent one after the other: long lists are shared, not copied.
    pub(crate) pieces: [Bytes; 3],
    /// What HTTP says beside it.
    pub(crate) beside: Beside,
    /// The session that begins with it.
    pub(crate) session: Option<String>,
    /// What the call that it answers is on the record by.
    pub(crate) call: Option<String>,
    /// Sent as a stream of one message where the client takes streams.
    pub(crate) streams: bool,
}

impl Answer {
    pub(super) fn result(message: impl Into<Bytes>) -> Self {
        Self::pieces([message.into(), Bytes::new(), Bytes::new()])
    }

    pub(super) fn pieces(pieces: [Bytes; 3]) -> Self {
        Self {
            pieces,
            beside: Beside::OK,
            session: None,
            call: None,
            streams: false,
        }
    }

    /// The answer to a call, which stands on the record by this id.
    pub(super) fn to_call(message: impl Into<Bytes>, correlation_id: String) -> Self {
        Self {
            call: Some(correlation_id).filter(|id| !id.is_empty()),
            ..Self::result(message)
        }
    }

    /// The message in one piece.
    pub(crate) fn joined(&self) -> Bytes {
        match &self.pieces {
            [first, second, third] if second.is_empty() && third.is_empty() => first.clone(),
            pieces => pieces.concat().into(),
        }
    }
}

impl From<Fault> for Answer {
    fn from(fault: Fault) -> Self {
        Self {
            beside: fault.http,
            ..Self::result(fault.write())
        }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Whole(answer)
    }
}

impl From<Fault> for Reply {
    fn from(fault: Fault) -> Self {
        Self::Whole(fault.into())
    }
}
