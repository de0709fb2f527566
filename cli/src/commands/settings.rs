//! `config`: the settings in force and the schema of the file.

use super::Context;
use crate::{
    args::ConfigCommand,
    config::{Reader, document, load, schema, show},
    failure::{Exit, Failure},
    output::Table,
};

/// Runs the command.
pub(crate) fn run(context: &Context, command: &ConfigCommand) -> Result<Exit, Failure> {
    let output = context.output;
    match command {
        ConfigCommand::Schema => output.value(&schema::schema())?,
        ConfigCommand::Docs => output.raw(document::document().as_bytes())?,
        ConfigCommand::Show => {
            let loaded = load(&context.given, &context.environment, Reader::Show)?;
            if output.json {
                output.value(&show::json(&loaded))?;
            } else {
                let mut table = Table::new(["KEY", "VALUE", "ORIGIN"]);
                show::rows(&loaded).into_iter().for_each(|row| table.row(row));
                output.table(&table)?;
            }
        }
    }
    Ok(Exit::Done)
}
