//! Frames of an uplink, the WebSocket between a relay and the gateway.
//!
//! One binary message is one frame: u32 header length (big-endian), JSON header, raw body. Both ends share this codec,
//! the handshake messages and the exact bytes they sign. Absent: sockets, clocks, keys; nothing here does I/O.
//!
//! Version rule. Within version 1, a header field that is not known is ignored, and a frame of a kind that is not known
//! decodes to [`Kind::Unknown`]: after the handshake it is dropped, during the handshake it ends the connection. A frame
//! of any other version is refused. What would change the meaning of a known field or kind is version 2.
//!
//! Chunks are joined by kind and id. So a notification that fits one frame may have the id `0`, and one that does not has
//! an id of its own ([`FrameId::notification`]): under `0` two of them would mix, and a chunk there is no frame.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Deserialize, Serialize};

mod chunks;
mod handshake;
mod id;
mod octets;
mod refusal;

pub use chunks::{Assembler, Chunks, Unassembled};
pub use handshake::{
    CHANNEL_LABEL, Challenge, ChannelBinding, GoAway, GoAwayReason, Hello, Offer, Proof, Ready, Transcript,
};
pub use id::{FrameId, Session};
pub use octets::{Nonce, Octets, PublicKey, Secret, Signature};
pub use refusal::{Refusal, RefusalCode};

/// The version both ends speak.
pub const VERSION: u16 = 1;
/// The longest header.
pub const MAX_HEADER: usize = 16 * 1024;
/// The longest body of one frame; a longer body travels in chunks.
pub const MAX_CHUNK: usize = 64 * 1024;
/// The longest body, chunks joined.
pub const MAX_BODY: usize = 8 * 1024 * 1024;
/// The longest message on the wire.
pub const MAX_MESSAGE: usize = 4 + MAX_HEADER + MAX_CHUNK;
/// The longest message before the peer has proven who it is.
pub const MAX_HANDSHAKE_MESSAGE: usize = 8 * 1024;
/// Requests one end may have open at the other.
pub const MAX_IN_FLIGHT: usize = 64;

const MAX_METHOD: usize = 128;
const MAX_TRACE: usize = 128;

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The relay says who it claims to be.
    Hello,
    /// The gateway proves itself and asks for proof.
    Challenge,
    /// The relay's proof.
    Proof,
    /// The handshake is done.
    Ready,
    /// Asks for one answer.
    Request,
    /// The one answer to a request.
    Response,
    /// Says something that has no answer.
    Notify,
    /// The asker of this id no longer waits.
    Cancel,
    /// Asks whether the peer lives.
    Ping,
    /// It does.
    Pong,
    /// The connection is about to end, and why.
    #[serde(rename = "goaway")]
    GoAway,
    /// A kind from a newer peer. Never sent.
    #[serde(other, skip_serializing)]
    Unknown,
}

impl Kind {
    fn may_be_chunked(self) -> bool {
        matches!(self, Self::Request | Self::Response | Self::Notify)
    }

    fn has_method(self) -> bool {
        matches!(self, Self::Request | Self::Notify)
    }
}

/// What stands before the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the frame.
    v: u16,
    /// What the frame is for.
    pub kind: Kind,
    /// Joins request, response and cancel; ping and pong.
    pub id: FrameId,
    /// What is asked for, in requests and notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Milliseconds the asker will wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// W3C `traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// True when further chunks of the body follow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// Present when a response is a refusal; the body is then a [`Refusal`], or what the code says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RefusalCode>,
    /// The conversation with a project's server that a request, notification or response belongs to; absent for the
    /// one that all callers share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<FrameId>,
    /// The peer's request on whose account a request or notification is sent, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<FrameId>,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What stands before the body.
    pub header: Header,
    /// The body, raw.
    pub body: Bytes,
}

/// Why bytes are no frame, or a frame cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Fewer bytes than announced.
    #[error("frame is cut short")]
    Short,
    /// The header is over the limit.
    #[error("frame header is over {MAX_HEADER} bytes")]
    HeaderTooLarge,
    /// The header is not the JSON it should be.
    #[error("frame header cannot be read")]
    Header,
    /// Another version.
    #[error("frame version {0} is not spoken here, only {VERSION}")]
    Version(u16),
    /// The body is over the limit.
    #[error("frame body is over the limit")]
    BodyTooLarge,
    /// A field is missing, too long or out of place for the kind.
    #[error("frame header is wrong at {0}")]
    Field(&'static str),
}

impl Frame {
    /// A frame without method, deadline or trace.
    #[must_use]
    pub fn new(kind: Kind, id: FrameId, body: impl Into<Bytes>) -> Self {
        let header = Header {
            v: VERSION,
            kind,
            id,
            method: None,
            deadline_ms: None,
            trace: None,
            more: false,
            error: None,
            conversation: None,
            about: None,
        };
        Self {
            header,
            body: body.into(),
        }
    }

    /// A request that waits `deadline_ms`.
    #[must_use]
    pub fn request(id: FrameId, method: &str, deadline_ms: u64, body: impl Into<Bytes>) -> Self {
        let mut frame = Self::new(Kind::Request, id, body);
        frame.header.method = Some(method.to_owned());
        frame.header.deadline_ms = Some(deadline_ms);
        frame
    }

    /// A notification outside of any request.
    #[must_use]
    pub fn notify(method: &str, body: impl Into<Bytes>) -> Self {
        let mut frame = Self::new(Kind::Notify, FrameId::zero(), body);
        frame.header.method = Some(method.to_owned());
        frame
    }

    /// The frame within a conversation; `None` for the one that all callers share.
    #[must_use]
    pub fn within(mut self, conversation: Option<FrameId>) -> Self {
        self.header.conversation = conversation;
        self
    }

    /// The frame on account of a request of the peer, where that is known.
    #[must_use]
    pub fn about(mut self, request: Option<FrameId>) -> Self {
        self.header.about = request;
        self
    }

    /// A response that carries the error a project's server answered with: the raw error object of JSON-RPC.
    #[must_use]
    pub fn answered_with_error(id: FrameId, error: impl Into<Bytes>) -> Self {
        let mut frame = Self::new(Kind::Response, id, error);
        frame.header.error = Some(RefusalCode::AnsweredWithError);
        frame
    }

    /// A response that refuses.
    #[must_use]
    pub fn refusal(id: FrameId, refusal: &Refusal) -> Self {
        let mut frame = Self::new(Kind::Response, id, refusal.to_body());
        frame.header.error = Some(refusal.code);
        frame
    }

    /// A frame of the handshake or a goaway, with a JSON body.
    #[must_use]
    pub fn message<T: Serialize>(kind: Kind, message: &T) -> Self {
        // These messages are plain structs with string keys; serialising them cannot fail.
        let body = serde_json::to_vec(message).unwrap_or_default();
        Self::new(kind, FrameId::zero(), body)
    }

    /// Reads the JSON body of a frame of `kind`.
    pub fn read<'a, T: Deserialize<'a>>(&'a self, kind: Kind) -> Result<T, FrameError> {
        if self.header.kind != kind {
            return Err(FrameError::Field("kind"));
        }
        serde_json::from_slice(&self.body).map_err(|_| FrameError::Field("body"))
    }

    /// Decodes one binary message. Never panics, whatever the bytes; copies nothing but the header.
    pub fn decode(message: Bytes) -> Result<Self, FrameError> {
        let (&length, rest) = message.split_first_chunk::<4>().ok_or(FrameError::Short)?;
        let length = usize::try_from(u32::from_be_bytes(length)).map_err(|_| FrameError::HeaderTooLarge)?;
        if length > MAX_HEADER {
            return Err(FrameError::HeaderTooLarge);
        }
        let header = rest.get(..length).ok_or(FrameError::Short)?;
        let header = Header::read(header)?;
        let body = message.slice(4 + length..);
        if body.len() > MAX_CHUNK {
            return Err(FrameError::BodyTooLarge);
        }
        Ok(Self { header, body })
    }

    /// Encodes the frame as one binary message. A body over [`MAX_CHUNK`] is refused: send [`Frame::chunks`].
    pub fn encode(&self) -> Result<Bytes, FrameError> {
        self.header.check()?;
        if self.body.len() > MAX_CHUNK {
            return Err(FrameError::BodyTooLarge);
        }
        let header = serde_json::to_vec(&self.header).map_err(|_| FrameError::Field("kind"))?;
        let length = u32::try_from(header.len()).map_err(|_| FrameError::HeaderTooLarge)?;
        let mut message = BytesMut::with_capacity(4 + header.len() + self.body.len());
        message.put_u32(length);
        message.put_slice(&header);
        message.put_slice(&self.body);
        Ok(message.freeze())
    }

    /// The frames that carry this one, each small enough to be sent and to let others pass in between.
    pub fn chunks(self) -> Result<Chunks, FrameError> {
        Chunks::new(self)
    }
}

/// Only the version, so that a frame of another version is told from a broken one.
#[derive(Deserialize)]
struct VersionOnly {
    v: u16,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self, FrameError> {
        let VersionOnly { v } = serde_json::from_slice(bytes).map_err(|_| FrameError::Header)?;
        if v != VERSION {
            return Err(FrameError::Version(v));
        }
        let header: Self = serde_json::from_slice(bytes).map_err(|_| FrameError::Header)?;
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), FrameError> {
        let kind = self.kind;
        let method_fits = match &self.method {
            Some(method) => {
                (1..=MAX_METHOD).contains(&method.len()) && method.bytes().all(|byte| byte.is_ascii_graphic())
            }
            None => !kind.has_method(),
        };
        let trace_fits = self.trace.as_ref().is_none_or(|trace| {
            trace.len() <= MAX_TRACE && trace.bytes().all(|byte| byte.is_ascii_graphic())
        });
        match () {
            () if !method_fits => Err(FrameError::Field("method")),
            () if !trace_fits => Err(FrameError::Field("trace")),
            () if self.more && !kind.may_be_chunked() => Err(FrameError::Field("more")),
            () if self.more && kind == Kind::Notify && self.id == FrameId::zero() => {
                Err(FrameError::Field("id"))
            }
            () if self.error.is_some() && kind != Kind::Response => Err(FrameError::Field("error")),
            () if self.conversation.is_some() && !kind.may_be_chunked() => {
                Err(FrameError::Field("conversation"))
            }
            () if self.about.is_some() && !kind.has_method() => Err(FrameError::Field("about")),
            () => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
