//! The binary `toolgate`: reads settings and command line, joins core, facade and relay, ends with an exit code.
//!
//! Holds no rules of its own: servers live in the rooms they are made of, client commands speak the public contract.

mod args;
mod client;
mod commands;
mod config;
mod failure;
#[cfg(test)]
mod golden;
mod logging;
mod output;
mod up;

use std::process::ExitCode;

use crate::{
    args::{Command, Parsed},
    commands::Context,
    config::Environment,
    failure::{Exit, Failure},
    output::Output,
};

fn main() -> ExitCode {
    // Fails only when another provider is installed already, and then that one serves.
    drop(rustls::crypto::ring::default_provider().install_default());
    let parsed = match args::parse(std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Nobody is left to be told when this cannot be printed.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8));
        }
    };
    let json = parsed.cli.json;
    match run(parsed) {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failure) => {
            tell(&failure, json);
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn run(parsed: Parsed) -> Result<Exit, Failure> {
    let environment = Environment::of_process();
    let output = Output::new(parsed.cli.json, environment.no_color());
    let context = Context {
        given: parsed.given,
        environment,
        output,
    };
    let runtime = |builder: &mut tokio::runtime::Builder| {
        let built = builder.enable_all().build();
        built.map_err(|error| Failure::failed(format!("no runtime can be started: {error}")))
    };
    match parsed.cli.command.unwrap_or(Command::Up) {
        command => runtime(&mut tokio::runtime::Builder::new_current_thread())?
            .block_on(commands::run(command, &context)),
    }
}

fn tell(failure: &Failure, json: bool) {
    if failure.is_silent() {
        return;
    }
    if json {
        eprintln!("{}", failure.json());
    } else {
        eprintln!("{}", output::printable::printable(&failure.text()));
    }
}
