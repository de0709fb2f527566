//! `target`: the configured upstreams of the tenant. Names and ids are accepted alike.

mod add;
mod findings;
mod secret;
mod update;

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{list, text};
use crate::{
    args::{AddTarget, BackEndTarget, TargetCommand, TokenTarget},
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table, spinner::while_waiting},
};

const PATH: &str = "/api/mcp/adapter";
// 200 a page: more targets than any tenant should page through by hand.
const MOST_PAGES: usize = 100;

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, command: TargetCommand) -> Result<Exit, Failure> {
    match command {
        TargetCommand::Add(AddTarget::Ssh { name, hostname, port }) => {
            add_ssh(&gateway, output, &name, hostname, port).await
        }
        TargetCommand::Add(AddTarget::Proxmox {
            name,
            host,
            port,
            token_id,
            credential,
            reach,
        }) => {
            let port = port.map(|port| ("port".to_owned(), json!(port)));
            let addition = add::Addition {
                kind: "proxmox",
                name: &name,
                config: [("host".to_owned(), json!(host))]
                    .into_iter()
                    .chain(port)
                    .collect(),
                reach: &reach,
            };
            let id = token_id.as_deref().map(add::Id::Token);
            add::run(&gateway, output, addition, &credential, id).await
        }
        TargetCommand::Add(AddTarget::Github(args)) => {
            add_with_token(&gateway, output, "github", &args).await
        }
        TargetCommand::Add(AddTarget::Gitea(args)) => add_with_token(&gateway, output, "gitea", &args).await,
        TargetCommand::Add(AddTarget::AgentMemory(args)) => {
            add_back_end(&gateway, output, "agent-memory", &args).await
        }
        TargetCommand::Add(AddTarget::AgentOperator(args)) => {
            add_back_end(&gateway, output, "agent-operator", &args).await
        }
        TargetCommand::Add(AddTarget::AgentChat(args)) => {
            add_back_end(&gateway, output, "agent-chat", &args).await
        }
        TargetCommand::List { r#type } => show_all(&gateway, output, r#type).await,
        TargetCommand::Show { target } => show(output, &find(&gateway, &target).await?),
        TargetCommand::Update(args) => {
            let found = find(&gateway, &args.target).await?;
            update::run(&gateway, output, &found, &args).await
        }
        TargetCommand::Test { target } => test(&gateway, output, &target).await,
        TargetCommand::Remove { target } => {
            let found = find(&gateway, &target).await?;
            gateway.delete(&format!("{PATH}/{}", text(&found, "id"))).await?;
            done(output, &found, "removed")
        }
        TargetCommand::Enrol { target } => {
            let found = find(&gateway, &target).await?;
            let path = format!("{PATH}/{}/enrolment", text(&found, "id"));
            let answer = gateway.send(Method::POST, &path, &json!({})).await?;
            enrolment(output, &answer, answer.get("enrolment").unwrap_or(&answer))
        }
        TargetCommand::RevokeRelay { target } => {
            let found = find(&gateway, &target).await?;
            gateway
                .delete(&format!("{PATH}/{}/relay", text(&found, "id")))
                .await?;
            done(output, &found, "disconnected; its relay must be enrolled anew")
        }
    }
}

async fn add_back_end(
    gateway: &Gateway,
    output: Output,
    kind: &'static str,
    args: &BackEndTarget,
) -> Result<Exit, Failure> {
    let mut config = Map::from_iter([("baseUrl".to_owned(), json!(args.base_url))]);
    add::allowed(&mut config, &args.access);
    let addition = add::Addition {
        kind,
        name: &args.name,
        config,
        reach: &args.reach,
    };
    let id = args.client_id.as_deref().map(add::Id::Client);
    add::run(gateway, output, addition, &args.credential, id).await
}

async fn add_ssh(
    gateway: &Gateway,
    output: Output,
    name: &str,
    hostname: Option<String>,
    port: Option<u16>,
) -> Result<Exit, Failure> {
    let mut config = json!({"hostname": hostname.as_deref().unwrap_or(name)});
    if let Some(port) = port {
        config["port"] = json!(port);
    }
    let body = json!({"type": "ssh", "name": name, "config": config});
    let added = gateway.send(Method::POST, PATH, &body).await?;
    if !output.json {
        output.line(&format!(
            "target {name} ({}) is added and waits for its relay",
            text(&added, "id")
        ))?;
    }
    enrolment(output, &added, &added["enrolment"])
}

async fn add_with_token(
    gateway: &Gateway,
    output: Output,
    kind: &'static str,
    args: &TokenTarget,
) -> Result<Exit, Failure> {
    let base_url = args.base_url.iter();
    let addition = add::Addition {
        kind,
        name: &args.name,
        config: base_url.map(|url| ("baseUrl".to_owned(), json!(url))).collect(),
        reach: &args.reach,
    };
    add::run(gateway, output, addition, &args.credential, None).await
}

fn enrolment(output: Output, answer: &Value, enrolment: &Value) -> Result<Exit, Failure> {
    if output.json {
        output.value(answer)?;
        return Ok(Exit::Done);
    }
    if text(enrolment, "command").is_empty() {
        output.line("this is the gateway's own host: its built-in relay enrols anew by itself")?;
        return Ok(Exit::Done);
    }
    for line in instructions(text(enrolment, "command"), text(enrolment, "expiresAt")) {
        output.line(&line)?;
    }
    Ok(Exit::Done)
}

fn instructions(command: &str, until: &str) -> Vec<String> {
    let mut lines = vec![
        format!("start on the host before {until}, and keep it running:"),
        format!("  {command}"),
        "later starts need no token".into(),
        "as a service with a user of its own: docs/relay.md; as root it wants --allow-root".into(),
    ];
    if command.contains(" --ca-cert ") {
        lines.push(
            "copy the gateway's certificate there first and name that file; without it where the host".into(),
        );
        lines.push("knows the certificate's authority".into());
    } else if command.contains("--gateway https://") || command.contains("--gateway 'https://") {
        lines.push("where the host does not know the certificate's authority, add --ca-cert FILE".into());
    }
    lines
}

async fn show_all(gateway: &Gateway, output: Output, kind: Option<String>) -> Result<Exit, Failure> {
    let targets = all(gateway, kind).await?;
    if output.json {
        output.value(&json!({"targets": targets}))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["NAME", "TYPE", "STATUS", "ID", "ADDED"]);
    for target in &targets {
        table.row(["name", "type", "status", "id", "createdAt"].map(|name| text(target, name).into()));
    }
    output.table(&table)?;
    Ok(Exit::Done)
}

fn show(output: Output, target: &Value) -> Result<Exit, Failure> {
    if output.json {
        output.value(target)?;
        return Ok(Exit::Done);
    }
    for name in ["name", "type", "status", "id", "createdAt", "updatedAt"] {
        output.line(&format!("{name:<12} {}", text(target, name)))?;
    }
    for (key, value) in target["config"].as_object().unwrap_or(&Map::new()) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // A certificate has many lines; its first tells what it is.
        let first = value.lines().next().unwrap_or_default();
        output.line(&format!("config.{key:<16} {first}"))?;
    }
    let found = &target["validation"];
    let checked = text(found, "checkedAt");
    output.line(format!("validation   {} {checked}", text(found, "verdict")).trim_end())?;
    findings::whole(output, found)?;
    Ok(Exit::Done)
}

async fn test(gateway: &Gateway, output: Output, wanted: &str) -> Result<Exit, Failure> {
    let found = find(gateway, wanted).await?;
    let path = format!("{PATH}/{}/test", text(&found, "id"));
    let tested = while_waiting("testing", gateway.send(Method::POST, &path, &json!({}))).await?;
    let passed = tested["ok"] == true;
    if output.json {
        output.value(&tested)?;
    } else {
        findings::stages(output, &tested)?;
    }
    Ok(if passed { Exit::Done } else { Exit::Failed })
}

fn done(output: Output, target: &Value, what: &str) -> Result<Exit, Failure> {
    let (id, name) = (text(target, "id"), text(target, "name"));
    if output.json {
        output.value(&json!({"id": id, "name": name}))?;
    } else {
        output.line(&format!("target {name} ({id}) is {what}"))?;
    }
    Ok(Exit::Done)
}

/// Every target, page by page.
pub(crate) async fn all(gateway: &Gateway, kind: Option<String>) -> Result<Vec<Value>, Failure> {
    let mut targets = Vec::new();
    let mut query = vec![("pageSize", "200".to_owned())];
    query.extend(kind.map(|kind| ("type", kind)));
    for _ in 0..MOST_PAGES {
        let page = gateway.get(PATH, &query).await?;
        targets.extend_from_slice(list(&page, "targets"));
        let next = text(&page, "nextPageToken");
        if next.is_empty() {
            break;
        }
        query.retain(|(name, _)| *name != "pageToken");
        query.push(("pageToken", next.into()));
    }
    Ok(targets)
}

async fn find(gateway: &Gateway, wanted: &str) -> Result<Value, Failure> {
    let targets = all(gateway, None).await?;
    let by_id = targets.iter().find(|target| text(target, "id") == wanted);
    let mut by_name = targets.iter().filter(|target| text(target, "name") == wanted);
    match (by_id, by_name.next(), by_name.next()) {
        (Some(target), ..) | (None, Some(target), None) => Ok(target.clone()),
        (None, Some(_), Some(_)) => Err(Failure::usage(format!("several targets are called {wanted}"))
            .next("give the id; `toolgate target list` tells it")),
        (None, None, _) => Err(
            Failure::new(Exit::Refused, format!("no target is called {wanted}"))
                .next("`toolgate target list` lists the targets"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::instructions;

    #[test]
    fn an_enrolment_says_that_the_relay_keeps_running_and_whom_to_trust_over_tls() {
        let plain = instructions(
            "TOOLGATE_ENROLMENT_TOKEN=t toolgate relay host --gateway http://h:1",
            "T",
        )
        .join("\n");
        assert!(
            plain.starts_with(
                "start on the host before T, and keep it running:\n  TOOLGATE_ENROLMENT_TOKEN=t"
            ),
            "{plain}"
        );
        assert!(
            plain.contains("later starts need no token") && plain.contains("--allow-root"),
            "{plain}"
        );
        assert!(!plain.contains("--ca-cert"), "{plain}");
        let tls = instructions("toolgate relay host --gateway https://h", "T").join("\n");
        assert!(tls.contains("--ca-cert FILE"), "{tls}");
        let own = instructions("toolgate relay host --gateway https://h --ca-cert /c.pem", "T").join("\n");
        assert!(own.contains("copy the gateway's certificate"), "{own}");
    }
}
