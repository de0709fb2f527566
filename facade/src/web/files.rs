//! The files that the document names. Their address holds the hash of all of them, so what stands at one never changes.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use toolgate_contract::v1::ErrorReason;

use super::{headers::send, packed::Bundle};
use crate::problem::Problem;

const SAME_SITE: (HeaderName, HeaderValue) = (
    HeaderName::from_static("cross-origin-resource-policy"),
    HeaderValue::from_static("same-origin"),
);

/// That an answer is no document whatever a browser does with it, so that what only documents heed can be left out: a page
/// asks for eighty such files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoDocument;

/// The file at this path, which is compared as it was sent: a name that has to be decoded first is none of ours.
pub(super) fn answer(bundle: &Bundle, path: &str, asked: &HeaderMap) -> Result<Response, Problem> {
    let named = path.strip_prefix("/web/").and_then(|rest| rest.split_once('/'));
    let found = match named {
        Some((build, name)) if build == bundle.build => bundle.file(name),
        _ => None,
    };
    let mut response = send(found.ok_or_else(missing)?, asked);
    let headers = response.headers_mut();
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.insert(SAME_SITE.0, SAME_SITE.1);
    // A picture can be opened as a document; scripts and styles are none.
    if headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|of| of != "image/svg+xml")
    {
        response.extensions_mut().insert(NoDocument);
    }
    Ok(response)
}

/// Of another build, as a page that was open while the gateway was replaced asks for it, or of none.
fn missing() -> Problem {
    Problem::new(
        ErrorReason::ResourceNotFound,
        "no such file in this build of the pages; load the page again",
    )
}
