//! A reply as an HTTP answer: its form, its status, and the headers beside it.

use ::http::{
    HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    request::Parts,
};
use axum::{body::Body, response::Response};
use bytes::Bytes;
use toolgate_contract::v1::ErrorReason;

use super::{
    cors,
    events::{self, Events, Pieces},
    said::{SESSION, Takes},
};
use crate::{
    link::OwnRefusal,
    mcp::{
        fault::Beside,
        reply::{Answer, Messages, Reply},
        revision::Legacy,
    },
    routes::{self, Shared},
};

/// What a call is on the record by, also where its result has no room for it.
const CALL: HeaderName = HeaderName::from_static("toolgate-correlation-id");
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The answer to a message. `revision` is the one of the conversation, where the message belongs to one.
pub(in crate::mcp) fn send(
    reply: Reply,
    takes: Takes,
    revision: Option<Legacy>,
    shared: &Shared,
    asked: &Parts,
) -> Response {
    let mut response = match reply {
        Reply::Nothing => nothing(StatusCode::ACCEPTED),
        Reply::Whole(answer) => whole(answer, takes, revision, shared, asked),
        Reply::Stream(messages) => stream(messages, priming(revision)),
    };
    cors::expose(&asked.headers, response.headers_mut());
    response
}

fn whole(answer: Answer, takes: Takes, revision: Option<Legacy>, shared: &Shared, asked: &Parts) -> Response {
    let beside = answer.beside;
    let streams = answer.streams && takes.events;
    // Failures of HTTP are JSON whatever the client takes: nothing streams.
    let mut response = if (takes.json && !streams) || beside.status != StatusCode::OK {
        let mut response = Response::new(Body::new(Pieces::new(answer.pieces)));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    } else {
        let first = priming(revision.filter(|_| streams)).unwrap_or_default();
        let event = events::event(&answer.joined());
        let mut response = Response::new(Body::from([first, event].concat()));
        mark_as_stream(&mut response);
        response
    };
    *response.status_mut() = beside.status;
    if let Some(id) = answer.session.and_then(|id| HeaderValue::try_from(id).ok()) {
        response.headers_mut().insert(SESSION, id);
    }
    if let Some(id) = answer.call.and_then(|id| HeaderValue::try_from(id).ok()) {
        response.headers_mut().insert(CALL, id);
    }
    tell(&mut response, beside, shared, asked);
    response
}

/// Why there is no result: for the caller in headers, for metrics and record beside the answer.
fn tell(response: &mut Response, beside: Beside, shared: &Shared, asked: &Parts) {
    if let Some(seconds) = beside.retry_after {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let Some(reason) = beside.reason else {
        return;
    };
    response.extensions_mut().insert(reason);
    if beside.own {
        response.extensions_mut().insert(OwnRefusal(reason));
    }
    // The challenge of a 401 is the rim's, the same in every dialect.
    if (beside.status, reason) == (StatusCode::FORBIDDEN, ErrorReason::RoleForbidden) {
        let challenge = shared.challenges.insufficient_scope(asked.uri.path());
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
}

fn stream(messages: Messages, first: Option<Bytes>) -> Response {
    let mut response = Response::new(Body::new(Events::new(messages, first)));
    mark_as_stream(&mut response);
    response
}

fn mark_as_stream(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
}

/// Revision 2025-11-25 begins a stream with an id and no data; older readers take that for a broken message, and
/// nothing is replayed by it.
fn priming(revision: Option<Legacy>) -> Option<Bytes> {
    if revision? < Legacy::Latest {
        return None;
    }
    Some(format!("id: {}\ndata: \n\n", toolgate_contract::ids::CallId::mint()).into())
}

fn nothing(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A session has ended. Some clients take 202 for a failure.
pub(in crate::mcp) fn closed(asked: &Parts) -> Response {
    let mut response = nothing(StatusCode::NO_CONTENT);
    cors::expose(&asked.headers, response.headers_mut());
    response
}

/// There is no stream for this request, and no session to end.
pub(in crate::mcp) fn no_stream(asked: &Parts) -> Response {
    let mut response = routes::method_not_allowed(asked.method.as_str(), "POST");
    cors::expose(&asked.headers, response.headers_mut());
    response
}

pub(in crate::mcp) fn preflight(asked: &Parts) -> Response {
    if !asked.headers.contains_key(::http::header::ORIGIN) {
        return routes::method_not_allowed(asked.method.as_str(), "GET, POST, DELETE");
    }
    let mut response = nothing(StatusCode::NO_CONTENT);
    cors::expose(&asked.headers, response.headers_mut());
    cors::allow(response.headers_mut());
    response
}
