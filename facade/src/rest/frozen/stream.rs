//! `GET /api/mcp/stream/{correlationId}`: a call's events as server-sent events.
//!
//! Events are pulled from the core as fast as the socket takes them, so a slow reader fills the core's bounded queue
//! and nothing here. Dropping the body drops the rpc, which is how the core learns that a reader left.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{body::Body, extract::State, response::Response};
use bytes::{BufMut, Bytes, BytesMut};
use futures::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body::Frame;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Status, Streaming};
use toolgate_contract::v1::{ErrorReason, Failure, WatchRequest, WatchResponse, watch_response::Event};

use super::super::path::Variable;
use crate::{
    link::Caller,
    problem::{self, Problem},
    result,
    routes::{Shared, method_not_allowed},
};

pub(in crate::rest) const PATH: &str = "/api/mcp/stream/{correlation_id}";

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// The core answers for an ended call without waiting for anything.
const AT_ONCE: Duration = Duration::from_millis(200);
/// Events that are ready leave together up to this size.
const ENOUGH: usize = 32 * 1024;

pub(in crate::rest) async fn stream(
    State(shared): State<Shared>,
    Variable(correlation_id): Variable,
    method: Method,
    headers: HeaderMap,
    caller: Caller,
) -> Result<Response, Problem> {
    if method == Method::HEAD {
        // A watch that reads nothing would, on leaving, cancel the call.
        return Ok(method_not_allowed("HEAD", "GET"));
    }
    let last_event_id = match headers.get(LAST_EVENT_ID) {
        Some(id) => Some(id.to_str().map_err(|_| malformed_id())?.to_owned()),
        None => None,
    };
    let resumed = last_event_id.is_some();
    let request = WatchRequest {
        correlation_id: correlation_id.clone(),
        last_event_id,
    };
    let mut watch = shared
        .link
        .ask(shared.link.broker().watch(caller.request(request)))
        .await?;
    shared.rest.held.release(&correlation_id);
    let first = if resumed { first(&mut watch).await } else { None };
    if let Some(Ok(None)) = first {
        return Ok(nothing_left());
    }
    let first = first.and_then(Result::transpose);
    let mut response = Response::new(Body::new(Events::new(
        watch,
        first,
        resumed,
        shared.ending.waited.clone(),
    )));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

/// What a resumed stream has to tell at once; `None` while the call goes on.
async fn first(watch: &mut Streaming<WatchResponse>) -> Option<Result<Option<WatchResponse>, Status>> {
    tokio::time::timeout(AT_ONCE, watch.message()).await.ok()
}

/// The one status that keeps a browser from coming back for an ended stream for ever.
fn nothing_left() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn malformed_id() -> Problem {
    Problem::new(
        ErrorReason::RequestMalformed,
        "header last-event-id is not plain text",
    )
}

/// The body of an event stream. Owns the rpc.
struct Events {
    watch: Streaming<WatchResponse>,
    /// What was read before the body was made.
    first: Option<Result<WatchResponse, Status>>,
    /// When the next comment is due; made when the stream first has nothing to say.
    quiet: Option<Pin<Box<Sleep>>>,
    /// A resumed stream may rightly have nothing left to tell.
    may_be_empty: bool,
    ended: bool,
    /// Readers that only wait are sent elsewhere; asked once there is nothing to say.
    sent_away: CancellationToken,
    leaving: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl Events {
    fn new(
        watch: Streaming<WatchResponse>,
        first: Option<Result<WatchResponse, Status>>,
        resumed: bool,
        sent_away: CancellationToken,
    ) -> Self {
        Self {
            watch,
            first,
            sent_away,
            leaving: None,
            quiet: None,
            may_be_empty: resumed,
            ended: false,
        }
    }

    /// Collects what is ready now.
    fn gather(&mut self, cx: &mut Context<'_>) -> BytesMut {
        let mut out = BytesMut::new();
        while !self.ended && out.len() < ENOUGH {
            let next = match self.first.take() {
                Some(first) => Poll::Ready(Some(first)),
                None => Pin::new(&mut self.watch).poll_next(cx),
            };
            match next {
                Poll::Ready(Some(Ok(event))) => {
                    self.may_be_empty = false;
                    self.ended = write(&mut out, &event);
                }
                Poll::Ready(Some(Err(status))) => self.fail(&mut out, &Failure::from_status(&status)),
                Poll::Ready(None) if self.may_be_empty => self.ended = true,
                Poll::Ready(None) => self.fail(
                    &mut out,
                    &Failure::new(
                        ErrorReason::Internal,
                        "the stream ended before the call did; read it again",
                    ),
                ),
                Poll::Pending => break,
            }
        }
        out
    }

    fn fail(&mut self, out: &mut BytesMut, failure: &Failure) {
        self.ended = true;
        write_error(out, failure);
    }

    fn poll_leaving(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let leaving = self
            .leaving
            .get_or_insert_with(|| Box::pin(self.sent_away.clone().cancelled_owned()));
        leaving.as_mut().poll(cx)
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let quiet = self
            .quiet
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(KEEP_ALIVE)));
        quiet.as_mut().poll(cx)
    }
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let mut out = self.gather(cx);
        if out.is_empty() {
            if self.ended {
                return Poll::Ready(None);
            }
            if self.poll_leaving(cx).is_ready() {
                // An end without a last event: readers of event streams come back with the id of what they saw.
                self.ended = true;
                return Poll::Ready(None);
            }
            if self.poll_quiet(cx).is_pending() {
                return Poll::Pending;
            }
            out.put_slice(b":\n\n");
        }
        if let Some(quiet) = &mut self.quiet {
            quiet.as_mut().reset(Instant::now() + KEEP_ALIVE);
        }
        Poll::Ready(Some(Ok(Frame::data(out.freeze()))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }
}

/// Writes one event and tells whether it is the last one.
fn write(out: &mut BytesMut, response: &WatchResponse) -> bool {
    let Some(event) = &response.event else {
        return false;
    };
    if !response.id.is_empty() && !response.id.bytes().any(|byte| byte.is_ascii_control()) {
        out.put_slice(b"id: ");
        out.put_slice(response.id.as_bytes());
        out.put_u8(b'\n');
    }
    match event {
        Event::ToolResult(outcome) => {
            out.put_slice(b"event: tool_result\ndata: ");
            result::write(out, outcome);
            out.put_slice(b"\n\n");
            false
        }
        Event::Done(done) => {
            out.put_slice(b"event: done\ndata: {\"durationMs\":");
            result::write_number(out, done.duration_ms);
            out.put_slice(b"}\n\n");
            true
        }
        Event::Error(failure) => {
            write_error(out, failure);
            true
        }
    }
}

fn write_error(out: &mut BytesMut, failure: &Failure) {
    out.put_slice(b"event: error\ndata: ");
    out.put_slice(&problem::json(failure));
    out.put_slice(b"\n\n");
}
