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
