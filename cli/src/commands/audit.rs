//! `audit`: read, export and verify the record.

mod export;
mod tail;
mod verify;

use super::Context;
use crate::{
    args::AuditCommand,
    failure::{Exit, Failure},
};

/// Runs the command.
pub(super) async fn run(context: &Context, command: AuditCommand) -> Result<Exit, Failure> {
    match command {
        AuditCommand::Tail(args) => tail::run(&context.gateway()?, context.output, &args).await,
        AuditCommand::Export(args) => export::run(context, &args).await,
        AuditCommand::Verify(args) => verify::run(context, &args).await,
    }
}
