//! One question to a server, and its answer sorted: an answer, a no of the server's own, or a reason for none.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use serde_json::Value;

use super::scopes;
use crate::{
    journal::Contact,
    upstream::{
        UpstreamError,
        reader::{Answer, Fault, ReadPath, Reader},
    },
};

/// How long a server that says no time is left alone.
const PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// Messages are for sorting, and sorted by their beginning.
const LONGEST_MESSAGE: usize = 2048;

/// What a server said.
#[derive(Debug)]
pub(super) enum Said {
    Yes(Answer),
    No(No),
}

/// A no: the status, and the message for sorting it. The message is never passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct No {
    pub(super) status: u16,
    pub(super) message: String,
}

/// Asks, for a call.
pub(super) async fn ask(reader: &Reader, contact: &Contact, path: &ReadPath) -> Result<Said, UpstreamError> {
    let answer = reader
        .get(contact, path)
        .await
        .map_err(|Fault { error, .. }| error)?;
    sort(answer)
}

/// Sorts an answer.
pub(super) fn sort(answer: Answer) -> Result<Said, UpstreamError> {
    match answer.status {
        status if status.is_success() => Ok(Said::Yes(answer)),
        StatusCode::UNAUTHORIZED => Err(UpstreamError::CredentialRejected),
        StatusCode::TOO_MANY_REQUESTS => Err(UpstreamError::RateLimited(pause(&answer.headers))),
        status if status.is_client_error() => Ok(Said::No(No::of(&answer))),
        status if status.is_server_error() => Err(UpstreamError::Failed),
        _ => Err(UpstreamError::Invalid),
    }
}

/// How long to leave the server alone, as it says in seconds.
fn pause(headers: &HeaderMap) -> Duration {
    let told = headers
        .get(header::RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    let seconds = told
        .and_then(|text| text.trim().parse().ok())
        .map(Duration::from_secs);
    seconds
        .unwrap_or(PAUSE)
        .clamp(Duration::from_secs(1), LONGEST_PAUSE)
}

impl No {
    fn of(answer: &Answer) -> Self {
        let told = answer.json::<Value>().ok();
        let message = told
            .as_ref()
            .and_then(|told| told.get("message"))
            .and_then(Value::as_str);
        Self {
            status: answer.status.as_u16(),
            message: message
                .unwrap_or_default()
                .chars()
                .take(LONGEST_MESSAGE)
                .collect(),
        }
    }

    /// Whether a scope is missing, and the token's scopes where the server tells them.
    pub(super) fn missing_scope(&self) -> Option<Option<Vec<String>>> {
        (self.status == 403)
            .then(|| scopes::missing_scope(&self.message))
            .flatten()
    }

    /// What a caller hears of it, when nothing better is known.
    pub(super) fn told(&self, what: &str) -> String {
        match (self.status, self.missing_scope()) {
            (_, Some(_)) => format!(
                "the server refuses {what}: the token of this target lacks read:repository; ask an admin to test the target"
            ),
            (403, None) => format!("the server does not let the token of this target read {what}"),
            (404, None) => format!("{what}: not found, or not visible to the token of this target"),
            (429.., None) | (..=428, None) => {
                format!(
                    "the server refused to tell {what} (HTTP {}); check the arguments",
                    self.status
                )
            }
        }
    }
}
