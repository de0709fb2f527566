//! The processes that stay: `up`, `core`, `facade`, `relay host`. They are joined, started and stopped here.
//!
//! Order of a start: settings checked, ports bound, rooms started, address printed. Order of an end: doors closed,
//! open calls settled, rooms closed, lock released. Every task has its owner in this folder.

mod bind;
mod hostname;
pub(crate) mod owner;
mod relay_host;
mod stop;

use crate::{
    args::{Command, RelayCommand},
    commands::Context,
    failure::{Exit, Failure},
};

/// Runs a server until it is told to stop.
pub(crate) async fn run(command: Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Relay(RelayCommand::Host(args)) => relay_host::run(context, args).await,
        _ => Err(Failure::failed("this command is no server")),
    }
}
