//! `profile cost`: what the lists of profiles cost a model.

use serde_json::Value;

use crate::{
    client::Gateway,
    commands::{list, text},
    failure::{Exit, Failure},
    output::{Output, Table},
};

/// Runs the command: one profile with its tools, or a line for each.
pub(super) async fn run(gateway: &Gateway, output: Output, name: Option<&str>) -> Result<Exit, Failure> {
    match name {
        Some(name) => one(gateway, output, name).await?,
        None => all(gateway, output).await?,
    }
    Ok(Exit::Done)
}

async fn all(gateway: &Gateway, output: Output) -> Result<(), Failure> {
    let answer = gateway.get("/api/profile-costs", &[]).await?;
    if output.json {
        return output.value(&answer);
    }
    let mut table = Table::new([
        "PROFILE",
        "TOOLS",
        "TOKENS",
        "LISTED",
        "SAVED",
        "BY SEARCH",
        "BUDGET",
    ]);
    for cost in list(&answer, "costs") {
        table.row([
            text(cost, "profile").into(),
            number(cost, "toolCount"),
            number(cost, "tokens"),
            number(cost, "listedTokens"),
            number(cost, "savedTokens"),
            number(cost, "searchTokens"),
            number(cost, "tokenBudget"),
        ]);
    }
    output.table(&table)
}

async fn one(gateway: &Gateway, output: Output, name: &str) -> Result<(), Failure> {
    let answer = gateway.get(&path(name), &[]).await?;
    if output.json {
        return output.value(&answer);
    }
    let cost = &answer["cost"];
    output.line(&format!(
        "{}: {} tools, {} tokens; listed {}, saved {} of {}; by search {}",
        text(cost, "profile"),
        number(cost, "toolCount"),
        number(cost, "tokens"),
        number(cost, "listedTokens"),
        number(cost, "savedTokens"),
        number(cost, "allTokens"),
        number(cost, "searchTokens"),
    ))?;
    let mut table = Table::new(["TOOL", "TOKENS"]);
    for tool in list(&answer, "tools") {
        table.row([text(tool, "name").into(), number(tool, "tokens")]);
    }
    output.table(&table)
}

/// The name as one segment, whatever stands in it.
fn path(name: &str) -> String {
    let segment: String = name
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("/api/profiles/{segment}/cost")
}

fn number(value: &Value, member: &str) -> String {
    match &value[member] {
        Value::Null => "-".into(),
        number => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn a_name_is_one_segment() {
        assert_eq!(path("review"), "/api/profiles/review/cost");
        assert_eq!(path("a/b ?c"), "/api/profiles/a%2Fb%20%3Fc/cost");
    }
}
