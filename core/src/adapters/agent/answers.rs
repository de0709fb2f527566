//! What a back end answered, as whoever called the tool is told it (`agent-tools.md` §1).
//!
//! A success is told to the byte. Of what is no success at most 4,096 bytes are told, and nothing of a 401 or 403.

use std::{sync::Arc, time::Duration};

use http::{StatusCode, header::RETRY_AFTER};

use super::client::Answer;
use crate::{
    adapters::said,
    upstream::{ToolResult, UpstreamError},
};

/// Of a body that is no success.
const MOST: usize = 4_096;
/// What a failure's text may take in a trailer, where most of what is no letter is written with three characters and
/// the whole stands a second time in base64.
const TRAILER: usize = 10_000;
/// Told as the wait where a back end does not say how long.
const UNSAID: Duration = Duration::from_secs(30);
const LONGEST_WAIT: u64 = 3_600;

/// The result of a call. `clean` takes the gateway's own credential out of a text.
pub(super) fn result(answer: &Answer, clean: impl Fn(String) -> String) -> Result<ToolResult, UpstreamError> {
    let status = answer.status;
    match status.as_u16() {
        204 | 205 => said::text(&nothing(status)),
        200..=299 if answer.body.is_empty() => said::text(&nothing(status)),
        200..=299 => {
            let body = String::from_utf8(answer.body.to_vec()).map_err(|_| UpstreamError::Invalid)?;
            said::text(&clean(body))
        }
        401 => Err(UpstreamError::CredentialRejected),
        403 => said::no(
            "the back end refuses this (403 Forbidden); an admin looks at what the target's credential may do there",
        ),
        429 => Err(UpstreamError::RateLimited(wait(answer))),
        400..=499 => said::no(&format!(
            "the back end says no ({}){}",
            named(status),
            told(answer, &clean, MOST)
        )),
        500..=599 => {
            let mut text = format!("{}{}", named(status), told(answer, &clean, MOST));
            let mut most = MOST;
            while in_trailer(&text) > TRAILER {
                most /= 2;
                text = format!("{}{}", named(status), told(answer, &clean, most));
            }
            Err(UpstreamError::FailedSaying(Arc::from(text)))
        }
        // No redirect is followed: what was asked may have been a write, and the credential goes nowhere else.
        _ => Err(UpstreamError::Invalid),
    }
}

/// What is told of a call that the back end cannot have: it does not know the path of the tool, or its method.
pub(super) fn is_unknown_path(status: StatusCode) -> bool {
    matches!(status.as_u16(), 404 | 405)
}

fn nothing(status: StatusCode) -> String {
    format!("done; the back end answered {} without a body", named(status))
}

fn named(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("{} {reason}", status.as_u16()),
        None => status.as_str().to_owned(),
    }
}

/// The body behind a colon, or the part of it that is told; nothing where there is none.
fn told(answer: &Answer, clean: impl Fn(String) -> String, most: usize) -> String {
    let body = clean(String::from_utf8_lossy(&answer.body).into_owned());
    if body.trim().is_empty() {
        return String::new();
    }
    let end = body.floor_char_boundary(most);
    match answer.more || end < body.len() {
        false => format!(": {body}"),
        true => format!(": {}\n[cut: only the first {end} bytes are told]", &body[..end]),
    }
}

fn in_trailer(text: &str) -> usize {
    let in_message: usize = text
        .bytes()
        .map(
            |byte| match byte.is_ascii_alphanumeric() || b"-._~:,;/()[]=".contains(&byte) {
                true => 1,
                false => 3,
            },
        )
        .sum();
    in_message + text.len() * 4 / 3
}

/// How long the back end wants to be left alone, where it says so in seconds. It is told to the caller, and kept by it or not.
fn wait(answer: &Answer) -> Duration {
    let header = answer
        .headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let seconds = header.and_then(|text| text.trim().parse::<u64>().ok());
    seconds.map_or(UNSAID, |seconds| {
        Duration::from_secs(seconds.clamp(1, LONGEST_WAIT))
    })
}

#[cfg(test)]
mod tests;
