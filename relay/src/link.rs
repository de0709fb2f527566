//! A connection that carries whole messages, whatever lies below.
//!
//! Handshake and session know only this, so they are tested without sockets.

use std::{fmt, pin::Pin};

use bytes::Bytes;
use futures::{Sink, SinkExt, Stream, StreamExt};
use toolgate_contract::frame::{ChannelBinding, Frame, FrameError};

/// Messages from the gateway.
pub(crate) type Incoming = Pin<Box<dyn Stream<Item = Result<Bytes, LinkError>> + Send>>;
/// Messages to the gateway.
pub(crate) type Outgoing = Pin<Box<dyn Sink<Bytes, Error = LinkError> + Send>>;

/// One connection to a gateway.
pub(crate) struct Link {
    /// Messages from the gateway.
    pub(crate) incoming: Incoming,
    /// Messages to the gateway.
    pub(crate) outgoing: Outgoing,
    /// The TLS exporter, if there is TLS.
    pub(crate) channel: Option<ChannelBinding>,
}

/// Why a connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// The other end closed it.
    #[error("the connection was closed")]
    Closed,
    /// There was no connection to begin with.
    #[error("{why}")]
    Unreached {
        /// What is in the way.
        why: String,
        /// What a person can do.
        next: &'static str,
    },
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Transport(String),
    /// The other end sent what it may not send.
    #[error("the gateway sent a message that is no frame: {0}")]
    Frame(#[from] FrameError),
}

impl Link {
    pub(crate) async fn send(&mut self, frame: &Frame) -> Result<(), LinkError> {
        self.outgoing.send(frame.encode()?).await
    }

    pub(crate) async fn receive(&mut self) -> Result<Frame, LinkError> {
        let message = self.incoming.next().await.ok_or(LinkError::Closed)??;
        Ok(Frame::decode(message)?)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("tls", &self.channel.is_some())
            .finish_non_exhaustive()
    }
}

/// The gateway's end of a link without sockets.
#[cfg(test)]
pub(crate) struct Far {
    pub(crate) to_relay: tokio::sync::mpsc::Sender<Bytes>,
    pub(crate) from_relay: tokio::sync::mpsc::Receiver<Bytes>,
}

#[cfg(test)]
impl Link {
    /// A link in memory, and its far end.
    pub(crate) fn in_memory(channel: Option<ChannelBinding>) -> (Self, Far) {
        let (to_relay, mut incoming) = tokio::sync::mpsc::channel(64);
        let (outgoing, from_relay) = tokio::sync::mpsc::channel(64);
        let incoming = futures::stream::poll_fn(move |context| incoming.poll_recv(context)).map(Ok);
        let outgoing = tokio_util::sync::PollSender::new(outgoing).sink_map_err(|_| LinkError::Closed);
        let link = Self {
            incoming: Box::pin(incoming),
            outgoing: Box::pin(outgoing),
            channel,
        };
        (link, Far { to_relay, from_relay })
    }
}

#[cfg(test)]
impl Far {
    pub(crate) async fn send(&self, frame: &Frame) {
        self.send_raw(frame.encode().expect("encodes")).await;
    }

    pub(crate) async fn send_raw(&self, message: Bytes) {
        // The relay may have left already.
        let _ = self.to_relay.send(message).await;
    }

    pub(crate) async fn receive(&mut self) -> Option<Frame> {
        self.from_relay
            .recv()
            .await
            .map(|message| Frame::decode(message).expect("a frame"))
    }
}
