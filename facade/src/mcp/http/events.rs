//! Messages as events of a stream, one line of data each, and comments while there is nothing to say.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::mcp::reply::Messages;

const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The body of an event stream. Owns what it tells of, so that a reader who leaves stops it.
pub(in crate::mcp) struct Events {
    first: Option<Bytes>,
    messages: Messages,
    quiet: Pin<Box<Sleep>>,
}

impl Events {
    /// `first` is sent before any message.
    pub(in crate::mcp) fn new(messages: Messages, first: Option<Bytes>) -> Self {
        Self {
            first,
            messages,
            quiet: Box::pin(tokio::time::sleep(KEEP_ALIVE)),
        }
    }
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let out = if let Some(first) = self.first.take() {
            first
        } else {
            match self.messages.as_mut().poll_next(cx) {
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(message)) => event(&message),
                Poll::Pending if self.quiet.as_mut().poll(cx).is_pending() => return Poll::Pending,
                Poll::Pending => Bytes::from_static(b":\n\n"),
            }
        };
        self.quiet.as_mut().reset(Instant::now() + KEEP_ALIVE);
        Poll::Ready(Some(Ok(Frame::data(out))))
    }
}

/// One message as one event. Messages have no line ends.
pub(in crate::mcp) fn event(message: &[u8]) -> Bytes {
    const START: &[u8] = b"event: message\ndata: ";
    let mut out = BytesMut::with_capacity(START.len() + message.len() + 2);
    out.put_slice(START);
    out.put_slice(message);
    out.put_slice(b"\n\n");
    out.freeze()
}

/// A whole message in pieces, its length known.
pub(in crate::mcp) struct Pieces {
    pieces: std::array::IntoIter<Bytes, 3>,
    left: u64,
}

impl Pieces {
    pub(in crate::mcp) fn new(pieces: [Bytes; 3]) -> Self {
        let left = pieces.iter().map(|piece| piece.len() as u64).sum();
        Self {
            pieces: pieces.into_iter(),
            left,
        }
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.by_ref().find(|piece| !piece.is_empty());
        if let Some(piece) = &piece {
            self.left -= piece.len() as u64;
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests;
