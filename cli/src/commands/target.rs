//! `target`: the configured upstreams of the tenant. Names and ids are accepted alike.

use reqwest::Method;
use serde_json::{Value, json};

use super::{list, text};
use crate::{
    args::{AddTarget, TargetCommand},
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
        TargetCommand::List { r#type } => show(&gateway, output, r#type).await,
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

async fn show(gateway: &Gateway, output: Output, kind: Option<String>) -> Result<Exit, Failure> {
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

async fn test(gateway: &Gateway, output: Output, wanted: &str) -> Result<Exit, Failure> {
    let found = find(gateway, wanted).await?;
    let path = format!("{PATH}/{}/test", text(&found, "id"));
    let tested = while_waiting("testing", gateway.send(Method::POST, &path, &json!({}))).await?;
    let passed = tested["ok"] == true;
    if output.json {
        output.value(&tested)?;
    } else {
        for stage in list(&tested, "stages") {
            let ok = stage["ok"] == true;
            let verdict = output.verdict(if ok { "passed" } else { "failed" }, ok);
            output.raw(format!("{verdict}  ").as_bytes())?;
            let ms = stage["ms"].as_i64().unwrap_or_default();
            output.line(format!("{} ({ms} ms) {}", text(stage, "name"), text(stage, "reason")).trim_end())?;
        }
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
