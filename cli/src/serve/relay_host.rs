//! `relay host`: the stand-alone relay.

use toolgate_contract::enrolment::EnrolmentToken;
use toolgate_relay::{GuardProgram, HostConfig, RelayError, TrustRoots, run_host};

use super::{hostname::hostname, stop::Stop};
use crate::{
    args::RelayHostArgs,
    commands::Context,
    config::{Reader, environment::ENROLMENT_TOKEN},
    failure::{Exit, Failure},
};

/// Runs the command until it is told to stop.
pub(super) async fn run(context: &Context, args: RelayHostArgs) -> Result<Exit, Failure> {
    let config = context.config(Reader::Relay)?;
    let stop = Stop::on_signals()?;
    let token = enrolment_token(context, args.token.as_deref())?;
    let host = HostConfig {
        gateway_url: args.gateway,
        enrolment_token: token,
        name: args.name.unwrap_or_else(hostname),
        state_dir: args.dir,
        guard: GuardProgram::default(),
        roots: config.ca_cert.map_or(TrustRoots::Platform, TrustRoots::File),
        allow_root: args.allow_root,
        built_in: false,
        state: None,
    };
    run_host(host, stop.token())
        .await
        .map_err(|error| refused(&error))?;
    Ok(Exit::Done)
}

fn enrolment_token(context: &Context, flag: Option<&str>) -> Result<Option<EnrolmentToken>, Failure> {
    let of_environment = context.environment.enrolment_token();
    let (place, text) = match (flag, &of_environment) {
        (Some(text), _) => ("--token", text),
        (None, Some(text)) => (ENROLMENT_TOKEN, text.as_str()),
        (None, None) => return Ok(None),
    };
    let parsed = EnrolmentToken::parse(text.trim());
    parsed.map(Some).map_err(|_| {
        Failure::usage(format!("{place}: this is no enrolment token"))
            .next("`toolgate target enrol NAME` on the gateway prints a new one")
    })
}

fn refused(error: &RelayError) -> Failure {
    let exit = match error {
        RelayError::Url(_) | RelayError::Root => Exit::Usage,
        RelayError::NotEnrolled | RelayError::TokenRefused => Exit::Refused,
        RelayError::State(_) | RelayError::Tls(_) | RelayError::InUse { .. } => Exit::Failed,
    };
    let failure = Failure::new(exit, error.to_string());
    match error {
        RelayError::NotEnrolled | RelayError::TokenRefused => {
            failure.next("`toolgate target enrol NAME` on the gateway prints a new token")
        }
        RelayError::Url(_) => failure.next("give --gateway the address that `toolgate up` prints"),
        _ => failure,
    }
}
