//! `profile list` and `profile show`. Those of the contract are told although no gateway answers.

use serde_json::{Value, json};
use toolgate_contract::registry::{self, PROFILES, ProfileDef};

use super::{
    super::{list, text},
    PATH, path,
};
use crate::{
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table, printable::printable},
};

/// Lists the profiles.
pub(super) async fn all(gateway: Result<Gateway, Failure>, output: Output) -> Result<Exit, Failure> {
    let answer = match gateway {
        Ok(gateway) if gateway.has_token() => gateway.get(PATH, &[]).await,
        Ok(_) => Err(Failure::new(
            Exit::Unreachable,
            "there is no token to ask a gateway with",
        )),
        Err(failure) => Err(failure),
    };
    let answer = match answer {
        Err(failure) if failure.exit == Exit::Unreachable => {
            let told = format!(
                "{}; these are the profiles of the contract, without your own",
                failure.message
            );
            eprintln!("{}", printable(&told));
            json!({"profiles": PROFILES.iter().map(built_in).collect::<Vec<_>>()})
        }
        answer => answer?,
    };
    if output.json {
        output.value(&answer)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["NAME", "TOOLS", "KINDS", "TOLD", "FOR"]);
    for profile in list(&answer, "profiles") {
        let kinds: Vec<_> = list(profile, "taskKinds")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        table.row([
            text(profile, "name").into(),
            list(profile, "tools").len().to_string(),
            if kinds.is_empty() {
                "-".into()
            } else {
                kinds.join(", ")
            },
            text(profile, "disclosure").into(),
            text(profile, "description").into(),
        ]);
    }
    output.table(&table)?;
    Ok(Exit::Done)
}

/// Shows one profile.
pub(super) async fn one(
    gateway: impl FnOnce() -> Result<Gateway, Failure>,
    output: Output,
    name: &str,
) -> Result<Exit, Failure> {
    match registry::profile(name) {
        Some(found) => show(output, &built_in(found))?,
        None => show(output, &gateway()?.get(&path(name), &[]).await?["profile"])?,
    }
    Ok(Exit::Done)
}

/// Prints a profile.
pub(super) fn show(output: Output, profile: &Value) -> Result<(), Failure> {
    if output.json {
        return output.value(profile);
    }
    let name = text(profile, "name");
    match text(profile, "description") {
        "" => output.line(name)?,
        description => output.line(&format!("{name}: {description}"))?,
    }
    for tool in list(profile, "tools").iter().filter_map(Value::as_str) {
        output.line(&format!("  {tool}"))?;
    }
    if text(profile, "disclosure") == "search" {
        output.line("its tools are found by search, not listed")?;
    }
    for (member, what) in [
        ("tokenBudget", "its list may cost at most"),
        ("resultCap", "a result may have at most"),
    ] {
        if let Some(tokens) = profile[member].as_u64() {
            output.line(&format!("{what} {tokens} tokens"))?;
        }
    }
    Ok(())
}

fn built_in(profile: &ProfileDef) -> Value {
    json!({
        "name": profile.name,
        "description": profile.description,
        "tools": profile.tools,
        "builtIn": true,
        "taskKinds": profile.task_kinds,
        "disclosure": "direct",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_of_the_contract_is_told_as_a_gateway_tells_it() {
        let told = built_in(registry::profile("triage").unwrap());
        assert_eq!((text(&told, "name"), list(&told, "tools").len()), ("triage", 44));
        assert_eq!(told["taskKinds"], json!(["triageIssue"]));
        assert_eq!(
            (&told["builtIn"], text(&told, "disclosure")),
            (&json!(true), "direct")
        );
    }
}
