//! Why a request was not carried out: a closed set, named by what the caller can do next.
//!
//! A variant's text is the caller's: short, what to do next, nothing internal. A source is for the operator's log
//! and never leaves. What the auditor reads is the reason.

use std::time::Duration;

use toolgate_contract::{
    ids::CallId,
    registry::ToolDef,
    v1::{ErrorReason, Failure, TargetChoice, Violation},
};

use crate::{
    journal::JournalError,
    secrets::{PutError, SecretError},
    store::StoreError,
    upstream::UpstreamError,
};

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Sign in again or ask for a new token.
    #[error("no valid credential; send `Authorization: Bearer <token>` with a token of this gateway")]
    Unauthenticated,
    /// Try again, or ask an admin.
    #[error("{0}")]
    NotSignedIn(NotSignedIn),
    /// Ask an admin.
    #[error("the role {role} may not {action}")]
    RoleForbidden {
        /// The caller's role.
        role: &'static str,
        /// What it tried, as a verb phrase.
        action: &'static str,
    },
    /// Do not try again: infrastructure is read-only here.
    #[error("{what}; infrastructure can be read through this gateway, never changed")]
    WriteRejected {
        /// What was attempted, without the caller's text.
        what: String,
    },
    /// Do not try again, or ask an admin: the back end may only be read.
    #[error(
        "{} writes, and its back end may only be read through this gateway; an admin can set the target's access to read_write, or `toolgate mcp` in a pod starts without --read-only", .tool.name
    )]
    ReadOnly {
        /// What was called.
        tool: &'static ToolDef,
    },
    /// Look at the list of what there is.
    #[error("{0}")]
    NotFound(Missing),
    /// Mend the request at the named place.
    #[error("{place}: {what}")]
    Malformed {
        /// Where.
        place: String,
        /// What is wrong there.
        what: String,
        /// Whether the place is a field of the request, and no header or the message itself.
        is_field: bool,
    },
    /// Mend the value at the named place: it was read, and is not accepted.
    #[error("{place}: {what}")]
    Invalid {
        /// Where, as a path of fields: `config.port`.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// Send less.
    #[error("the arguments are over the limit of 1 MiB")]
    TooLarge,
    /// Mend the arguments at the named places.
    #[error("the arguments do not match the schema of {tool}")]
    ArgumentsInvalid {
        /// The tool.
        tool: String,
        /// Every place.
        violations: Vec<Violation>,
    },
    /// Choose one.
    #[error("target required: several {adapter} targets fit, name one as target_id")]
    TargetRequired {
        /// The adapter type.
        adapter: &'static str,
        /// The targets to choose from.
        choices: Vec<TargetChoice>,
    },
    /// Name one of the projects that there are.
    #[error("{}", no_project(asked.as_deref(), known))]
    NoProject {
        /// The one that was named; `None` where none was, and none is the caller's default.
        asked: Option<String>,
        /// Those that the caller may name.
        known: Vec<String>,
    },
    /// Wait.
    #[error("over the {scope} limit of {per_minute} calls a minute; try again in {} s", seconds(*retry_after))]
    RateLimited {
        /// Whose limit.
        scope: &'static str,
        /// The limit.
        per_minute: u32,
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// Wait.
    #[error("too many calls are under way; try again in a second")]
    Overloaded,
    /// Try another instance, or this one when it is back.
    #[error("the gateway is stopping and takes no new calls; try again in a few seconds")]
    Stopping,
    /// Look at what is there, then decide.
    #[error("{0}")]
    Conflict(String),
    /// Wait, or tell the operator.
    #[error("the audit record cannot be written now, so nothing is released; try again later")]
    AuditUnavailable(#[source] JournalError),
    /// Try again, or tell an admin.
    #[error(
        "the gateway could not get the target's credential, so the target was not contacted; try again, or tell an admin"
    )]
    SecretUnavailable(#[source] SecretError),
    /// Look at the target.
    #[error("{0}")]
    Upstream(UpstreamError),
    /// Change what the credential may do, or give another one.
    #[error("{}", .0.what)]
    Violation(Box<Violated>),
    /// Look at the target: what a credential can do there could not be told.
    #[error("{}", .0.what)]
    Unvalidated(Box<Unvalidated>),
    /// Ask an admin: the credential can do more than it could when it was added.
    #[error(
        "the credential of the target can do more than it should, so it is not used; an admin narrows it and tests the target"
    )]
    CredentialDrifted,
    /// Give more time.
    #[error("the caller's deadline passed")]
    DeadlineExceeded,
    /// Nothing: the caller left.
    #[error("cancelled")]
    Cancelled,
    /// Tell the operator, with the correlation id.
    #[error("a fault of the gateway; its log tells more under the correlation id")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why nobody was signed in with OpenID Connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSignedIn {
    /// The provider cannot be reached, or has a fault.
    ProviderAway,
    /// The provider says who it is, and nothing that gives them a role here.
    NoRole,
    /// Too late, in another browser, or a second time.
    StateLost,
    /// The person said no.
    Denied,
    /// What the provider said is not accepted.
    Refused,
}

impl NotSignedIn {
    /// Every cause.
    pub const ALL: [Self; 5] = [
        Self::ProviderAway,
        Self::NoRole,
        Self::StateLost,
        Self::Denied,
        Self::Refused,
    ];

    /// The word of it, for pages and metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProviderAway => "provider_away",
            Self::NoRole => "no_role",
            Self::StateLost => "state_lost",
            Self::Denied => "denied",
            Self::Refused => "refused",
        }
    }
}

impl std::fmt::Display for NotSignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ProviderAway => "the sign-in provider does not answer; try again, or sign in with a link",
            Self::NoRole => "the sign-in provider gives you no role here; ask an admin for one",
            Self::StateLost => {
                "this sign-in was begun in another browser, has ended already, or took over ten minutes; begin again"
            }
            Self::Denied => "the sign-in was given up at the provider; begin again",
            Self::Refused => {
                "the answer of the sign-in provider was not accepted; begin again, or tell an admin, whose log says why"
            }
        })
    }
}

impl From<NotSignedIn> for Error {
    fn from(why: NotSignedIn) -> Self {
        Self::NotSignedIn(why)
    }
}

/// A credential that was not accepted, and what was found.
#[derive(Debug)]
pub struct Violated {
    /// ROLE_VIOLATION or SCOPE_VIOLATION.
    pub reason: ErrorReason,
    /// What is too much or too little, and what to do about it.
    pub what: String,
    /// The field that most likely mends it.
    pub pointer: Option<String>,
    /// The validation as a JSON object `{verdict, stages, notProvable}`, where one ran.
    pub validation: Option<String>,
}

/// A validation that found no end, and what was found before.
#[derive(Debug)]
pub struct Unvalidated {
    /// Why the target gave no answer.
    pub error: UpstreamError,
    /// What happened and what to do about it, for the admin.
    pub what: String,
    /// The field that most likely mends it.
    pub pointer: Option<String>,
    /// The validation as a JSON object `{verdict, stages, notProvable}`.
    pub validation: String,
}

/// What is not there for this caller. Hidden and non-existing have the same text, byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// No such tool in the catalog, and the tool of the catalog that was probably meant.
    Tool(Option<&'static str>),
    /// No such target.
    Target,
    /// No target of this adapter type that could be chosen.
    AnyTarget(&'static str),
    /// No such call.
    Call,
    /// No such session of an MCP client.
    Session,
    /// No such rest of a result that was cut.
    Rest,
    /// No such other thing.
    Resource(&'static str),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tool(near) => {
                f.write_str("no tool of this name in your catalog")?;
                near.map_or(Ok(()), |near| write!(f, ", did you mean {near}"))?;
                f.write_str("; the list of tools, or find_tools where the list has it, names them all")
            }
            Self::Target => f.write_str(
                "no target of the tool's type with this id is in use; the list of tools names those that are",
            ),
            Self::AnyTarget(adapter) => {
                write!(
                    f,
                    "no target of type {adapter} is in use; ask an admin to add or enable one"
                )
            }
            Self::Call => f.write_str("no call with this correlation id"),
            Self::Session => f.write_str("no such session of yours goes on; initialize a new one"),
            Self::Rest => f.write_str(
                "nothing of yours is held under this cursor; a rest is forgotten 10 minutes after it was last asked for, call the tool again",
            ),
            Self::Resource(what) => write!(f, "no {what} of this name or id"),
        }
    }
}

impl Error {
    /// A request that cannot be read at `place`.
    pub fn malformed(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Malformed {
            place: place.into(),
            what: what.into(),
            is_field: false,
        }
    }

    /// A field of a request that cannot be read.
    pub fn unreadable(field: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Malformed {
            place: field.into(),
            what: what.into(),
            is_field: true,
        }
    }

    /// A request that can be read, and holds at `place` what is not accepted.
    pub fn invalid(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Invalid {
            place: place.into(),
            what: what.into(),
        }
    }

    /// A fault of ours, with the operator's source.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// The one reason callers, metrics and auditors know this by.
    #[must_use]
    pub fn reason(&self) -> ErrorReason {
        match self {
            Self::Unauthenticated => ErrorReason::CredentialInvalid,
            Self::NotSignedIn(NotSignedIn::ProviderAway) => ErrorReason::UpstreamUnreachable,
            Self::NotSignedIn(NotSignedIn::StateLost | NotSignedIn::Denied | NotSignedIn::Refused) => {
                ErrorReason::CredentialInvalid
            }
            Self::NotSignedIn(NotSignedIn::NoRole) | Self::RoleForbidden { .. } => ErrorReason::RoleForbidden,
            Self::WriteRejected { .. } | Self::ReadOnly { .. } => ErrorReason::WriteRejected,
            Self::NotFound(Missing::Tool(_)) => ErrorReason::ToolNotFound,
            Self::NotFound(Missing::Target | Missing::AnyTarget(_)) => ErrorReason::TargetNotFound,
            Self::NotFound(Missing::Call) => ErrorReason::CallNotFound,
            Self::NotFound(Missing::Session | Missing::Rest | Missing::Resource(_)) => {
                ErrorReason::ResourceNotFound
            }
            Self::Malformed { .. } => ErrorReason::RequestMalformed,
            Self::TooLarge => ErrorReason::RequestTooLarge,
            Self::Invalid { .. } | Self::ArgumentsInvalid { .. } => ErrorReason::ArgumentsInvalid,
            Self::TargetRequired { .. } => ErrorReason::TargetRequired,
            Self::NoProject { .. } => ErrorReason::ProjectNotFound,
            Self::RateLimited { .. } => ErrorReason::RateLimited,
            Self::Overloaded | Self::Stopping => ErrorReason::Overloaded,
            Self::Conflict(_) => ErrorReason::Conflict,
            Self::AuditUnavailable(_) => ErrorReason::AuditUnavailable,
            Self::SecretUnavailable(_) => ErrorReason::SecretUnavailable,
            Self::Upstream(error) => upstream_reason(error),
            Self::Unvalidated(unvalidated) => upstream_reason(&unvalidated.error),
            Self::Violation(violated) => violated.reason,
            Self::CredentialDrifted => ErrorReason::CredentialDrifted,
            Self::DeadlineExceeded => ErrorReason::DeadlineExceeded,
            Self::Cancelled => ErrorReason::Cancelled,
            Self::Internal(_) => ErrorReason::Internal,
        }
    }

    /// The failure as told to the caller; the sources stay here.
    #[must_use]
    pub fn into_failure(self, call: Option<CallId>) -> Failure {
        let mut failure = Failure::new(self.reason(), self.to_string());
        if let Some(call) = call {
            failure.metadata.insert("correlationId".into(), call.to_string());
        }
        match self {
            Self::RateLimited { retry_after, .. } => failure.retry_after_ms = Some(whole_ms(retry_after)),
            Self::Upstream(UpstreamError::RateLimited(wait)) => failure.retry_after_ms = Some(whole_ms(wait)),
            Self::Violation(violated) => {
                failure.violations = mended_at(violated.pointer, violated.what);
                if let Some(validation) = violated.validation {
                    failure.metadata.insert("validation".into(), validation);
                }
            }
            Self::Unvalidated(unvalidated) => {
                if let UpstreamError::RateLimited(wait) = unvalidated.error {
                    failure.retry_after_ms = Some(whole_ms(wait));
                }
                failure.violations = mended_at(unvalidated.pointer, unvalidated.what);
                failure
                    .metadata
                    .insert("validation".into(), unvalidated.validation);
            }
            Self::NotSignedIn(why) => {
                failure.metadata.insert("signIn".into(), why.as_str().into());
            }
            Self::Overloaded => failure.retry_after_ms = Some(1_000),
            Self::Stopping => failure.retry_after_ms = Some(3_000),
            Self::Invalid { place, what } => {
                failure.violations = vec![violation(&place, "accepted", what)];
            }
            Self::Malformed {
                place,
                what,
                is_field: true,
            } => failure.violations = vec![violation(&place, "readable", what)],
            Self::ArgumentsInvalid { violations, .. } => failure.violations = violations,
            Self::TargetRequired { choices, .. } => failure.targets = choices,
            _ => {}
        }
        failure
    }
}

impl From<StoreError> for Error {
    // Whatever keeps the store from answering keeps the record from being written.
    fn from(error: StoreError) -> Self {
        JournalError::from(error).into()
    }
}

impl From<PutError> for Error {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Store(error) => error.into(),
            PutError::NoTarget => Self::NotFound(Missing::Resource("target")),
            PutError::NotElsewhere => Self::invalid("credential", error.to_string()),
            PutError::CannotSeal => Self::internal(error),
        }
    }
}

impl From<JournalError> for Error {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unavailable | JournalError::Ended => Self::AuditUnavailable(error),
            JournalError::Overloaded => Self::Overloaded,
            JournalError::Conflict => Self::internal(error),
        }
    }
}

// A name is told back up to here: it came from outside.
fn no_project(asked: Option<&str>, known: &[String]) -> String {
    let known = match known {
        [] => "none is registered".to_owned(),
        known => format!("the registered projects are {}", known.join(", ")),
    };
    match asked {
        Some(asked) => {
            let short: String = asked.chars().take(40).collect();
            format!("no project is called {}; {known}", short.escape_debug())
        }
        None => format!(
            "the call names no project and you have no default; name one as project, or make one your default with \
             switch_project: {known}"
        ),
    }
}

// Of a validation that did not pass: the field that most likely mends it.
fn mended_at(pointer: Option<String>, message: String) -> Vec<Violation> {
    let violation = |pointer| Violation {
        pointer,
        keyword: "validated".into(),
        message,
    };
    pointer.map(violation).into_iter().collect()
}

fn violation(place: &str, keyword: &str, message: String) -> Violation {
    let fields = place
        .split('.')
        .map(|field| field.replace('~', "~0").replace('/', "~1"));
    Violation {
        pointer: fields.fold(String::new(), |pointer, field| pointer + "/" + &field),
        keyword: keyword.into(),
        message,
    }
}

fn upstream_reason(error: &UpstreamError) -> ErrorReason {
    match error {
        UpstreamError::Timeout => ErrorReason::UpstreamTimeout,
        UpstreamError::Unreachable | UpstreamError::BrokenOff | UpstreamError::Forbidden => {
            ErrorReason::UpstreamUnreachable
        }
        UpstreamError::Tls => ErrorReason::UpstreamTls,
        UpstreamError::RateLimited(_) => ErrorReason::UpstreamRateLimited,
        UpstreamError::Invalid => ErrorReason::UpstreamInvalid,
        UpstreamError::Failed | UpstreamError::FailedSaying(_) => ErrorReason::UpstreamFailed,
        UpstreamError::TokenUnavailable => ErrorReason::SecretUnavailable,
        UpstreamError::TooLarge => ErrorReason::UpstreamTooLarge,
        UpstreamError::WriteRejected => ErrorReason::WriteRejected,
        UpstreamError::RelayOffline
        | UpstreamError::RelayNotEnrolled
        | UpstreamError::RelayRevoked
        | UpstreamError::RelayLocked => ErrorReason::RelayOffline,
        UpstreamError::CredentialRejected => ErrorReason::CredentialRejected,
        UpstreamError::RelayLost | UpstreamError::ProjectLost { .. } => ErrorReason::RelayLost,
        UpstreamError::ProjectOffline { .. } | UpstreamError::ProjectDown { .. } => {
            ErrorReason::ProjectOffline
        }
        UpstreamError::ConversationOver => ErrorReason::ResourceNotFound,
        UpstreamError::Overloaded => ErrorReason::Overloaded,
        UpstreamError::Cancelled => ErrorReason::Cancelled,
    }
}

fn seconds(wait: Duration) -> u64 {
    wait.as_millis()
        .div_ceil(1_000)
        .max(1)
        .try_into()
        .unwrap_or(u64::MAX)
}

fn whole_ms(wait: Duration) -> i64 {
    i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
}
