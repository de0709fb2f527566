//! Reads request bodies within bounds: size and time, then nesting and count of values, before anything is parsed.
//!
//! Bodies are one JSON object, not compressed. What stands in it is read by the route. Shared by all dialects.

mod room;

use axum::{
    body::Body,
    extract::{FromRequest, FromRequestParts, Request},
};
use bytes::{Bytes, BytesMut};
use http::{header, request::Parts};
use http_body_util::BodyExt;
use serde::Deserialize;
use toolgate_contract::v1::{ErrorReason, GetSelfRequest};

pub(crate) use self::room::Room;
use self::room::Share;
use crate::{
    link::{Caller, source},
    problem::Problem,
    routes::Shared,
};

/// So much is read of someone whose credential nobody has looked at.
const UNKNOWN: usize = 64 * 1024;
/// How deep arguments may be nested; what a dialect wraps around them comes on top.
const DEPTH: usize = 64;
/// The limit of the arguments is 10,000; the envelope around them is less than the rest.
const VALUES: usize = 10_100;

/// The bytes of a body that is one JSON object by its first byte and within all bounds.
#[derive(Debug)]
pub(crate) struct ObjectBody(pub(crate) Bytes);

impl FromRequest<Shared> for ObjectBody {
    type Rejection = Problem;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let bytes = read(body, &mut parts, shared).await?;
        check_bounds(&bytes)?;
        Ok(Self(bytes))
    }
}

impl ObjectBody {
    /// The same for a route whose every field may be left out: no body at all is an empty object.
    pub(crate) async fn or_empty(request: Request, shared: &Shared) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let mut bytes = read(body, &mut parts, shared).await?;
        if bytes.is_empty() {
            bytes = Bytes::from_static(b"{}");
        }
        check_bounds(&bytes)?;
        Ok(Self(bytes))
    }

    /// Parses the object; unknown, doubled and misspelt keys are told by name and place.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Problem> {
        serde_json::from_slice(&self.0)
            .map_err(|error| malformed(format!("the body cannot be read: {error}")))
    }
}

/// The bytes of a body within the limits of size, time and what may be held at once. Of someone whose credential the core
/// has not looked at yet only the beginning is read.
pub(crate) async fn read(body: Body, parts: &mut Parts, shared: &Shared) -> Result<Bytes, Problem> {
    let (headers, limits) = (&parts.headers, &shared.limits);
    if headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|coding| coding != "identity")
    {
        return Err(malformed(
            "the body is compressed; send it as it is, without content-encoding",
        ));
    }
    let told = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|length| length > limits.body) {
        return Err(too_large(limits.body));
    }
    let mut share = shared
        .bodies
        .share(source(headers, &parts.extensions, shared.behind_proxy));
    share.grow_to(told.unwrap_or(UNKNOWN).min(UNKNOWN))?;
    let whole = collect(body, parts, shared, &mut share);
    tokio::time::timeout(limits.body_read, whole)
        .await
        .unwrap_or_else(|_| {
            Err(malformed(format!(
                "the body did not arrive within {} seconds",
                limits.body_read.as_secs()
            )))
        })
}

async fn collect(
    mut body: Body,
    parts: &mut Parts,
    shared: &Shared,
    share: &mut Share,
) -> Result<Bytes, Problem> {
    let (mut whole, mut known, limit) = (BytesMut::new(), false, shared.limits.body);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| malformed("the body ended before it was whole"))?;
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        if !known && whole.len() + data.len() > UNKNOWN {
            accept(parts, shared).await?;
            share.grow_to(limit)?;
            known = true;
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn accept(parts: &mut Parts, shared: &Shared) -> Result<(), Problem> {
    let caller = Caller::from_request_parts(parts, shared).await?;
    let asked = caller.request(GetSelfRequest {});
    shared
        .link
        .ask(shared.link.sessions().get_self(asked))
        .await
        .map(drop)
}

fn check_bounds(bytes: &[u8]) -> Result<(), Problem> {
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        Some(_) => return Err(malformed("the body is not a JSON object")),
        None => return Err(malformed("the body is empty; a JSON object is wanted")),
    }
    check_counts(bytes, 1).map_err(malformed)
}

/// Counts nesting and values without building anything; `around` levels are the dialect's own. Bytes that are no JSON
/// are left to the parser.
pub(crate) fn check_counts(bytes: &[u8], around: usize) -> Result<(), String> {
    let (mut depth, mut values, mut in_text, mut escaped) = (0_usize, 1_usize, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if in_text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => (depth, values) = (depth + 1, values + 1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => continue,
        }
        if depth > DEPTH + around {
            return Err(format!(
                "the body is nested too deep at byte {at}; 64 levels are allowed"
            ));
        }
        if values > VALUES {
            return Err(format!(
                "the body has too many values at byte {at}; 10000 are allowed"
            ));
        }
    }
    Ok(())
}

fn too_large(limit: usize) -> Problem {
    Problem::new(
        ErrorReason::RequestTooLarge,
        format!("the body is over the limit of {limit} bytes"),
    )
}

pub(crate) fn malformed(message: impl Into<String>) -> Problem {
    Problem::new(ErrorReason::RequestMalformed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_and_count_are_bounded_before_parsing() {
        let check =
            |text: String, expected: bool| assert_eq!(check_bounds(text.as_bytes()).is_ok(), expected);
        let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        check(nested(65), true);
        check(nested(66), false);
        check("[".repeat(1_000_000), false);
        check(format!(r#"{{"a":"{}"}}"#, "[".repeat(1000)), true);
        check(format!(r#"{{"a":"\"{}"}}"#, "[".repeat(1000)), true);
        check(format!(r#"{{"a":[{}1]}}"#, "1,".repeat(10_000)), true);
        check(format!(r#"{{"a":[{}1]}}"#, "1,".repeat(11_000)), false);
        check(format!(r#"{{"a":[{}1]}}"#, "{},".repeat(6_000)), false);
    }

    #[test]
    fn a_body_is_one_object() {
        for text in ["", "  \n", "[]", "1", "\"{\"", "null", "\u{feff}{}"] {
            assert!(check_bounds(text.as_bytes()).is_err(), "{text:?}");
        }
        assert!(check_bounds(b" \r\n\t{}").is_ok());
    }
}
