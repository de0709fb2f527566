//! `relay host`: the stand-alone relay.

use toolgate_relay::{GuardProgram, HostConfig, TrustRoots, run_host};

use super::{
    hostname::hostname,
    relay::{ENROL_HOST, enrolment_token, refused},
    stop::Stop,
};
use crate::{
    args::RelayHostArgs,
    commands::Context,
    config::Reader,
    failure::{Exit, Failure},
};

/// Runs the command until it is told to stop.
pub(super) async fn run(context: &Context, args: RelayHostArgs) -> Result<Exit, Failure> {
    let config = context.config(Reader::Relay)?;
    let stop = Stop::on_signals()?;
    let token = enrolment_token(context, args.dial.token.as_deref(), ENROL_HOST)?;
    let host = HostConfig {
        gateway_url: args.dial.gateway,
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
        .map_err(|error| refused(&error, ENROL_HOST))?;
    Ok(Exit::Done)
}
