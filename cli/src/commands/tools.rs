//! `tools`: the caller's catalog, and one tool of it.

mod show;

use serde_json::Value;

use super::{list, profile, text};
use crate::{
    args::{ProfileArg, ToolsArgs, ToolsCommand},
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table},
};

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, args: &ToolsArgs) -> Result<Exit, Failure> {
    match &args.command {
        None => all(gateway, output, &args.profile).await,
        Some(ToolsCommand::Show { name, profile }) => one(gateway, output, name, profile).await,
    }
}

async fn catalog(gateway: Gateway, profile: &ProfileArg) -> Result<Value, Failure> {
    profile::warn_of_unknown(&gateway, profile.profile.as_deref()).await;
    let gateway = gateway.with_profile(profile.profile.as_deref());
    gateway.get("/api/mcp/tools", &[]).await
}

async fn one(gateway: Gateway, output: Output, name: &str, profile: &ProfileArg) -> Result<Exit, Failure> {
    let catalog = catalog(gateway, profile).await?;
    let tool = show::find(list(&catalog, "tools"), name)?;
    if output.json {
        output.value(tool)?;
    } else {
        output.line(&show::page(tool).join("\n"))?;
    }
    Ok(Exit::Done)
}

async fn all(gateway: Gateway, output: Output, profile: &ProfileArg) -> Result<Exit, Failure> {
    let catalog = catalog(gateway, profile).await?;
    if output.json {
        output.value(&catalog)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["NAME", "FRESHNESS", "TARGETS", "TITLE"]);
    for tool in list(&catalog, "tools") {
        let targets: Vec<&str> = list(tool, "targets")
            .iter()
            .map(|target| text(target, "name"))
            .collect();
        let targets = if targets.is_empty() {
            "-".into()
        } else {
            targets.join(", ")
        };
        table.row([
            text(tool, "name").into(),
            text(tool, "freshness").into(),
            targets,
            text(tool, "title").into(),
        ]);
    }
    output.table(&table)?;
    Ok(Exit::Done)
}
