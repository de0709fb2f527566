//! The WebSocket end of uplinks: frames in, frames out, unread.
//!
//! A relay proves who it is in the frames themselves, so nothing is checked here but that no browser knocks. Each side
//! is pulled only as fast as the other takes it; when one ends, the other is closed.

use std::time::Duration;

use axum::{
    extract::{
        FromRequestParts, Request, State,
        ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code},
    },
    response::{IntoResponse, Response},
};
use futures::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use http::header;
use metrics::gauge;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::{BinaryMetadataValue, MetadataValue};
use toolgate_contract::v1::{AttachRequest, ErrorReason, Failure};

use crate::{
    link::{Caller, Link, Peer},
    problem::Problem,
    routes::Shared,
};

pub(crate) const PATH: &str = "/uplink";

/// A frame's body is at most 8 MiB, its header far below the rest.
const LARGEST_MESSAGE: usize = 9 * 1024 * 1024;
/// Frames that wait for the core; bodies over 64 KiB come in pieces, so these are small.
const WAITING: usize = 4;
const CLOSING: Duration = Duration::from_secs(1);
const EXPORTER: &str = "tls-exporter-bin";

pub(crate) async fn attach(
    State(shared): State<Shared>,
    mut caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    if parts.headers.contains_key(header::ORIGIN) {
        return Err(Problem::new(
            ErrorReason::OriginForbidden,
            "uplinks are for relays, not for web pages",
        ));
    }
    let exporter = parts.extensions.get::<Peer>().and_then(|peer| peer.exporter);
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &shared)
        .await
        .map_err(|rejection| {
            Problem::new(
                ErrorReason::RequestMalformed,
                format!("this path takes relays that open a WebSocket: {rejection}"),
            )
        })?;
    if let Some(exporter) = exporter {
        let value: BinaryMetadataValue = MetadataValue::from_bytes(&exporter);
        caller.metadata_mut().insert_bin(EXPORTER, value);
    }
    let limits = upgrade
        .max_message_size(LARGEST_MESSAGE)
        .max_frame_size(LARGEST_MESSAGE);
    Ok(limits
        .on_upgrade(move |socket| {
            let tasks = shared.ending.bridges.clone();
            tasks.track_future(bridge(shared, caller, socket))
        })
        .into_response())
}

/// Why the two sides are closed.
enum End {
    /// The relay left, or its socket broke.
    Relay,
    /// The relay sent what is no frame.
    NotAFrame,
    /// The core ended the stream, in peace or with a reason.
    Core(Option<Failure>),
    /// The relay takes nothing any more.
    Stuck,
    /// The facade stops.
    Shutdown,
}

async fn bridge(shared: Shared, caller: Caller, socket: WebSocket) {
    let open = gauge!("toolgate_uplink_sockets");
    open.increment(1);
    let (mut to_relay, mut from_relay) = socket.split();
    let (to_core, frames) = mpsc::channel(WAITING);
    let end = tokio::select! {
        end = inward(&mut from_relay, to_core) => end,
        end = outward(&shared.link, caller, frames, &mut to_relay, shared.limits.write) => end,
        () = shared.ending.uplinks.cancelled() => End::Shutdown,
    };
    if let Some(frame) = end.close_frame() {
        let _ = timeout(CLOSING, to_relay.send(Message::Close(Some(frame)))).await;
    }
    let _ = timeout(CLOSING, to_relay.close()).await;
    open.decrement(1);
}

async fn inward(socket: &mut SplitStream<WebSocket>, core: mpsc::Sender<AttachRequest>) -> End {
    while let Some(message) = socket.next().await {
        match message {
            Ok(Message::Binary(frame)) => {
                if core.send(AttachRequest { frame }).await.is_err() {
                    // The core no longer listens; its own end tells why.
                    std::future::pending::<()>().await;
                }
            }
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            Ok(Message::Text(_)) => return End::NotAFrame,
            Ok(Message::Close(_)) | Err(_) => return End::Relay,
        }
    }
    End::Relay
}

async fn outward(
    link: &Link,
    caller: Caller,
    frames: mpsc::Receiver<AttachRequest>,
    socket: &mut SplitSink<WebSocket, Message>,
    patience: Duration,
) -> End {
    let request = caller.request(ReceiverStream::new(frames));
    let mut answers = match link.uplink().attach(request).await {
        Ok(answers) => answers.into_inner(),
        Err(status) => return End::Core(Some(Failure::from_status(&status))),
    };
    loop {
        let frame = match answers.message().await {
            Ok(Some(answer)) => answer.frame,
            Ok(None) => return End::Core(None),
            Err(status) => return End::Core(Some(Failure::from_status(&status))),
        };
        match timeout(patience, socket.send(Message::Binary(frame))).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return End::Relay,
            Err(_) => return End::Stuck,
        }
    }
}

impl End {
    /// Codes of RFC 6455 §7.4.1; the reason is the failure's slug, which fits a control frame.
    fn close_frame(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Relay => return None,
            Self::NotAFrame => (close_code::UNSUPPORTED, "frames are binary"),
            Self::Core(None) => (close_code::NORMAL, ""),
            Self::Core(Some(failure)) => (close_code::POLICY, failure.reason().slug()),
            Self::Stuck => (close_code::POLICY, "too slow"),
            Self::Shutdown => (close_code::RESTART, "shutting down"),
        };
        Some(CloseFrame {
            code,
            reason: reason.into(),
        })
    }
}
