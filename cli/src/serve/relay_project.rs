//! `relay project`: an MCP server of the operator's own, brought to the gateway.

use toolgate_relay::{GuardProgram, LocalServer, ProjectConfig, TrustRoots, has_identity, run_project};

use super::{
    relay::{ENROL_PROJECT, enrolment_token, refused},
    stop::Stop,
};
use crate::{
    args::RelayProjectArgs,
    commands::Context,
    config::Reader,
    failure::{Exit, Failure},
};

/// Runs the command until it is told to stop.
pub(super) async fn run(context: &Context, args: RelayProjectArgs) -> Result<Exit, Failure> {
    let config = context.config(Reader::Relay)?;
    let stop = Stop::on_signals()?;
    let name = match args.name {
        Some(name) => name,
        None if has_identity(&args.dir) => String::new(),
        None => {
            let failure = Failure::usage("--name: the project needs a name until it is enrolled");
            return Err(failure.next("give it the name that it has at the gateway"));
        }
    };
    let project = ProjectConfig {
        gateway_url: args.dial.gateway,
        enrolment_token: enrolment_token(context, args.dial.token.as_deref(), ENROL_PROJECT)?,
        name,
        server: server(args.url, args.command)?,
        state_dir: args.dir,
        guard: GuardProgram::default(),
        roots: config.ca_cert.map_or(TrustRoots::Platform, TrustRoots::File),
        allow_root: args.allow_root,
        state: None,
    };
    run_project(project, stop.token())
        .await
        .map_err(|error| refused(&error, ENROL_PROJECT))?;
    Ok(Exit::Done)
}

/// The one server that is given: clap sees to it that there is one.
fn server(url: Option<String>, command: Vec<std::ffi::OsString>) -> Result<LocalServer, Failure> {
    let mut words = command.into_iter();
    match (url, words.next()) {
        (Some(url), None) => Ok(LocalServer::Url(url)),
        (None, Some(program)) => Ok(LocalServer::Command {
            program,
            arguments: words.collect(),
        }),
        _ => Err(Failure::usage(
            "give either --url or, after --, the command of the server",
        )),
    }
}
