//! The one document of all pages. It names its files by the build, so it is asked for anew each time and they never are.

use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::{
    headers::{protect, send},
    packed::Bundle,
};
use crate::entity_tags::Tags;

/// The document, or that the reader has it.
pub(super) fn answer(bundle: &Bundle, asked: &HeaderMap) -> Response {
    let mut response = if Tags::of(asked).contains(&bundle.build) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        send(&bundle.document, asked)
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    // Weak: the document is the same one, packed or not.
    if let Ok(tag) = HeaderValue::try_from(format!("W/\"{}\"", bundle.build)) {
        headers.insert(header::ETAG, tag);
    }
    protect(headers);
    response
}

/// The document where nothing has the address: its script says so to whoever typed it.
pub(super) fn nowhere(bundle: &Bundle, asked: &HeaderMap) -> Response {
    let mut response = send(&bundle.document, asked);
    *response.status_mut() = StatusCode::NOT_FOUND;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    protect(headers);
    response
}
