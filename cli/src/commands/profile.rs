//! `profile`: named sets of tools.

mod cost;

use serde_json::Value;

use super::{list, text};
use crate::{
    args::ProfileCommand,
    client::Gateway,
    config::nearest::did_you_mean,
    failure::{Exit, Failure},
    output::{Output, Table, printable::printable},
};

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, command: ProfileCommand) -> Result<Exit, Failure> {
    if let ProfileCommand::Cost { name } = &command {
        return cost::run(&gateway, output, name.as_deref()).await;
    }
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
        // Told above, without the list.
        ProfileCommand::Cost { .. } => {}
    }
    Ok(Exit::Done)
}

/// Profiles fail open: a name that nobody knows narrows nothing, which whoever typed it should be told.
pub(super) async fn warn_of_unknown(gateway: &Gateway, wanted: Option<&str>) {
    let Some(wanted) = wanted else { return };
    // Not everyone may list them; then there is nothing to tell.
    let Ok(answer) = gateway.get("/api/profiles", &[]).await else {
        return;
    };
    if let Some(warning) = warning(list(&answer, "profiles"), wanted) {
        eprintln!("{}", printable(&warning));
    }
}

fn warning(profiles: &[Value], wanted: &str) -> Option<String> {
    let names = || profiles.iter().map(|profile| text(profile, "name"));
    if names().any(|name| name == wanted) {
        return None;
    }
    let meant = did_you_mean(wanted, names());
    Some(format!(
        "warning: no profile is called {wanted}, so it narrows nothing{meant}"
    ))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::warning;

    #[test]
    fn a_profile_that_nobody_knows_is_warned_of() {
        let profiles = [json!({"name": "review"}), json!({"name": "brainstorm"})];
        assert_eq!(warning(&profiles, "review"), None);
        let told = warning(&profiles, "revue").unwrap();
        assert!(told.contains("narrows nothing; did you mean `review`?"), "{told}");
        assert!(warning(&profiles, "x").unwrap().ends_with("narrows nothing"));
    }
}
