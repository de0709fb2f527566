//! How projects are registered, and how they do.

use serde_json::{Map, Value, json};

use super::{
    super::{list, text},
    PATH, get, tools,
};
use crate::{
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table},
};

pub(super) async fn all(gateway: &Gateway, output: Output) -> Result<Exit, Failure> {
    let answer = gateway.get(PATH, &[]).await?;
    if output.json {
        output.value(&answer)?;
        return Ok(Exit::Done);
    }
    let projects = list(&answer, "projects");
    if projects.is_empty() {
        output.line("no project is registered; `toolgate fleet add NAME` registers one")?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["NAME", "STATE", "DEFAULT", "ACCESS", "TOOLS", "LAST SEEN", "WHY"]);
    for project in projects {
        table.row([
            text(project, "name").into(),
            text(project, "state").into(),
            if is(project, "isDefault") { "yes" } else { "" }.into(),
            text(&project["config"], "access").into(),
            number(&project["tools"]),
            text(project, "lastSeen").into(),
            why(project),
        ]);
    }
    output.table(&table)?;
    Ok(Exit::Done)
}

pub(super) async fn default(gateway: &Gateway, output: Output) -> Result<Exit, Failure> {
    let answer = gateway.get(PATH, &[]).await?;
    let projects = list(&answer, "projects");
    let default = projects.iter().find(|project| is(project, "isDefault"));
    let name = default.map_or("", |project| text(project, "name"));
    let line = match name {
        "" => "none: calls that name no project go to their caller's own default, or nowhere",
        name => name,
    };
    super::told(output, &json!({ "name": name }), line)
}

pub(super) async fn one(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    let answer = get(gateway, name).await?;
    if output.json {
        output.value(&answer)?;
        return Ok(Exit::Done);
    }
    for line in about(&answer["project"]) {
        output.line(&line)?;
    }
    let in_force = list(&answer, "tools");
    if !in_force.is_empty() {
        output.line("")?;
        output.table(&tools::in_force(in_force))?;
    }
    let head = format!("\nkept back, accept with `toolgate fleet accept {name}`:");
    tools::print_kept_back(output, &answer, &head)?;
    let events = list(&answer, "events");
    if !events.is_empty() {
        output.line("")?;
        let mut table = Table::new(["TOLD AT", "WHAT", ""]);
        for event in events {
            table.row(["at", "method", "params"].map(|name| text(event, name).into()));
        }
        output.table(&table)?;
    }
    Ok(Exit::Done)
}

fn about(project: &Value) -> Vec<String> {
    let line = |label: &str, value: &str| (!value.is_empty()).then(|| format!("{label:<12} {value}"));
    let latency = project["latencyMs"].as_f64().map(|ms| format!("{ms:.1} ms"));
    let server = format!("{} {}", text(project, "server"), text(project, "revision"));
    let mut lines: Vec<String> = [
        ("name", text(project, "name")),
        ("state", text(project, "state")),
        ("why", text(project, "why")),
        ("default", if is(project, "isDefault") { "yes" } else { "" }),
        ("registered", text(project, "source")),
        ("server", server.trim()),
        ("last seen", text(project, "lastSeen")),
        ("latency", latency.as_deref().unwrap_or_default()),
        ("last event", text(project, "lastEvent")),
        ("pinned key", text(project, "pinnedKey")),
        ("shown key", text(project, "liveKey")),
        ("tools hash", text(project, "toolsHash")),
        ("kept back", text(project, "withheldHash")),
    ]
    .into_iter()
    .filter_map(|(label, value)| line(label, value))
    .collect();
    for (key, value) in project["config"].as_object().unwrap_or(&Map::new()) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        lines.push(format!("config.{key:<16} {value}"));
    }
    lines
}

// What an admin has to do something about comes before what the gateway found.
fn why(project: &Value) -> String {
    let name = text(project, "name");
    if is(project, "mismatch") {
        return "its relay shows another key: `toolgate fleet identity`".into();
    }
    if !text(project, "withheldHash").is_empty() {
        return format!("its tools changed: `toolgate fleet accept {name}`");
    }
    text(project, "why").into()
}

fn is(value: &Value, name: &str) -> bool {
    value[name] == true
}

fn number(value: &Value) -> String {
    value.as_u64().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_admin_has_to_do_is_told_first() {
        let project = |more: Value| {
            let mut project = json!({"name": "alpha", "why": "it is down"});
            project
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            why(&project)
        };
        assert_eq!(project(json!({})), "it is down");
        assert!(project(json!({"withheldHash": "ab"})).contains("fleet accept alpha"));
        assert!(project(json!({"mismatch": true, "withheldHash": "ab"})).contains("fleet identity"));
    }

    #[test]
    fn what_is_not_known_of_a_project_has_no_line() {
        let lines =
            about(&json!({"name": "alpha", "state": "live", "latencyMs": 1.25, "config": {"sshPort": 22}}));
        assert_eq!(
            lines,
            [
                "name         alpha",
                "state        live",
                "latency      1.2 ms",
                "config.sshPort          22"
            ]
        );
    }
}
