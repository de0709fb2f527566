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
        AuditCommand::Export { output, after } => {
            export::run(&context.gateway()?, context.output, output.as_deref(), after).await
        }
        AuditCommand::Verify => verify::run(context).await,
    }
}
