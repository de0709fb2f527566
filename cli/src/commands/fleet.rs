//! `fleet`: the projects of the tenant.
//!
//! How projects are registered is REST of its own. How they do is asked with the gateway's tools, as any agent asks it.

mod ask;
mod change;
mod settings;
mod show;
mod tools;

use reqwest::Method;
use serde_json::{Value, json};

use super::{list, segment, text};
use crate::{
    args::FleetCommand,
    client::Gateway,
    config::nearest::did_you_mean,
    failure::{Exit, Failure},
    output::Output,
};

const PATH: &str = "/api/fleet/projects";
const DEFAULT: &str = "/api/fleet/default";

/// Runs the command.
pub(crate) async fn run(gateway: &Gateway, output: Output, command: FleetCommand) -> Result<Exit, Failure> {
    match command {
        FleetCommand::Add(args) => change::add(gateway, output, &args).await,
        FleetCommand::List => show::all(gateway, output).await,
        FleetCommand::Show { name } => show::one(gateway, output, &name).await,
        FleetCommand::Health => ask::health(gateway, output).await,
        FleetCommand::Status => ask::status(gateway, output).await,
        FleetCommand::Identity => ask::identity(gateway, output).await,
        FleetCommand::Switch { name } => ask::switch(gateway, output, &name).await,
        FleetCommand::Default {
            name: None,
            none: false,
        } => show::default(gateway, output).await,
        FleetCommand::Default { name, .. } => {
            change::default(gateway, output, name.as_deref().unwrap_or_default()).await
        }
        FleetCommand::Update(args) => change::update(gateway, output, &args).await,
        FleetCommand::Enable { name } => change::switch(gateway, output, &name, false).await,
        FleetCommand::Disable { name } => change::switch(gateway, output, &name, true).await,
        FleetCommand::Accept { name, hash } => change::accept(gateway, output, &name, hash.as_deref()).await,
        FleetCommand::Repin { name, key } => change::repin(gateway, output, &name, &key).await,
        FleetCommand::Enrol { name } => change::enrol(gateway, output, &name).await,
        FleetCommand::Revoke { name } => change::revoke(gateway, output, &name).await,
        FleetCommand::Remove { name } => change::remove(gateway, output, &name).await,
    }
}

/// The path of one project.
fn path(name: &str) -> String {
    format!("{PATH}/{}", segment(name))
}

/// One project, as `fleet show` has it.
async fn get(gateway: &Gateway, name: &str) -> Result<Value, Failure> {
    let found = gateway.get(&path(name), &[]).await;
    or_near(gateway, name, found).await
}

/// Asks something of one project by POST, PUT or PATCH.
async fn send(
    gateway: &Gateway,
    method: Method,
    name: &str,
    below: &str,
    body: &Value,
) -> Result<Value, Failure> {
    let sent = gateway
        .send(method, &format!("{}{below}", path(name)), body)
        .await;
    or_near(gateway, name, sent).await
}

/// The answer, or a failure that names the project that was probably meant.
async fn or_near<T>(gateway: &Gateway, name: &str, answer: Result<T, Failure>) -> Result<T, Failure> {
    let refused = match answer {
        Err(refused) if reason(&refused) == "PROJECT_NOT_FOUND" => refused,
        other => return other,
    };
    // Whoever may not list them has been told all there is to tell.
    let Ok(projects) = gateway.get(PATH, &[]).await else {
        return Err(refused);
    };
    let names = list(&projects, "projects")
        .iter()
        .map(|project| text(project, "name"));
    Err(match did_you_mean(name, names) {
        meant if meant.is_empty() => refused.next("`toolgate fleet list` lists the projects"),
        meant => Failure {
            message: format!("no project is called {name}{meant}"),
            ..refused
        },
    })
}

fn reason(failure: &Failure) -> &str {
    let problem = failure.problem.as_ref();
    problem
        .and_then(|problem| problem.get("reason")?.as_str())
        .unwrap_or_default()
}

/// An answer for programs, or lines for people.
fn told(output: Output, answer: &Value, line: &str) -> Result<Exit, Failure> {
    match output.json {
        true => output.value(answer)?,
        false => output.line(line)?,
    }
    Ok(Exit::Done)
}

fn named(name: &str) -> Value {
    json!({ "name": name })
}

#[cfg(test)]
mod tests;
