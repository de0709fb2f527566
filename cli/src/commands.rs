//! What each command does once the command line is parsed. One file per command.
//!
//! Client commands speak the public REST contract only: whatever they can do, a script with curl can do as well.

pub(crate) mod arguments;
mod audit;
mod call;
mod db;
mod doctor;
mod fleet;
mod keys;
mod myself;
pub(crate) mod paper;
mod policy;
mod profile;
mod settings;
pub(crate) mod sign_in;
pub(crate) mod smoke;
pub(crate) mod target;
mod token;
mod tools;
mod when;

use crate::{
    args::Command,
    client::Gateway,
    config::{Config, Environment, Given, Reader, load},
    failure::{Exit, Failure},
    logging,
    output::Output,
    serve,
};

/// What every command gets.
#[derive(Debug)]
pub(crate) struct Context {
    /// Settings given as flags.
    pub(crate) given: Given,
    /// The environment.
    pub(crate) environment: Environment,
    /// Where answers go.
    pub(crate) output: Output,
}

impl Context {
    /// The checked settings; logging is on afterwards.
    pub(crate) fn config(&self, reader: Reader) -> Result<Config, Failure> {
        let config = load(&self.given, &self.environment, reader)?.config;
        logging::start(&config.log, self.environment.no_color());
        Ok(config)
    }

    /// The settings' gateway.
    fn gateway(&self) -> Result<Gateway, Failure> {
        Gateway::reach(&self.config(Reader::Client)?, &self.environment)
    }
}

/// Runs any command.
pub(crate) async fn run(command: Command, context: &Context) -> Result<Exit, Failure> {
    let output = context.output;
    match command {
        Command::Call(args) => call::run(context.gateway()?, output, &args).await,
        Command::Tools(args) => tools::run(context.gateway()?, output, &args).await,
        Command::Target(command) => target::run(context.gateway()?, output, command).await,
        Command::Fleet(command) => fleet::run(&context.gateway()?, output, command).await,
        Command::Token(command) => token::run(context, command).await,
        Command::Profile(command) => profile::run(context, command).await,
        Command::Policy(command) => policy::run(context.gateway()?, output, command).await,
        Command::Audit(command) => audit::run(context, command).await,
        Command::Keys(command) => keys::run(context, &command).await,
        Command::Db(command) => db::run(context, command).await,
        Command::SignIn(args) => sign_in::run(context.gateway()?, output, &args).await,
        Command::Myself => myself::run(context.gateway()?, output).await,
        Command::Smoke(args) => smoke::run(context, &args).await,
        Command::Doctor => doctor::run(context).await,
        Command::Config(command) => settings::run(context, &command),
        Command::Completions { shell } => paper::completions(output, shell),
        Command::Man { dir } => paper::manual(output, dir.as_deref()),
        server @ (Command::Up
        | Command::Core
        | Command::Facade
        | Command::Mcp(_)
        | Command::Relay(_)
        | Command::Transcript(_)) => serve::run(server, context).await,
    }
}

/// A text field of an answer; empty when it is not there.
pub(crate) fn text<'a>(value: &'a serde_json::Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// One segment of a path, whatever stands in it.
fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    // A segment of dots alone would be another place.
    let dots = text.bytes().all(|byte| byte == b'.');
    text.bytes().fold(String::new(), |mut told, byte| {
        match plain(byte) && !dots {
            true => told.push(char::from(byte)),
            false => told.push_str(&format!("%{byte:02X}")),
        }
        told
    })
}

/// A list of an answer; empty when it is not there.
fn list<'a>(value: &'a serde_json::Value, name: &str) -> &'a [serde_json::Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}
