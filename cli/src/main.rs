//! The binary `toolgate`: reads settings and command line, joins core, facade and relay, ends with an exit code.
//!
//! Holds no rules of its own: servers live in the rooms they are made of, client commands speak the public contract.

mod address;
mod args;
mod client;
mod commands;
mod config;
mod failure;
#[cfg(test)]
mod golden;
mod logging;
mod output;
mod serve;

use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};

use crate::{
    args::{Command, Parsed},
    commands::Context,
    config::Environment,
    failure::{Exit, Failure},
    output::Output,
};

fn main() -> ExitCode {
    // The relay starts us under this name around every command. No person types it, so no help shows it.
    if std::env::args_os().nth(1).is_some_and(|word| word == "__guard") {
        return toolgate_relay::guard_main();
    }
    // Fails only when another provider is installed already, and then that one serves.
    drop(rustls::crypto::ring::default_provider().install_default());
    let parsed = match args::parse(std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(error) if error.use_stderr() && args::wants_json(std::env::args_os()) => {
            let failure = args::usage(&error);
            tell(&failure, true);
            return ExitCode::from(failure.exit as u8);
        }
        Err(error) => {
            // Nobody is left to be told when this cannot be printed.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8));
        }
    };
    let json = parsed.cli.json;
    let exit = run(parsed).unwrap_or_else(|failure| {
        tell(&failure, json);
        failure.exit
    });
    logging::flush();
    ExitCode::from(exit as u8)
}

fn run(parsed: Parsed) -> Result<Exit, Failure> {
    let environment = Environment::of_process();
    let output = Output::new(parsed.cli.json, environment.no_color());
    let context = Context {
        given: parsed.given,
        environment,
        output,
    };
    let command = parsed.cli.command.unwrap_or(Command::Up);
    let reads_input = matches!(command, Command::Mcp(_));
    let runtime = runtime(&command)?;
    let exit = runtime.block_on(commands::run(command, &context));
    if reads_input {
        // A thread still waits for a peer that neither speaks nor leaves; the end of the process ends it.
        runtime.shutdown_background();
    }
    exit
}

// Clients do one thing at a time and should start at once; servers use every core.
fn runtime(command: &Command) -> Result<Runtime, Failure> {
    let mut builder = match command {
        Command::Up | Command::Core | Command::Facade | Command::Mcp(_) => Builder::new_multi_thread(),
        _ => Builder::new_current_thread(),
    };
    builder
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("no runtime can be started: {error}")))
}

fn tell(failure: &Failure, json: bool) {
    if failure.is_silent() {
        return;
    }
    if json {
        logging::say(&failure.json().to_string());
    } else {
        logging::say(&output::printable::printable(&failure.text()));
    }
}
