//! `POST /api/mcp/invoke`: starts a call, or with `Prefer: wait[=N]` waits for its outcome.

use std::{borrow::Cow, time::Duration};

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tonic::Streaming;
use toolgate_contract::v1::{
    CallRequest, CallResponse, ErrorReason, InvokeRequest, InvokeResponse, ToolResult, WatchRequest,
    WatchResponse, watch_response::Event,
};

use crate::{
    body::ObjectBody,
    link::Caller,
    problem::Problem,
    result,
    routes::{Shared, json_answer},
};

pub(in crate::rest) const PATH: &str = "/api/mcp/invoke";

const PREFER: HeaderName = HeaderName::from_static("prefer");
const APPLIED: HeaderName = HeaderName::from_static("preference-applied");
/// Longest wait that is kept open for one request.
const LONGEST_WAIT: u64 = 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Invocation<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "targetId", alias = "target_id")]
    target_id: Option<Cow<'a, str>>,
}

/// How long the caller wants to wait for the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Not at all: the outcome is streamed.
    No,
    /// As long as the call takes.
    Whole,
    /// So many seconds.
    Seconds(u64),
}

pub(in crate::rest) async fn invoke(
    State(shared): State<Shared>,
    headers: HeaderMap,
    caller: Caller,
    body: ObjectBody,
) -> Result<Response, Problem> {
    let request = read(&body)?;
    match Wait::of(&headers) {
        Wait::No => Ok(accepted(start(&shared, caller, request).await?)),
        Wait::Whole => whole(&shared, caller, request).await,
        Wait::Seconds(seconds) => bounded(&shared, caller, request, seconds).await,
    }
}

fn read(body: &ObjectBody) -> Result<InvokeRequest, Problem> {
    let invocation: Invocation<'_> = body.parse()?;
    Ok(InvokeRequest {
        name: invocation.name.into_owned(),
        // A slice of the body: what is checked, hashed and sent are the same bytes.
        arguments: invocation
            .arguments
            .map_or_else(Bytes::new, |raw| body.0.slice_ref(raw.get().as_bytes())),
        target_id: invocation.target_id.map(Cow::into_owned),
    })
}

async fn start(shared: &Shared, caller: Caller, request: InvokeRequest) -> Result<InvokeResponse, Problem> {
    shared
        .link
        .ask(shared.link.broker().invoke(caller.request(request)))
        .await
}

async fn whole(shared: &Shared, caller: Caller, request: InvokeRequest) -> Result<Response, Problem> {
    let request = CallRequest {
        name: request.name,
        arguments: request.arguments,
        target_id: request.target_id,
    };
    let answer = shared
        .link
        .ask(shared.link.broker().call(caller.request(request)))
        .await?;
    let mut response = finished(&answer);
    response
        .headers_mut()
        .insert(APPLIED, HeaderValue::from_static("wait"));
    Ok(response)
}

/// Watches the call so long. When time runs out the watch is held on, because a call whose last watcher leaves is
/// cancelled, and this caller has just been told where to watch.
async fn bounded(
    shared: &Shared,
    caller: Caller,
    request: InvokeRequest,
    seconds: u64,
) -> Result<Response, Problem> {
    let until = Instant::now() + Duration::from_secs(seconds);
    let watcher = caller.again();
    let started = start(shared, caller, request).await?;
    let watch = WatchRequest {
        correlation_id: started.correlation_id.clone(),
        last_event_id: None,
    };
    let events = shared
        .link
        .ask(shared.link.broker().watch(watcher.request(watch)))
        .await?;
    let mut events = Box::new(events);
    let mut outcome = ToolResult::default();
    let waited = tokio::time::timeout_at(until, collect(&mut events, &mut outcome)).await;
    let duration_ms = match waited {
        Ok(ended) => ended?,
        Err(_) => match shared.rest.held.keep(&started.correlation_id, events) {
            Ok(()) => {
                let mut response = accepted(started);
                response.headers_mut().insert(APPLIED, applied(seconds));
                return Ok(response);
            }
            // No room to hold it: better late than cancelled.
            Err(mut events) => collect(&mut events, &mut outcome).await?,
        },
    };
    let answer = CallResponse {
        correlation_id: started.correlation_id,
        result: Some(outcome),
        duration_ms,
    };
    let mut response = finished(&answer);
    response.headers_mut().insert(APPLIED, applied(seconds));
    Ok(response)
}

/// Cancel-safe: what was received before is in `outcome`.
async fn collect(events: &mut Streaming<WatchResponse>, outcome: &mut ToolResult) -> Result<i64, Problem> {
    while let Some(event) = events.message().await? {
        match event.event {
            Some(Event::ToolResult(next)) => *outcome = result::join(std::mem::take(outcome), next),
            Some(Event::Done(done)) => return Ok(done.duration_ms),
            Some(Event::Error(failure)) => return Err(failure.into()),
            None => {}
        }
    }
    Err(Problem::new(
        ErrorReason::Internal,
        "the call's events ended before the call did",
    ))
}

fn finished(answer: &CallResponse) -> Response {
    let mut out = BytesMut::with_capacity(128);
    result::write_members(&mut out, answer.result.as_ref().unwrap_or(&ToolResult::default()));
    out.put_slice(b",\"correlationId\":");
    result::write_text(&mut out, &answer.correlation_id);
    out.put_slice(b",\"durationMs\":");
    result::write_number(&mut out, answer.duration_ms);
    out.put_u8(b'}');
    json_answer(StatusCode::OK, out.freeze())
}

fn accepted(started: InvokeResponse) -> Response {
    let mut out = BytesMut::with_capacity(128);
    out.put_slice(b"{\"correlationId\":");
    result::write_text(&mut out, &started.correlation_id);
    out.put_slice(b",\"streamUrl\":");
    result::write_text(&mut out, &started.stream_url);
    out.put_u8(b'}');
    let mut response = json_answer(StatusCode::ACCEPTED, out.freeze());
    if let Ok(location) = HeaderValue::try_from(started.stream_url) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response.into_response()
}

fn applied(seconds: u64) -> HeaderValue {
    HeaderValue::try_from(format!("wait={seconds}")).unwrap_or(HeaderValue::from_static("wait"))
}

impl Wait {
    /// Reads RFC 7240: the first `wait` counts, and a preference that cannot be read is ignored.
    fn of(headers: &HeaderMap) -> Self {
        let lines = headers
            .get_all(PREFER)
            .iter()
            .filter_map(|line| line.to_str().ok());
        lines
            .flat_map(|line| line.split(','))
            .find_map(Self::parse)
            .unwrap_or(Self::No)
    }

    fn parse(preference: &str) -> Option<Self> {
        let preference = preference.split(';').next()?;
        let (name, value) = match preference.split_once('=') {
            Some((name, value)) => (name, Some(value.trim().trim_matches('"'))),
            None => (preference, None),
        };
        if !name.trim().eq_ignore_ascii_case("wait") {
            return None;
        }
        match value {
            None | Some("") => Some(Self::Whole),
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(Self::Seconds(
                digits.parse().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT),
            )),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_readable_wait_preference_counts() {
        let check = |lines: &[&str], expected: Wait| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(PREFER, HeaderValue::from_str(line).unwrap());
            }
            assert_eq!(Wait::of(&headers), expected, "{lines:?}");
        };
        check(&[], Wait::No);
        check(&["respond-async"], Wait::No);
        check(&["wait"], Wait::Whole);
        check(&["Wait"], Wait::Whole);
        check(&["wait=5"], Wait::Seconds(5));
        check(&["wait = \"5\"; foo=bar"], Wait::Seconds(5));
        check(&["respond-async, wait=10"], Wait::Seconds(10));
        check(&["respond-async", "wait=0"], Wait::Seconds(0));
        check(&["wait=3, wait=9"], Wait::Seconds(3));
        check(&["wait=99999999999999999999"], Wait::Seconds(60));
        check(&["wait=-1"], Wait::No);
        check(&["wait=soon"], Wait::No);
        check(&["waiting=5"], Wait::No);
    }
}
