//! Entity tags of lists: the version of a catalog as `ETag`, and what a caller already has.

use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::{catalog::List, routes::json_answer};

/// A list with its tag.
pub(crate) fn answer(list: &List<Bytes>) -> Response {
    let mut response = json_answer(StatusCode::OK, list.written.clone());
    if let Some(tag) = tag(&list.version) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// That the caller has the list of now.
pub(crate) fn not_modified(version: &str) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    if let Some(tag) = tag(version) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn tag(version: &str) -> Option<HeaderValue> {
    let plain = !version.is_empty()
        && version
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'"');
    plain
        .then(|| HeaderValue::try_from(format!("\"{version}\"")).ok())
        .flatten()
}

/// The entity tags that the caller has.
pub(crate) struct Tags {
    any: bool,
    tags: Vec<String>,
}

impl Tags {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let lines = headers
            .get_all(header::IF_NONE_MATCH)
            .iter()
            .filter_map(|line| line.to_str().ok());
        let mut had = Self {
            any: false,
            tags: Vec::new(),
        };
        for tag in lines.flat_map(|line| line.split(',')).map(str::trim) {
            let weak = tag.strip_prefix("W/").unwrap_or(tag);
            match weak.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) {
                Some(version) => had.tags.push(version.to_owned()),
                None => had.any |= tag == "*",
            }
        }
        had
    }

    /// The version that a caller who has several is asked about.
    pub(crate) fn first(&self) -> Option<String> {
        self.tags.first().cloned()
    }

    pub(crate) fn contains(&self, version: &str) -> bool {
        self.any || self.tags.iter().any(|tag| tag == version)
    }
}
