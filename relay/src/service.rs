//! What stands behind an uplink: the face between a session, which knows frames, and whoever answers them.
//!
//! A host answers one method; a project answers all that its server does, and speaks unasked. Nothing here does I/O.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use toolgate_contract::frame::{Frame, FrameId, Offer, Refusal};

use crate::voice::Voice;

/// Whoever answers the requests of a gateway.
pub(crate) trait Service: Send + Sync + 'static {
    /// What the relay says it offers.
    const OFFER: Offer;
    /// Bytes of bodies that may be under way to it in pieces.
    const BUDGET: usize;

    /// A connection stands. A service that speaks unasked keeps the voice, until [`Service::disconnected`].
    fn connected(&self, _voice: Voice) {}

    /// The connection is gone, and with it whoever waited.
    fn disconnected(&self) {}

    /// Answers one request. Called in the order of the frames: what depends on it happens before the future is polled.
    /// Dropping the future withdraws the request.
    fn answer(self: Arc<Self>, request: Frame, cancelled: CancellationToken) -> BoxFuture<'static, Outcome>;

    /// Takes a notification; in the order of the frames, without waiting.
    fn hear(&self, _notification: Frame) {}

    /// Takes the answer to a request of its own. False where it asked nothing like it: the session then ends.
    fn take_answer(&self, _response: Frame) -> bool {
        false
    }
}

/// The one answer to a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The result, raw.
    Result(Bytes),
    /// The error object of JSON-RPC that a project's server answered with, raw.
    Error(Bytes),
    /// It was not carried out.
    Refused(Refusal),
}

impl Outcome {
    /// As a frame.
    pub(crate) fn into_frame(self, id: FrameId) -> Frame {
        match self {
            Self::Result(body) => Frame::new(toolgate_contract::frame::Kind::Response, id, body),
            Self::Error(body) => Frame::answered_with_error(id, body),
            Self::Refused(refusal) => Frame::refusal(id, &refusal),
        }
    }
}
