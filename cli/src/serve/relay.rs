//! What both relays have in common on the command line: the token, and how they fail.

use toolgate_contract::enrolment::EnrolmentToken;
use toolgate_relay::RelayError;

use crate::{
    commands::Context,
    config::environment::ENROLMENT_TOKEN,
    failure::{Exit, Failure},
};

/// How a host gets a new token.
pub(super) const ENROL_HOST: &str = "`toolgate target enrol NAME` on the gateway prints a new token";
/// How a project gets one.
pub(super) const ENROL_PROJECT: &str = "`toolgate fleet enrol NAME` on the gateway prints a new token";

/// The one-time token, of the flag or of the environment. `enrol` says how there is another one.
pub(super) fn enrolment_token(
    context: &Context,
    flag: Option<&str>,
    enrol: &'static str,
) -> Result<Option<EnrolmentToken>, Failure> {
    let of_environment = context.environment.enrolment_token();
    let (place, text) = match (flag, &of_environment) {
        (Some(text), _) => ("--token", text),
        (None, Some(text)) => (ENROLMENT_TOKEN, text.as_str()),
        (None, None) => return Ok(None),
    };
    let parsed = EnrolmentToken::parse(text.trim());
    parsed
        .map(Some)
        .map_err(|_| Failure::usage(format!("{place}: this is no enrolment token")).next(enrol))
}

/// Why a relay cannot run, as an exit code and a next step.
pub(super) fn refused(error: &RelayError, enrol: &'static str) -> Failure {
    let exit = match error {
        RelayError::Url(_) | RelayError::Root | RelayError::Server(_) => Exit::Usage,
        RelayError::NotEnrolled | RelayError::TokenRefused | RelayError::OtherName => Exit::Refused,
        RelayError::State(_) | RelayError::Tls(_) | RelayError::InUse { .. } => Exit::Failed,
    };
    let failure = Failure::new(exit, error.to_string());
    match error {
        RelayError::NotEnrolled | RelayError::TokenRefused => failure.next(enrol),
        RelayError::Url(_) => failure.next("give --gateway the address that `toolgate up` prints"),
        _ => failure,
    }
}
