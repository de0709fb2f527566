//! `Failure` → what a caller of MCP hears: a result that is an error, a JSON-RPC error, or a status of HTTP.
//!
//! One table, without `_`, so that a new reason does not compile until it has its answer here (`decisions.md`,
//! "MCP mapping"). A model can mend or wait out most failures of a call, so it hears of them as results.

use std::fmt::Write;

use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use serde::Serialize;
use toolgate_contract::v1::{ErrorReason, Failure};

use super::{
    envelope::Id,
    era::Era,
    fault::{Beside, Fault, INTERNAL, PARAMS},
    result::{ServerInfo, begin_result},
};
use crate::{
    result::write_text,
    told::{self as facts, Choice, Violation},
};

/// How a failed call is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// A result with `isError`.
    Result,
    /// A JSON-RPC error that HTTP does not know of.
    Error(i32),
    /// By HTTP as well.
    Status,
    /// Nobody is there to hear it.
    Nothing,
}

/// The answer to a call that failed; `None` where there is none.
pub(super) enum Answered {
    /// A whole message.
    Result(Bytes, Beside),
    /// An error.
    Error(Fault),
    /// No message at all.
    Nothing,
}

fn told(reason: ErrorReason, in_session: bool) -> Told {
    use ErrorReason as R;
    match reason {
        R::CredentialInvalid | R::OriginForbidden => Told::Status,
        // What a session is refused with.
        R::ResourceNotFound if in_session => Told::Status,
        R::ToolNotFound | R::CallNotFound | R::ProjectNotFound | R::RequestMalformed => Told::Error(PARAMS),
        R::ProjectOffline | R::Internal | R::Unspecified => Told::Error(INTERNAL),
        R::Cancelled => Told::Nothing,
        R::ResourceNotFound
        | R::RoleForbidden
        | R::WriteRejected
        | R::TargetNotFound
        | R::RequestTooLarge
        | R::ArgumentsInvalid
        | R::TargetRequired
        | R::RoleViolation
        | R::ScopeViolation
        | R::CredentialDrifted
        | R::CredentialRejected
        | R::Conflict
        | R::RateLimited
        | R::UpstreamRateLimited
        | R::Overloaded
        | R::SecretUnavailable
        | R::AuditUnavailable
        | R::UpstreamTimeout
        | R::UpstreamUnreachable
        | R::UpstreamTls
        | R::UpstreamInvalid
        | R::UpstreamFailed
        | R::UpstreamTooLarge
        | R::RelayOffline
        | R::RelayLost
        | R::DeadlineExceeded => Told::Result,
    }
}

/// A failed `tools/call`.
pub(super) fn of_call(
    failure: &Failure,
    id: &Id,
    era: Era,
    in_session: bool,
    server: &ServerInfo,
) -> Answered {
    match told(failure.reason(), in_session) {
        Told::Result => Answered::Result(
            in_result(failure, id, era, server),
            beside(failure, StatusCode::OK),
        ),
        Told::Error(code) => Answered::Error(error(failure, code, StatusCode::OK, id)),
        Told::Status => Answered::Error(by_status(failure, id)),
        Told::Nothing => Answered::Nothing,
    }
}

/// A failure of a method whose result cannot be an error.
pub(super) fn of_method(failure: &Failure, id: &Id) -> Fault {
    match told(failure.reason(), true) {
        Told::Error(code) => error(failure, code, StatusCode::OK, id),
        Told::Result | Told::Status | Told::Nothing => by_status(failure, id),
    }
}

/// A failure of a message that has no id.
pub(super) fn of_nothing(failure: &Failure) -> Fault {
    let status = status(failure);
    Fault {
        code: i32::from(status.as_u16()),
        message: failure.message.clone().into(),
        id: None,
        data: data(failure),
        http: beside(failure, status),
    }
}

/// The code is the status of HTTP, outside the range that JSON-RPC keeps.
fn by_status(failure: &Failure, id: &Id) -> Fault {
    of_nothing(failure).about(Some(id.clone()))
}

fn status(failure: &Failure) -> StatusCode {
    // The table holds statuses only; a test of the contract walks it.
    StatusCode::from_u16(failure.reason().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn error(failure: &Failure, code: i32, status: StatusCode, id: &Id) -> Fault {
    Fault {
        code,
        message: failure.message.clone().into(),
        id: Some(id.clone()),
        data: data(failure),
        http: beside(failure, status),
    }
}

fn beside(failure: &Failure, status: StatusCode) -> Beside {
    Beside {
        status,
        reason: Some(failure.reason()),
        own: false,
        retry_after: failure.retry_after_seconds(),
    }
}

fn data(failure: &Failure) -> Bytes {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        correlation_id: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    }
    let data = Data {
        reason: failure.reason().name(),
        correlation_id: correlation_id(failure),
        retry_after: failure.retry_after_seconds(),
    };
    // Texts and numbers always serialise.
    serde_json::to_vec(&data).unwrap_or_default().into()
}

fn correlation_id(failure: &Failure) -> Option<&str> {
    failure.metadata.get("correlationId").map(String::as_str)
}

fn in_result(failure: &Failure, id: &Id, era: Era, server: &ServerInfo) -> Bytes {
    let mut out = BytesMut::with_capacity(512);
    begin_result(&mut out, id, era);
    out.put_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    write_text(&mut out, &in_words(failure));
    out.put_slice(b"}],\"isError\":true,\"_meta\":");
    let meta = Meta::of(failure, era.is_modern().then_some(server));
    // Texts and numbers always serialise.
    out.put_slice(&serde_json::to_vec(&meta).unwrap_or_else(|_| b"{}".to_vec()));
    out.put_slice(b"}}");
    out.freeze()
}

/// Everything a model needs to mend its call, because most clients show it nothing but the text.
fn in_words(failure: &Failure) -> String {
    let mut text = failure.message.clone();
    // Writing to a text never fails.
    if let Some(seconds) = failure.retry_after_seconds()
        && !text.contains("try again in")
    {
        let _ = write!(text, "; try again in {seconds} s");
    }
    for each in &failure.violations {
        let place = if each.pointer.is_empty() {
            "arguments"
        } else {
            &each.pointer
        };
        let _ = write!(text, "\n- {place}: {}", each.message);
    }
    if !failure.targets.is_empty() {
        text.push_str("\nname one of these targets as target_id:");
    }
    for each in &failure.targets {
        let _ = write!(text, "\n- {} ({})", each.id, each.name);
    }
    text
}

#[derive(Serialize)]
struct Meta<'a> {
    #[serde(rename = "toolgate/reason")]
    reason: &'static str,
    #[serde(rename = "toolgate/correlationId", skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(rename = "toolgate/retryAfter", skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
    #[serde(rename = "toolgate/violations", skip_serializing_if = "Vec::is_empty")]
    violations: Vec<Violation<'a>>,
    #[serde(rename = "toolgate/targets", skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Choice<'a>>,
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server: Option<&'a ServerInfo>,
}

impl<'a> Meta<'a> {
    fn of(failure: &'a Failure, server: Option<&'a ServerInfo>) -> Self {
        Self {
            reason: failure.reason().name(),
            correlation_id: correlation_id(failure),
            retry_after: failure.retry_after_seconds(),
            violations: facts::violations(failure),
            targets: facts::targets(failure),
            server,
        }
    }
}

#[cfg(test)]
mod tests;
