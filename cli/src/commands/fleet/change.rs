//! Changes: registering, settings, relays, what is accepted.

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{super::text, DEFAULT, PATH, get, named, or_near, path, send, settings, told, tools};
use crate::{
    args::{AddProject, UpdateProject},
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// What TargetService calls projects.
const TARGETS: &str = "/api/mcp/adapter";

pub(super) async fn add(gateway: &Gateway, output: Output, args: &AddProject) -> Result<Exit, Failure> {
    let name = &args.name;
    let config = settings::over(Map::new(), &args.settings);
    let body = json!({"name": name, "config": config});
    let added = while_waiting("registering", gateway.send(Method::POST, PATH, &body)).await?;
    if args.default {
        let set = gateway.send(Method::PUT, DEFAULT, &named(name)).await;
        set.map_err(|failed| {
            failed.next(format!(
                "the project is registered; `toolgate fleet default {name}` sets it later, and `toolgate fleet enrol {name}` \
                 makes the token of its relay"
            ))
        })?;
    }
    if !output.json {
        output.line(&format!("project {name} is registered and waits for its relay"))?;
    }
    enrolment(output, &added["enrolment"], &added["project"])
}

pub(super) async fn update(gateway: &Gateway, output: Output, args: &UpdateProject) -> Result<Exit, Failure> {
    let name = &args.name;
    let found = get(gateway, name).await?;
    let before = found["project"]["config"]
        .as_object()
        .cloned()
        .unwrap_or_default();
    let config = settings::over(before.clone(), &args.settings);
    if config == before {
        return Err(
            Failure::usage("nothing to change").next("`toolgate fleet update --help` tells what can be")
        );
    }
    let changed = send(gateway, Method::PATCH, name, "", &json!({ "config": config })).await?;
    told(output, &changed, &format!("project {name} is changed"))
}

pub(super) async fn switch(
    gateway: &Gateway,
    output: Output,
    name: &str,
    disabled: bool,
) -> Result<Exit, Failure> {
    let changed = send(gateway, Method::PATCH, name, "", &json!({ "disabled": disabled })).await?;
    let how = if disabled { "disabled" } else { "enabled" };
    told(output, &changed, &format!("project {name} is {how}"))
}

pub(super) async fn default(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    let set = gateway.send(Method::PUT, DEFAULT, &named(name)).await;
    let set = or_near(gateway, name, set).await?;
    let line = match name {
        "" => "calls that name no project have none to go to any more".to_owned(),
        name => format!("calls of callers without a default of their own go to {name}"),
    };
    told(output, &set, &line)
}

pub(super) async fn accept(
    gateway: &Gateway,
    output: Output,
    name: &str,
    hash: Option<&str>,
) -> Result<Exit, Failure> {
    // Whoever names a hash has looked at it.
    let (hash, kept_back) = match hash {
        Some(hash) => (hash.to_owned(), Value::Null),
        None => {
            let found = get(gateway, name).await?;
            (text(&found["project"], "withheldHash").to_owned(), found)
        }
    };
    if hash.is_empty() {
        return Err(
            Failure::failed(format!("no changed tools of {name} are kept back"))
                .next(format!("`toolgate fleet show {name}` tells which are in force")),
        );
    }
    let accepted = send(gateway, Method::POST, name, "/accept", &json!({ "hash": hash })).await?;
    if !output.json {
        tools::print_kept_back(output, &kept_back, "put in force:")?;
    }
    told(
        output,
        &accepted,
        &format!("the tools {hash} of {name} are in force"),
    )
}

pub(super) async fn repin(gateway: &Gateway, output: Output, name: &str, key: &str) -> Result<Exit, Failure> {
    let repinned = send(gateway, Method::POST, name, "/repin", &json!({ "key": key })).await?;
    told(
        output,
        &repinned,
        &format!(
            "the relay of {name} is pinned to {key}; whoever holds the former key is disconnected, and the relay comes back \
             within five minutes, at once when it is restarted"
        ),
    )
}

pub(super) async fn enrol(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    let found = get(gateway, name).await?;
    let path = format!("{TARGETS}/{}/enrolment", text(&found["project"], "id"));
    let answer = gateway.send(Method::POST, &path, &json!({})).await?;
    let minted = answer.get("enrolment").unwrap_or(&answer);
    enrolment(output, minted, &found["project"])?;
    if let Some(line) = replaced(&found["project"]).filter(|_| !output.json) {
        output.line(&line)?;
    }
    Ok(Exit::Done)
}

pub(super) async fn revoke(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    let found = get(gateway, name).await?;
    let id = text(&found["project"], "id");
    gateway.delete(&format!("{TARGETS}/{id}/relay")).await?;
    told(
        output,
        &named(name),
        &format!("the relay of {name} is disconnected and must be enrolled anew"),
    )
}

pub(super) async fn remove(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    let found = get(gateway, name).await?;
    let removed = gateway.delete(&path(name)).await;
    or_near(gateway, name, removed).await?;
    told(output, &named(name), &removal(name, &found["project"]))
}

fn removal(name: &str, project: &Value) -> String {
    match project["isDefault"] == true {
        true => format!(
            "project {name} is removed; it was the tenant's default, and there is none any more: `toolgate fleet default \
             NAME` sets another"
        ),
        false => format!("project {name} is removed"),
    }
}

// A new token locks nobody out: only its use does.
fn replaced(project: &Value) -> Option<String> {
    let connected = ["live", "silent", "server_down"].contains(&text(project, "state"));
    connected.then(|| {
        format!(
            "a relay of {} runs now: it is replaced as soon as the token is used",
            text(project, "name")
        )
    })
}

// Scripts read `token` from the top.
fn enrolment(output: Output, enrolment: &Value, project: &Value) -> Result<Exit, Failure> {
    if output.json {
        let mut whole = enrolment.as_object().cloned().unwrap_or_default();
        whole.insert("project".into(), project.clone());
        output.value(&Value::Object(whole))?;
        return Ok(Exit::Done);
    }
    for line in instructions(text(enrolment, "command"), text(enrolment, "expiresAt")) {
        output.line(&line)?;
    }
    Ok(Exit::Done)
}

fn instructions(command: &str, until: &str) -> Vec<String> {
    let mut lines = vec![
        format!("start beside the project before {until}, and keep it running:"),
        format!("  {command}"),
        "in place of YOUR-SERVER stands the command of the project's MCP server; for one that serves HTTP,"
            .into(),
        "`--url URL` stands in place of `-- YOUR-SERVER`; later starts need no token".into(),
    ];
    if command.contains("https://") && !command.contains(" --ca-cert ") {
        lines.push("where the host does not know the certificate's authority, add --ca-cert FILE".into());
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{instructions, removal, replaced};

    #[test]
    fn removing_the_default_tells_that_there_is_none_any_more() {
        let told = |is: bool| removal("a", &json!({"isDefault": is}));
        assert_eq!(told(false), "project a is removed");
        assert!(told(true).contains("there is none any more"), "{}", told(true));
        assert_eq!(removal("a", &json!({})), "project a is removed");
    }

    #[test]
    fn a_token_for_a_project_that_is_connected_tells_what_its_use_does() {
        for (state, told) in [
            ("live", true),
            ("silent", true),
            ("server_down", true),
            ("offline", false),
            ("waiting", false),
            ("revoked", false),
        ] {
            let line = replaced(&json!({"name": "a", "state": state}));
            assert_eq!(
                line.is_some_and(|line| line.contains("replaced")),
                told,
                "{state}"
            );
        }
    }

    #[test]
    fn an_enrolment_says_where_the_server_goes_and_whom_to_trust() {
        let told = |gateway: &str| {
            let line = format!("toolgate relay project --gateway {gateway} --name a -- YOUR-SERVER");
            instructions(&line, "T").join("\n")
        };
        let plain = told("http://h");
        assert!(plain.starts_with("start beside the project before T"), "{plain}");
        assert!(
            plain.contains("in place of YOUR-SERVER") && !plain.contains("--ca-cert"),
            "{plain}"
        );
        assert!(told("https://h").contains("--ca-cert FILE"));
    }
}
