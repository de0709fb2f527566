//! What pages ask for, smaller on its way: longer JSON answers to a GET with the session's cookie go with gzip.
//!
//! Only for pages: programs of the same machine or network would pay for it with time. A short answer is left alone, and
//! with it the one that holds a secret of its caller, whose length could tell of it beside text that others chose.

use axum::{
    body::{Body, HttpBody, to_bytes},
    extract::Request,
    response::Response,
};
use flate2::Compression;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::{headers::takes_gzip, packed::gzip};
use crate::session::ByCookie;

/// From here on it is worth it, in bytes.
const LEAST: u64 = 4 << 10;
/// Longer answers are downloads, which are sent as they come.
const MOST: u64 = 8 << 20;

/// Whether the answer to this request may be packed.
pub(crate) fn may_be_packed(request: &Request) -> bool {
    request.method() == Method::GET
        && request.extensions().get::<ByCookie>().is_some()
        && takes_gzip(request.headers())
}

/// The same answer, packed where that pays.
pub(crate) async fn pack(response: Response) -> Response {
    let is_worth_it = response.status() == StatusCode::OK
        && is_json(response.headers())
        && response
            .body()
            .size_hint()
            .exact()
            .is_some_and(|length| (LEAST..=MOST).contains(&length));
    if !is_worth_it {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(plain) = to_bytes(body, MOST as usize).await else {
        // A body whose length is known is whole in memory, so this is not met.
        head.status = StatusCode::INTERNAL_SERVER_ERROR;
        return Response::from_parts(head, Body::empty());
    };
    head.headers
        .append(header::VARY, HeaderValue::from_name(header::ACCEPT_ENCODING));
    let packed = gzip(&plain, Compression::fast()).filter(|packed| packed.len() < plain.len());
    if packed.is_some() {
        head.headers
            .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        head.headers.remove(header::CONTENT_LENGTH);
    }
    Response::from_parts(head, packed.unwrap_or(plain).into())
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|of| of == "application/json")
        && !headers.contains_key(header::CONTENT_ENCODING)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use bytes::Bytes;
    use flate2::read::GzDecoder;

    use super::*;

    async fn packed(content_type: &str, body: Bytes) -> (HeaderMap, Bytes) {
        let response = Response::builder()
            .header(header::CONTENT_TYPE, content_type)
            .body(body.into())
            .unwrap();
        let (head, body) = pack(response).await.into_parts();
        (head.headers, to_bytes(body, usize::MAX).await.unwrap())
    }

    #[tokio::test]
    async fn a_long_answer_is_packed_and_is_the_same_unpacked() {
        let plain = Bytes::from(format!("[{}0]", "12345,".repeat(10_000)));
        let (headers, body) = packed("application/json", plain.clone()).await;
        assert_eq!(headers[header::CONTENT_ENCODING], "gzip");
        assert_eq!(headers[header::VARY], "accept-encoding");
        assert!(body.len() < plain.len() / 10, "{}", body.len());
        let mut text = vec![];
        GzDecoder::new(&body[..]).read_to_end(&mut text).unwrap();
        assert_eq!(text, plain);
    }

    #[tokio::test]
    async fn what_is_short_or_no_json_is_left_alone() {
        let long = Bytes::from("1".repeat(10_000));
        for (content_type, body) in [
            ("application/json", Bytes::from("1".repeat(4_095))),
            ("text/event-stream", long.clone()),
            ("application/x-ndjson", long.clone()),
            ("text/javascript", long),
        ] {
            let (headers, sent) = packed(content_type, body.clone()).await;
            assert!(!headers.contains_key(header::CONTENT_ENCODING), "{content_type}");
            assert_eq!(sent, body);
        }
    }

    #[test]
    fn only_a_get_of_a_page_that_takes_it() {
        let check = |method: &str, by_cookie: bool, coding: &str, expected: bool| {
            let mut request = Request::builder()
                .method(method)
                .header(header::ACCEPT_ENCODING, coding)
                .body(Body::empty())
                .unwrap();
            if by_cookie {
                request.extensions_mut().insert(ByCookie);
            }
            assert_eq!(may_be_packed(&request), expected, "{method} {by_cookie} {coding}");
        };
        check("GET", true, "gzip, br", true);
        check("GET", false, "gzip, br", false);
        check("POST", true, "gzip, br", false);
        check("GET", true, "identity", false);
    }
}
