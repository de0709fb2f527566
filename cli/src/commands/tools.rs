//! `tools`: the caller's catalog.

use super::{list, profile, text};
use crate::{
    args::ProfileArg,
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table},
};

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, args: &ProfileArg) -> Result<Exit, Failure> {
    profile::warn_of_unknown(&gateway, args.profile.as_deref()).await;
    let gateway = gateway.with_profile(args.profile.as_deref());
    let catalog = gateway.get("/api/mcp/tools", &[]).await?;
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
