//! `profile`: named sets of tools, those of the contract and one's own.
//!
//! What the contract says is told without a gateway.

mod change;
mod cost;
mod show;
mod why;

use serde_json::{Value, json};
use toolgate_contract::pods;

use super::{Context, list, segment, text};
use crate::{
    args::ProfileCommand,
    client::Gateway,
    config::nearest::did_you_mean,
    failure::{Exit, Failure},
    output::{Output, printable::printable},
};

const PATH: &str = "/api/profiles";

/// Runs the command.
pub(crate) async fn run(context: &Context, command: ProfileCommand) -> Result<Exit, Failure> {
    let output = context.output;
    match command {
        ProfileCommand::List => show::all(context.gateway(), output).await,
        ProfileCommand::Show { name } => show::one(|| context.gateway(), output, &name).await,
        ProfileCommand::ForKind { kind } => for_kind(output, &kind),
        ProfileCommand::Create(args) => change::create(&context.gateway()?, output, args).await,
        ProfileCommand::Update(args) => change::update(&context.gateway()?, output, args).await,
        ProfileCommand::Delete { name } => change::delete(&context.gateway()?, output, &name).await,
        ProfileCommand::Cost { name } => cost::run(&context.gateway()?, output, name.as_deref()).await,
        ProfileCommand::Why(args) => why::run(&context.gateway()?, output, &args).await,
    }
}

// Scripts put this into a variable, so there is nothing but the value.
fn for_kind(output: Output, kind: &str) -> Result<Exit, Failure> {
    let profile = pods::profile_for_kind(kind);
    if profile.is_empty() {
        eprintln!(
            "{}",
            printable(&format!(
                "note: no profile is for tasks of kind {kind}; an empty one hides nothing"
            ))
        );
    }
    match output.json {
        true => output.value(&json!({"profile": profile}))?,
        false => output.line(profile)?,
    }
    Ok(Exit::Done)
}

/// The path of one profile.
fn path(name: &str) -> String {
    format!("{PATH}/{}", segment(name))
}

/// Profiles fail open: a name that nobody knows narrows nothing, which whoever typed it should be told.
pub(super) async fn warn_of_unknown(gateway: &Gateway, wanted: Option<&str>) {
    let Some(wanted) = wanted else { return };
    // Not everyone may list them; then there is nothing to tell.
    let Ok(answer) = gateway.get(PATH, &[]).await else {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{segment, warning};

    #[test]
    fn a_profile_that_nobody_knows_is_warned_of() {
        let profiles = [json!({"name": "review"}), json!({"name": "brainstorm"})];
        assert_eq!(warning(&profiles, "review"), None);
        let told = warning(&profiles, "revue").unwrap();
        assert!(told.contains("narrows nothing; did you mean `review`?"), "{told}");
        assert!(warning(&profiles, "x").unwrap().ends_with("narrows nothing"));
    }

    #[test]
    fn a_name_is_one_segment_whatever_stands_in_it() {
        for (name, expected) in [
            ("ssh.run_whitelisted_command", "ssh.run_whitelisted_command"),
            ("a/b?c#d", "a%2Fb%3Fc%23d"),
            ("..", "%2E%2E"),
            ("%2e", "%252e"),
            ("ä", "%C3%A4"),
        ] {
            assert_eq!(segment(name), expected);
        }
    }
}
