//! `profile`: named sets of tools.

use serde_json::Value;

use super::{list, text};
use crate::{
    args::ProfileCommand,
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table},
};

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, command: ProfileCommand) -> Result<Exit, Failure> {
    let answer = gateway.get("/api/profiles", &[]).await?;
    match command {
        ProfileCommand::List if output.json => output.value(&answer)?,
        ProfileCommand::List => {
            let mut table = Table::new(["NAME", "TOOLS", "FOR"]);
            for profile in list(&answer, "profiles") {
                let tools = list(profile, "tools").len().to_string();
                table.row([
                    text(profile, "name").into(),
                    tools,
                    text(profile, "description").into(),
                ]);
            }
            output.table(&table)?;
        }
        ProfileCommand::Show { name } => {
            let found = list(&answer, "profiles")
                .iter()
                .find(|profile| text(profile, "name") == name);
            show(output, found.ok_or_else(|| unknown(&name))?)?;
        }
    }
    Ok(Exit::Done)
}

fn show(output: Output, profile: &Value) -> Result<(), Failure> {
    if output.json {
        return output.value(profile);
    }
    output.line(&format!(
        "{}: {}",
        text(profile, "name"),
        text(profile, "description")
    ))?;
    for tool in list(profile, "tools").iter().filter_map(Value::as_str) {
        output.line(&format!("  {tool}"))?;
    }
    Ok(())
}

fn unknown(name: &str) -> Failure {
    Failure::new(Exit::Refused, format!("no profile is called {name}"))
        .next("`toolgate profile list` lists the profiles")
}
