//! The processes that stay: `up`, `core`, `facade`, `mcp`, `relay host`, `relay project`, `transcript tail`. They are joined, started and stopped here.
//!
//! Order of a start: settings checked, ports bound, rooms started, address printed. The order of an end is told in
//! `ending`. Every task has its owner in this folder.

mod alone;
mod bind;
mod built_in;
mod certificate;
mod closed;
mod doors;
mod ending;
mod hostname;
pub(crate) mod link;
mod mcp;
mod metering;
mod metrics_door;
pub(crate) mod owner;
mod projects_file;
mod relay;
mod relay_host;
mod relay_project;
mod rooms;
mod stop;
mod transcript;
mod up;
pub(crate) mod welcome;

use crate::{
    args::{Command, RelayCommand, TranscriptCommand},
    commands::Context,
    failure::{Exit, Failure},
};

/// Runs a server until it is told to stop.
pub(crate) async fn run(command: Command, context: &Context) -> Result<Exit, Failure> {
    closed::close_memory();
    match command {
        Command::Up => up::run(context).await,
        Command::Core => alone::core(context).await,
        Command::Facade => alone::facade(context).await,
        Command::Mcp(args) => mcp::run(context, args).await,
        Command::Relay(RelayCommand::Host(args)) => relay_host::run(context, args).await,
        Command::Relay(RelayCommand::Project(args)) => relay_project::run(context, args).await,
        Command::Transcript(TranscriptCommand::Tail(args)) => transcript::run(context, args).await,
        _ => Err(Failure::failed("this command is no server")),
    }
}
