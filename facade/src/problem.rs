//! `Failure` → problem details of RFC 9457.
//!
//! The type is a stable URN per reason, title and status come from the contract's one table, and the detail is the
//! text that was written for callers. Facts of the failure become members beside them.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::value::RawValue;
use tonic::Status;
use toolgate_contract::v1::{ErrorReason, Failure};

use crate::{
    link::OwnRefusal,
    told::{self, Choice, Violation},
};

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Members that a fact of the same name must not replace.
const OWN: [&str; 9] = [
    "type",
    "title",
    "status",
    "detail",
    "instance",
    "reason",
    "violations",
    "targets",
    "retryAfterMs",
];

/// A failure on its way to an HTTP caller.
#[derive(Debug)]
pub(crate) struct Problem {
    failure: Box<Failure>,
    /// Whether the facade itself refused, so that the core has to be told.
    own: bool,
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self {
            failure: Box::new(failure),
            own: false,
        }
    }
}

impl Problem {
    pub(crate) fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self::refusing(Failure::new(reason, message))
    }

    /// A refusal of the facade's own.
    pub(crate) fn refusing(failure: Failure) -> Self {
        Self {
            own: true,
            ..failure.into()
        }
    }

    /// Our fault; what it was stands in the log.
    pub(crate) fn internal() -> Self {
        Self::new(ErrorReason::Internal, "internal fault; try again later")
    }

    /// The failure itself, for a dialect that tells it in its own words.
    pub(crate) fn into_failure(self) -> Failure {
        *self.failure
    }

    /// Why.
    pub(crate) fn reason(&self) -> ErrorReason {
        self.failure.reason()
    }

    /// Whether the facade itself refused.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    #[cfg(test)]
    pub(crate) fn failure(&self) -> &Failure {
        &self.failure
    }
}

impl From<Status> for Problem {
    fn from(status: Status) -> Self {
        Failure::from_status(&status).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.failure.reason().http_status();
        // The table holds statuses only; a test walks it.
        self.with_status(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
    }
}

impl Problem {
    /// The answer with a status that is HTTP's own business, such as 405.
    pub(crate) fn with_status(self, status: StatusCode) -> Response {
        let reason = self.failure.reason();
        let mut details = Details::of(&self.failure);
        details.status = status.as_u16();
        let mut response = Response::new(details.write().into());
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, PROBLEM_JSON);
        if let Some(seconds) = self.failure.retry_after_seconds() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(reason);
        if self.own {
            response.extensions_mut().insert(OwnRefusal(reason));
        }
        response
    }
}

/// The problem's JSON on one line, as bodies and SSE events carry it.
pub(crate) fn json(failure: &Failure) -> Bytes {
    Details::of(failure).write()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Details<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    reason: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Violation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<i64>,
    #[serde(flatten)]
    facts: BTreeMap<&'a str, Fact<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Fact<'a> {
    Text(&'a str),
    Json(Box<RawValue>),
}

impl<'a> Details<'a> {
    fn write(&self) -> Bytes {
        // Strings, numbers and checked JSON always serialise.
        serde_json::to_vec(self).unwrap_or_else(|_| b"{}".to_vec()).into()
    }

    fn of(failure: &'a Failure) -> Self {
        let reason = failure.reason();
        Self {
            r#type: reason.problem_type(),
            title: reason.title(),
            status: reason.http_status(),
            detail: &failure.message,
            instance: failure
                .metadata
                .get("correlationId")
                .map(|id| format!("urn:toolgate:call:{id}")),
            reason: reason.name(),
            violations: told::violations(failure),
            targets: told::targets(failure),
            retry_after_ms: failure.retry_after_ms,
            facts: failure
                .metadata
                .iter()
                .filter(|(key, _)| !OWN.contains(&key.as_str()))
                .map(|(key, value)| (key.as_str(), Fact::of(key, value)))
                .collect(),
        }
    }
}

impl<'a> Fact<'a> {
    /// The verdict of a validation travels as JSON; every other fact is a text.
    fn of(key: &str, value: &'a str) -> Self {
        if key == "validation"
            && let Ok(json) = serde_json::from_str(value)
        {
            return Self::Json(json);
        }
        Self::Text(value)
    }
}
