//! A response of server-sent events.

use std::convert::Infallible;

use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use futures::stream;

/// Each text is one whole event, its blank line included.
pub(crate) fn response(events: Vec<String>) -> Response {
    let events = stream::iter(events.into_iter().map(Ok::<_, Infallible>));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, Body::from_stream(events)).into_response()
}
