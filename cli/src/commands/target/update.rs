//! `target update`: only what was typed changes. The gateway takes settings whole, so they are put over those it has.

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{super::text, PATH, add, findings};
use crate::{
    args::UpdateTarget,
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// Runs the command for the target that was found.
pub(super) async fn run(
    gateway: &Gateway,
    output: Output,
    found: &Value,
    args: &UpdateTarget,
) -> Result<Exit, Failure> {
    let mut change = change(found, args)?;
    if args.new_credential || args.credential.secret_ref.is_some() {
        let kind = text(found, "type");
        if kind == "ssh" {
            return Err(Failure::usage("targets of type ssh have no credential")
                .next("`toolgate target enrol` makes a token for its relay"));
        }
        let token_id = args.token_id.as_deref().map(add::Id::Token);
        let id = token_id.or(args.client_id.as_deref().map(add::Id::Client));
        let credential = add::given(kind, &args.credential, id).await?;
        change.insert("credential".into(), credential);
    }
    if change.is_empty() {
        return Err(
            Failure::usage("nothing to change").next("`toolgate target update --help` tells what can be")
        );
    }
    let path = format!("{PATH}/{}", text(found, "id"));
    let body = Value::Object(change);
    let changed = while_waiting("changing", gateway.send(Method::PATCH, &path, &body)).await;
    let changed = changed.map_err(findings::refused)?;
    if output.json {
        output.value(&changed)?;
        return Ok(Exit::Done);
    }
    output.line(&format!(
        "target {} ({}) is changed; status: {}",
        text(&changed, "name"),
        text(&changed, "id"),
        text(&changed, "status")
    ))?;
    if body.get("credential").is_some() || body.get("config").is_some() {
        findings::whole(output, &changed["validation"])?;
    }
    Ok(Exit::Done)
}

fn change(found: &Value, args: &UpdateTarget) -> Result<Map<String, Value>, Failure> {
    let mut change = Map::new();
    if let Some(name) = &args.name {
        change.insert("name".into(), json!(name));
    }
    if args.enable || args.disable {
        change.insert("disabled".into(), args.disable.into());
    }
    let before = match &args.settings {
        None => found["config"].as_object().cloned().unwrap_or_default(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Failure::usage(format!("--settings: expected one JSON object: {error}")))?,
    };
    let mut config = before.clone();
    for (key, text) in [
        ("hostname", &args.hostname),
        ("host", &args.host),
        ("baseUrl", &args.base_url),
    ] {
        if let Some(text) = text {
            config.insert(key.into(), json!(text));
        }
    }
    if let Some(port) = args.port {
        config.insert("port".into(), port.into());
    }
    add::allowed(&mut config, &args.access);
    add::reached(&mut config, &args.reach)?;
    if args.settings.is_some() || config != before {
        change.insert("config".into(), Value::Object(config));
    }
    Ok(change)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, TargetCommand, parse};

    fn changed(line: &str) -> Result<Value, String> {
        let words = ["toolgate", "target", "update", "lab"]
            .into_iter()
            .chain(line.split(' '));
        let parsed = parse(words.filter(|word| !word.is_empty()).map(Into::into)).unwrap();
        let Some(Command::Target(TargetCommand::Update(args))) = parsed.cli.command else {
            panic!("{line}");
        };
        let found = json!({"id": "01T", "config": {"host": "pve", "port": 8006, "allowHttp": true}});
        change(&found, &args)
            .map(Value::Object)
            .map_err(|failure| failure.message)
    }

    #[test]
    fn only_what_was_typed_changes_and_settings_go_whole() {
        for (line, expected) in [
            ("", json!({})),
            ("--name www", json!({"name": "www"})),
            ("--disable", json!({"disabled": true})),
            ("--enable", json!({"disabled": false})),
            (
                "--port 443 --allow-http=false",
                json!({"config": {"host": "pve", "port": 443, "allowHttp": false}}),
            ),
            ("--host pve", json!({})),
            (
                "--allow-loopback",
                json!({"config": {"host": "pve", "port": 8006, "allowHttp": true, "allowLoopback": true}}),
            ),
            (
                "--access read_write",
                json!({"config": {"host": "pve", "port": 8006, "allowHttp": true, "access": "read_write"}}),
            ),
            (r#"--settings {"host":"b"}"#, json!({"config": {"host": "b"}})),
        ] {
            assert_eq!(changed(line), Ok(expected), "{line}");
        }
        assert!(changed("--settings [").is_err());
    }
}
