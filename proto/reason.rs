//! One table over [`ErrorReason`]: what each reason is called and how each dialect answers it.
//!
//! Every match is without `_`, so a new reason does not compile until it has its row. Knows no dialect's format.

use tonic::Code;

use crate::v1::ErrorReason;

/// Who has to act on a failure. Metrics label by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The request or its sender.
    Caller,
    /// Toolgate itself.
    Gateway,
    /// The system behind the tool, or the way to it.
    Target,
}

impl Source {
    /// The word used in labels and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Gateway => "gateway",
            Self::Target => "target",
        }
    }
}

struct Row {
    slug: &'static str,
    title: &'static str,
    code: Code,
    http: u16,
    retryable: bool,
    source: Source,
}

const NO: bool = false;
const YES: bool = true;

#[rustfmt::skip]
fn row(reason: ErrorReason) -> Row {
    use Code::{
        AlreadyExists, Cancelled, DeadlineExceeded, FailedPrecondition, Internal, InvalidArgument, NotFound,
        PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable, Unknown,
    };
    use ErrorReason as R;
    use Source::{Caller, Gateway, Target};
    let (slug, title, code, http, retryable, source) = match reason {
        R::Unspecified => ("unspecified", "unknown failure", Unknown, 500, NO, Gateway),
        R::CredentialInvalid => ("credential-invalid", "credential not accepted", Unauthenticated, 401, NO, Caller),
        R::RoleForbidden => ("role-forbidden", "role may not do this", PermissionDenied, 403, NO, Caller),
        R::OriginForbidden => ("origin-forbidden", "origin not served", PermissionDenied, 403, NO, Caller),
        R::WriteRejected => ("write-rejected", "write rejected", PermissionDenied, 403, NO, Caller),
        R::ToolNotFound => ("tool-not-found", "no such tool", NotFound, 404, NO, Caller),
        R::TargetNotFound => ("target-not-found", "no such target", NotFound, 404, NO, Caller),
        R::CallNotFound => ("call-not-found", "no such call", NotFound, 404, NO, Caller),
        R::ResourceNotFound => ("resource-not-found", "no such resource", NotFound, 404, NO, Caller),
        R::ProjectNotFound => ("project-not-found", "no such project", NotFound, 404, NO, Caller),
        R::RequestMalformed => ("request-malformed", "request cannot be read", InvalidArgument, 400, NO, Caller),
        R::RequestTooLarge => ("request-too-large", "request too large", ResourceExhausted, 413, NO, Caller),
        R::ArgumentsInvalid => ("arguments-invalid", "arguments not accepted", InvalidArgument, 400, NO, Caller),
        R::TargetRequired => ("target-required", "target required", FailedPrecondition, 400, NO, Caller),
        R::RoleViolation => ("role-violation", "credential has the wrong role", FailedPrecondition, 422, NO, Caller),
        R::ScopeViolation => ("scope-violation", "credential has the wrong scopes", FailedPrecondition, 422, NO, Caller),
        R::CredentialDrifted => ("credential-drifted", "credential became wider", FailedPrecondition, 403, NO, Target),
        R::CredentialRejected => ("credential-rejected", "target rejected the credential", Unavailable, 503, NO, Target),
        R::Conflict => ("conflict", "conflict", AlreadyExists, 409, NO, Caller),
        R::RateLimited => ("rate-limited", "rate limited", ResourceExhausted, 429, YES, Caller),
        R::UpstreamRateLimited => ("upstream-rate-limited", "target limits the rate", ResourceExhausted, 429, YES, Target),
        R::Overloaded => ("overloaded", "overloaded", ResourceExhausted, 503, YES, Gateway),
        R::SecretUnavailable => ("secret-unavailable", "credential unavailable", Unavailable, 503, YES, Gateway),
        R::AuditUnavailable => ("audit-unavailable", "audit record unavailable", Unavailable, 503, YES, Gateway),
        R::UpstreamTimeout => ("upstream-timeout", "target did not answer in time", DeadlineExceeded, 504, YES, Target),
        R::UpstreamUnreachable => ("upstream-unreachable", "target unreachable", Unavailable, 502, YES, Target),
        R::UpstreamTls => ("upstream-tls", "target's certificate not accepted", Unavailable, 502, NO, Target),
        R::UpstreamInvalid => ("upstream-invalid", "target's answer cannot be read", Unavailable, 502, NO, Target),
        R::UpstreamFailed => ("upstream-failed", "target failed", Unavailable, 502, YES, Target),
        R::UpstreamTooLarge => ("upstream-too-large", "target's answer too large", Unavailable, 502, NO, Target),
        R::RelayOffline => ("relay-offline", "relay not connected", Unavailable, 503, YES, Target),
        R::RelayLost => ("relay-lost", "relay lost during the call", Unavailable, 503, YES, Target),
        R::ProjectOffline => ("project-offline", "project not connected", Unavailable, 503, YES, Target),
        R::DeadlineExceeded => ("deadline-exceeded", "deadline exceeded", DeadlineExceeded, 504, YES, Caller),
        // The caller is gone, so no HTTP status is ever written; 499 stands in logs and metrics.
        R::Cancelled => ("cancelled", "cancelled", Cancelled, 499, NO, Caller),
        R::Internal => ("internal", "internal fault", Internal, 500, NO, Gateway),
    };
    Row { slug, title, code, http, retryable, source }
}

impl ErrorReason {
    /// The reason in UPPER_SNAKE without prefix, as in `google.rpc.ErrorInfo.reason`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let name = self.as_str_name();
        name.strip_prefix("ERROR_REASON_").unwrap_or(name)
    }

    /// The reason in kebab-case.
    #[must_use]
    pub fn slug(self) -> &'static str {
        row(self).slug
    }

    /// The problem type of RFC 9457, `urn:toolgate:error:<slug>`.
    #[must_use]
    pub fn problem_type(self) -> String {
        format!("urn:toolgate:error:{}", self.slug())
    }

    /// A fixed short title, the same for every failure of this reason.
    #[must_use]
    pub fn title(self) -> &'static str {
        row(self).title
    }

    /// The gRPC code.
    #[must_use]
    pub fn code(self) -> Code {
        row(self).code
    }

    /// The HTTP status.
    #[must_use]
    pub fn http_status(self) -> u16 {
        row(self).http
    }

    /// Whether the same request may succeed later without anyone changing anything.
    #[must_use]
    pub fn retryable(self) -> bool {
        row(self).retryable
    }

    /// Who has to act.
    #[must_use]
    pub fn source(self) -> Source {
        row(self).source
    }

    /// The reason of a name in UPPER_SNAKE; `None` for names of newer peers and foreign domains.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::from_str_name(&format!("ERROR_REASON_{name}"))
    }
}
