//! `Failure` ⇄ `tonic::Status` with `google.rpc` details.
//!
//! Ours carry `ErrorInfo` (domain `toolgate`), and where there is something to say `BadRequest` (violations),
//! `PreconditionFailure` (targets to choose from) and `RetryInfo`, so that clients which know none of our messages
//! read them as well. Back again nothing is lost. A status that is not ours is answered by its code, and its text is
//! kept only where it was written for callers.

use std::time::Duration;

use prost::Message;
use prost_types::Any;
use tonic::{Code, Status};
use tonic_types::pb::{
    self, bad_request::FieldViolation, precondition_failure::Violation as PreconditionViolation,
};

use crate::v1::{ErrorReason, Failure, TargetChoice, Violation};

/// The domain of our `ErrorInfo`.
pub const DOMAIN: &str = "toolgate";

/// Metadata key that tells how many violations or targets were left out for size.
pub const OMITTED: &str = "omitted";

/// Details ride in a trailer; HTTP/2 peers commonly refuse header lists over 16 KiB, and base64 adds a third.
const DETAILS_LIMIT: usize = 8 * 1024;

/// Type of the precondition violations that name the targets to choose from.
const TARGET: &str = "TARGET_REQUIRED";

impl Failure {
    /// A failure with the text meant for the caller: lower case, no full stop, nothing internal.
    #[must_use]
    pub fn new(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// Adds a fact, such as `correlationId`.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Adds the places where the request is wrong.
    #[must_use]
    pub fn with_violations(mut self, violations: impl IntoIterator<Item = Violation>) -> Self {
        self.violations.extend(violations);
        self
    }

    /// Adds the targets to choose from.
    #[must_use]
    pub fn with_targets(mut self, targets: impl IntoIterator<Item = TargetChoice>) -> Self {
        self.targets.extend(targets);
        self
    }

    /// Tells how long to wait before trying again, in whole milliseconds, rounded up.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        let ms = wait.as_nanos().div_ceil(1_000_000);
        self.retry_after_ms = Some(i64::try_from(ms).unwrap_or(i64::MAX));
        self
    }

    /// The wait in whole seconds, rounded up and at least one, as `Retry-After` wants it.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        let ms = u64::try_from(self.retry_after_ms?).unwrap_or(0);
        Some(ms.div_ceil(1000).max(1))
    }

    /// The status of this failure. Lists too long for a trailer are cut, and `omitted` in the metadata counts it.
    #[must_use]
    pub fn into_status(mut self) -> Status {
        let code = self.reason().code();
        let mut details = self.details(code);
        let mut omitted = 0_usize;
        while details.encoded_len() > DETAILS_LIMIT
            && !(self.violations.is_empty() && self.targets.is_empty())
        {
            let list_len = self.violations.len().max(self.targets.len());
            // Halving keeps this logarithmic; a handful of entries too many left out harms nobody.
            let keep = list_len / 2;
            omitted += self.violations.len().saturating_sub(keep) + self.targets.len().saturating_sub(keep);
            self.violations.truncate(keep);
            self.targets.truncate(keep);
            self.metadata.insert(OMITTED.into(), omitted.to_string());
            details = self.details(code);
        }
        Status::with_details(code, self.message, details.encode_to_vec().into())
    }

    /// The failure behind a status.
    #[must_use]
    pub fn from_status(status: &Status) -> Self {
        ours(status).unwrap_or_else(|| foreign(status))
    }

    fn details(&self, code: Code) -> pb::Status {
        let mut details = vec![pack(&pb::ErrorInfo {
            reason: self.reason().name().into(),
            domain: DOMAIN.into(),
            metadata: self.metadata.clone(),
        })];
        if !self.violations.is_empty() {
            let field_violations = self.violations.iter().map(field_violation).collect();
            details.push(pack(&pb::BadRequest { field_violations }));
        }
        if !self.targets.is_empty() {
            let violations = self.targets.iter().map(precondition).collect();
            details.push(pack(&pb::PreconditionFailure { violations }));
        }
        if let Some(ms) = self.retry_after_ms {
            details.push(pack(&pb::RetryInfo {
                retry_delay: Some(duration(ms)),
            }));
        }
        pb::Status {
            code: code.into(),
            message: self.message.clone(),
            details,
        }
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Self {
        failure.into_status()
    }
}

fn ours(status: &Status) -> Option<Failure> {
    let details = pb::Status::decode(status.details()).ok()?.details;
    let info: pb::ErrorInfo = unpack(&details)?;
    if info.domain != DOMAIN {
        return None;
    }
    // A reason of a newer peer is not known here, but its code is.
    let reason = ErrorReason::from_name(&info.reason).unwrap_or_else(|| of_code(status.code()));
    let bad_request: pb::BadRequest = unpack(&details).unwrap_or_default();
    let precondition: pb::PreconditionFailure = unpack(&details).unwrap_or_default();
    let retry: Option<pb::RetryInfo> = unpack(&details);
    Some(Failure {
        reason: reason.into(),
        message: status.message().to_owned(),
        metadata: info.metadata,
        violations: bad_request.field_violations.into_iter().map(violation).collect(),
        retry_after_ms: retry.and_then(|info| info.retry_delay).map(milliseconds),
        targets: precondition.violations.into_iter().filter_map(target).collect(),
    })
}

fn foreign(status: &Status) -> Failure {
    let reason = of_code(status.code());
    // Transports and libraries write these texts for operators; they name sockets and types.
    let message = match status.code() {
        Code::Ok | Code::Unknown | Code::Internal | Code::DataLoss => "internal fault; try again later",
        Code::Unavailable => "the gateway's core cannot be reached; try again later",
        Code::Unimplemented => {
            "the gateway's core does not know this request; it may be older than its caller"
        }
        Code::Unauthenticated | Code::DeadlineExceeded | Code::Cancelled | Code::ResourceExhausted => {
            reason.title()
        }
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange => status.message(),
    };
    Failure::new(reason, message)
}

/// The reason nearest to a code, for statuses that are not ours.
fn of_code(code: Code) -> ErrorReason {
    match code {
        Code::Ok | Code::Unknown | Code::Internal | Code::DataLoss | Code::Unimplemented => {
            ErrorReason::Internal
        }
        Code::Cancelled => ErrorReason::Cancelled,
        Code::InvalidArgument => ErrorReason::RequestMalformed,
        Code::DeadlineExceeded => ErrorReason::DeadlineExceeded,
        Code::NotFound => ErrorReason::ResourceNotFound,
        Code::AlreadyExists | Code::Aborted | Code::FailedPrecondition => ErrorReason::Conflict,
        Code::PermissionDenied => ErrorReason::RoleForbidden,
        Code::ResourceExhausted | Code::Unavailable => ErrorReason::Overloaded,
        // What tonic answers to a message over its size limit.
        Code::OutOfRange => ErrorReason::RequestTooLarge,
        Code::Unauthenticated => ErrorReason::CredentialInvalid,
    }
}

/// A message of `google.rpc` that we put into details.
trait Detail: Message + Default {
    const NAME: &'static str;
}

impl Detail for pb::ErrorInfo {
    const NAME: &'static str = "google.rpc.ErrorInfo";
}

impl Detail for pb::BadRequest {
    const NAME: &'static str = "google.rpc.BadRequest";
}

impl Detail for pb::PreconditionFailure {
    const NAME: &'static str = "google.rpc.PreconditionFailure";
}

impl Detail for pb::RetryInfo {
    const NAME: &'static str = "google.rpc.RetryInfo";
}

fn pack<D: Detail>(detail: &D) -> Any {
    Any {
        type_url: format!("type.googleapis.com/{}", D::NAME),
        value: detail.encode_to_vec(),
    }
}

fn unpack<D: Detail>(details: &[Any]) -> Option<D> {
    let detail = details
        .iter()
        .find(|any| any.type_url.rsplit('/').next() == Some(D::NAME))?;
    D::decode(detail.value.as_slice()).ok()
}

fn field_violation(violation: &Violation) -> FieldViolation {
    FieldViolation {
        field: violation.pointer.clone(),
        description: violation.message.clone(),
        reason: violation.keyword.clone(),
        localized_message: None,
    }
}

fn violation(field: FieldViolation) -> Violation {
    Violation {
        pointer: field.field,
        keyword: field.reason,
        message: field.description,
    }
}

fn precondition(target: &TargetChoice) -> PreconditionViolation {
    PreconditionViolation {
        r#type: TARGET.into(),
        subject: target.id.clone(),
        description: target.name.clone(),
    }
}

fn target(violation: PreconditionViolation) -> Option<TargetChoice> {
    (violation.r#type == TARGET).then_some(TargetChoice {
        id: violation.subject,
        name: violation.description,
    })
}

fn duration(ms: i64) -> prost_types::Duration {
    // The remainder is below a thousand, so it fits.
    let nanos = i32::try_from(ms % 1000 * 1_000_000).unwrap_or(0);
    prost_types::Duration {
        seconds: ms / 1000,
        nanos,
    }
}

fn milliseconds(delay: prost_types::Duration) -> i64 {
    delay
        .seconds
        .saturating_mul(1000)
        .saturating_add(i64::from(delay.nanos) / 1_000_000)
}

#[cfg(test)]
mod tests;
