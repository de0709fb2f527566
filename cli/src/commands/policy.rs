//! `policy`: which tools are off for the whole tenant.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::list;
use crate::{
    args::PolicyCommand,
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

const PATH: &str = "/api/mcp/policy";

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, command: PolicyCommand) -> Result<Exit, Failure> {
    let policy = gateway.get(PATH, &[]).await?;
    let mut disabled: BTreeSet<String> = disabled(&policy).map(str::to_owned).collect();
    let policy = match command {
        PolicyCommand::Show => policy,
        PolicyCommand::Disable { tools } => {
            disabled.extend(tools);
            put(&gateway, &disabled).await?
        }
        PolicyCommand::Enable { tools } => {
            disabled.retain(|tool| !tools.contains(tool));
            put(&gateway, &disabled).await?
        }
    };
    print(output, &policy)
}

async fn put(gateway: &Gateway, disabled: &BTreeSet<String>) -> Result<Value, Failure> {
    gateway
        .send(Method::PUT, PATH, &json!({"disabledTools": disabled}))
        .await
}

fn disabled(policy: &Value) -> impl Iterator<Item = &str> {
    list(policy, "disabledTools").iter().filter_map(Value::as_str)
}

fn print(output: Output, policy: &Value) -> Result<Exit, Failure> {
    if output.json {
        output.value(policy)?;
    } else if disabled(policy).next().is_none() {
        output.line("no tool is off")?;
    } else {
        output.line("off:")?;
        for tool in disabled(policy) {
            output.line(&format!("  {tool}"))?;
        }
    }
    Ok(Exit::Done)
}
