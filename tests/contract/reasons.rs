//! Every reason in every dialect's terms, told once and held to the specification's outcome table.

use std::fmt::Write as _;

use tonic::Code;
use toolgate_contract::v1::ErrorReason;

use crate::golden;

fn reasons() -> impl Iterator<Item = ErrorReason> {
    (0..).map_while(|number| ErrorReason::try_from(number).ok())
}

#[test]
fn the_table_is_the_golden_one() {
    let mut text = String::from("reason | type | title | gRPC | HTTP | retryable | source\n");
    for reason in reasons() {
        let _ = writeln!(
            text,
            "{} | {} | {} | {:?} | {} | {} | {}",
            reason.name(),
            reason.problem_type(),
            reason.title(),
            reason.code(),
            reason.http_status(),
            if reason.retryable() { "retryable" } else { "final" },
            reason.source().as_str(),
        );
    }
    golden::check("reasons.txt", &text);
}

#[test]
fn the_names_are_those_of_the_decisions_and_no_others() {
    let decided = "CREDENTIAL_INVALID, ROLE_FORBIDDEN, ORIGIN_FORBIDDEN, WRITE_REJECTED, TOOL_NOT_FOUND, \
        TARGET_NOT_FOUND, CALL_NOT_FOUND, RESOURCE_NOT_FOUND, PROJECT_NOT_FOUND, REQUEST_MALFORMED, \
        REQUEST_TOO_LARGE, ARGUMENTS_INVALID, TARGET_REQUIRED, ROLE_VIOLATION, SCOPE_VIOLATION, CREDENTIAL_DRIFTED, \
        CREDENTIAL_REJECTED, CONFLICT, RATE_LIMITED, UPSTREAM_RATE_LIMITED, OVERLOADED, SECRET_UNAVAILABLE, \
        AUDIT_UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_UNREACHABLE, UPSTREAM_TLS, UPSTREAM_INVALID, UPSTREAM_FAILED, \
        UPSTREAM_TOO_LARGE, RELAY_OFFLINE, RELAY_LOST, PROJECT_OFFLINE, DEADLINE_EXCEEDED, CANCELLED, INTERNAL";
    let names: Vec<_> = reasons().skip(1).map(ErrorReason::name).collect();
    assert_eq!(names, decided.split(", ").collect::<Vec<_>>());
}

#[test]
fn every_name_leads_back_to_its_reason_and_its_slug_is_the_same_word() {
    for reason in reasons() {
        assert_eq!(ErrorReason::from_name(reason.name()), Some(reason));
        assert_eq!(reason.slug(), reason.name().to_lowercase().replace('_', "-"));
    }
    for name in ["", "TOOL", "tool_not_found", "ERROR_REASON_INTERNAL"] {
        assert_eq!(ErrorReason::from_name(name), None, "{name}");
    }
}

/// The outcome table of the gateway's specification.
#[test]
fn codes_and_statuses_are_those_of_the_outcome_table() {
    use ErrorReason as R;
    for (reason, http, code) in [
        (R::CredentialInvalid, 401, Code::Unauthenticated),
        (R::RoleForbidden, 403, Code::PermissionDenied),
        (R::WriteRejected, 403, Code::PermissionDenied),
        (R::CredentialDrifted, 403, Code::FailedPrecondition),
        (R::ToolNotFound, 404, Code::NotFound),
        (R::CallNotFound, 404, Code::NotFound),
        (R::ProjectNotFound, 404, Code::NotFound),
        (R::OriginForbidden, 403, Code::PermissionDenied),
        (R::RequestMalformed, 400, Code::InvalidArgument),
        (R::RequestTooLarge, 413, Code::ResourceExhausted),
        (R::Overloaded, 503, Code::ResourceExhausted),
        (R::TargetNotFound, 404, Code::NotFound),
        (R::ArgumentsInvalid, 400, Code::InvalidArgument),
        (R::TargetRequired, 400, Code::FailedPrecondition),
        (R::RateLimited, 429, Code::ResourceExhausted),
        (R::SecretUnavailable, 503, Code::Unavailable),
        (R::CredentialRejected, 503, Code::Unavailable),
        (R::UpstreamRateLimited, 429, Code::ResourceExhausted),
        (R::UpstreamTimeout, 504, Code::DeadlineExceeded),
        (R::UpstreamUnreachable, 502, Code::Unavailable),
        (R::UpstreamTls, 502, Code::Unavailable),
        (R::UpstreamInvalid, 502, Code::Unavailable),
        (R::UpstreamFailed, 502, Code::Unavailable),
        (R::UpstreamTooLarge, 502, Code::Unavailable),
        (R::RelayOffline, 503, Code::Unavailable),
        (R::RelayLost, 503, Code::Unavailable),
        (R::ProjectOffline, 503, Code::Unavailable),
        (R::DeadlineExceeded, 504, Code::DeadlineExceeded),
        (R::Internal, 500, Code::Internal),
        (R::AuditUnavailable, 503, Code::Unavailable),
        // Validation of credentials.
        (R::RoleViolation, 422, Code::FailedPrecondition),
        (R::ScopeViolation, 422, Code::FailedPrecondition),
    ] {
        assert_eq!(
            (reason.http_status(), reason.code()),
            (http, code),
            "{}",
            reason.name()
        );
    }
    assert_eq!(R::Cancelled.code(), Code::Cancelled);
}

#[test]
fn retrying_is_only_advised_where_the_status_allows_it() {
    for reason in reasons().filter(|reason| reason.retryable()) {
        assert!(
            [429, 502, 503, 504].contains(&reason.http_status()),
            "{}",
            reason.name()
        );
    }
}

#[test]
fn titles_are_lower_case_without_full_stop() {
    for reason in reasons() {
        let title = reason.title();
        assert!(
            !title.is_empty() && !title.ends_with('.') && title == title.to_lowercase(),
            "{title}"
        );
    }
}
