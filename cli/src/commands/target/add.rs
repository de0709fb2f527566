//! `target add` of targets that are dialled: from what was typed to what the gateway is asked.

use std::path::Path;

use reqwest::Method;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::{super::text, PATH, findings, secret};
use crate::{
    args::{AccessArgs, CredentialArgs, ReachArgs},
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, spinner::while_waiting},
};

/// The largest file of certificates.
const LARGEST_FILE: u64 = 64 * 1024;

/// What is to be added.
pub(super) struct Addition<'a> {
    /// Adapter type.
    pub(super) kind: &'static str,
    /// Name.
    pub(super) name: &'a str,
    /// Settings so far.
    pub(super) config: Map<String, Value>,
    /// How far it is trusted.
    pub(super) reach: &'a ReachArgs,
}

/// What a credential has beside what is secret of it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Id<'a> {
    /// Of an API token of Proxmox VE.
    Token(&'a str),
    /// Of a client of a back end of agents.
    Client(&'a str),
}

/// Asks for the credential, then adds the target and tells what its validation found.
pub(super) async fn run(
    gateway: &Gateway,
    output: Output,
    addition: Addition<'_>,
    credential: &CredentialArgs,
    id: Option<Id<'_>>,
) -> Result<Exit, Failure> {
    let Addition {
        kind,
        name,
        mut config,
        reach,
    } = addition;
    reached(&mut config, reach)?;
    let credential = given(kind, credential, id).await?;
    let body = json!({"type": kind, "name": name, "config": config, "credential": credential});
    let added = while_waiting("validating", gateway.send(Method::POST, PATH, &body)).await;
    let added = added.map_err(findings::refused)?;
    if output.json {
        output.value(&added)?;
        return Ok(Exit::Done);
    }
    output.line(&format!("target {name} ({}) is added", text(&added, "id")))?;
    findings::whole(output, &added["validation"])?;
    output.line(&format!(
        "try it: toolgate call {} --target {}",
        first_tool(kind),
        text(&added, "id")
    ))?;
    Ok(Exit::Done)
}

/// Puts what was typed about reach and trust into the settings; what was not stays. Certificates are accepted by their
/// authority or by their fingerprint, so the one that is typed takes the other's place.
pub(super) fn reached(config: &mut Map<String, Value>, reach: &ReachArgs) -> Result<(), Failure> {
    if let Some(file) = &reach.ca_certificate {
        config.remove("fingerprints");
        config.insert("caCertificate".into(), certificates(file)?.into());
    }
    if !reach.fingerprint.is_empty() {
        config.remove("caCertificate");
    }
    for (key, texts) in [
        ("fingerprints", &reach.fingerprint),
        ("allowPrivate", &reach.allow_private),
    ] {
        if !texts.is_empty() {
            config.insert(key.into(), json!(texts));
        }
    }
    for (key, allowed) in [
        ("allowLoopback", reach.allow_loopback),
        ("allowHttp", reach.allow_http),
    ] {
        if let Some(allowed) = allowed {
            config.insert(key.into(), allowed.into());
        }
    }
    Ok(())
}

/// The credential as the gateway takes it: a reference, or what is typed or piped in.
pub(super) async fn given(kind: &str, args: &CredentialArgs, id: Option<Id<'_>>) -> Result<Value, Failure> {
    if let Some(reference) = &args.secret_ref {
        return Ok(json!({"secretRef": reference}));
    }
    match (kind, id) {
        ("proxmox", Some(Id::Token(id))) => {
            let secret = asked("secret of the API token", args).await?;
            Ok(json!({"tokenId": id, "tokenSecret": *secret}))
        }
        ("proxmox", _) => {
            Err(Failure::usage("a Proxmox token has an id beside its secret").next("give --token-id ID"))
        }
        (_, Some(Id::Token(_))) => {
            Err(Failure::usage(format!("tokens of {kind} have no id")).next("leave --token-id out"))
        }
        (kind, Some(Id::Client(id))) if is_back_end(kind) => {
            let secret = asked("secret of the client", args).await?;
            Ok(json!({"clientId": id, "clientSecret": *secret}))
        }
        (_, Some(Id::Client(_))) => {
            Err(Failure::usage(format!("credentials of {kind} are no client's"))
                .next("leave --client-id out"))
        }
        (_, None) => {
            let token = asked("token", args).await?;
            Ok(json!({"token": *token}))
        }
    }
}

/// Puts what was typed about what may be done and where tokens come from into the settings; what was not stays.
pub(super) fn allowed(config: &mut Map<String, Value>, access: &AccessArgs) {
    if access.token_url.is_some() {
        config.remove("issuer");
    }
    if access.issuer.is_some() {
        config.remove("tokenUrl");
    }
    let word = access.access.as_ref().map(|word| word.replace('-', "_"));
    for (key, text) in [
        ("access", &word),
        ("tokenUrl", &access.token_url),
        ("issuer", &access.issuer),
        ("scope", &access.scope),
    ] {
        if let Some(text) = text {
            config.insert(key.into(), json!(text));
        }
    }
}

fn is_back_end(kind: &str) -> bool {
    matches!(kind, "agent-memory" | "agent-operator" | "agent-chat")
}

async fn asked(what: &str, args: &CredentialArgs) -> Result<Zeroizing<String>, Failure> {
    secret::ask(what, args.credential_stdin).await
}

fn certificates(file: &Path) -> Result<String, Failure> {
    let wrong = |what: String| Failure::usage(format!("--ca-certificate: {} {what}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if size.len() > LARGEST_FILE {
        return Err(wrong(
            "is over 64 KiB; give the authorities of this target only".into(),
        ));
    }
    std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))
}

fn first_tool(kind: &str) -> &'static str {
    match kind {
        "proxmox" => "proxmox.list_vms",
        "github" => "github.list_repos",
        "agent-memory" => "list_edges",
        "agent-operator" => "project_list",
        "agent-chat" => "chat_list_rooms",
        _ => "gitea.list_repos",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_about_reach_goes_over_what_is_set() {
        let mut config = Map::from_iter([
            ("host".into(), json!("pve")),
            ("allowHttp".into(), json!(true)),
            ("caCertificate".into(), json!("-----BEGIN CERTIFICATE-----")),
        ]);
        let reach = ReachArgs {
            fingerprint: vec!["bb".into()],
            allow_private: vec!["10.0.0.0/8".into()],
            allow_loopback: Some(false),
            ..ReachArgs::default()
        };
        reached(&mut config, &reach).unwrap();
        assert_eq!(
            Value::Object(config),
            json!({
                "host": "pve", "allowHttp": true, "fingerprints": ["bb"], "allowPrivate": ["10.0.0.0/8"],
                "allowLoopback": false,
            })
        );
    }

    #[test]
    fn where_tokens_come_from_is_said_once() {
        let mut config = Map::from_iter([("issuer".into(), json!("https://id.example"))]);
        let access = AccessArgs {
            access: Some("read-write".into()),
            token_url: Some("https://id.example/token".into()),
            ..AccessArgs::default()
        };
        allowed(&mut config, &access);
        assert_eq!(
            Value::Object(config),
            json!({"access": "read_write", "tokenUrl": "https://id.example/token"})
        );
    }

    #[test]
    fn certificates_are_read_from_their_file_or_named_as_unreadable() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.pem");
        std::fs::write(&file, "-----BEGIN CERTIFICATE-----").unwrap();
        assert_eq!(certificates(&file).unwrap(), "-----BEGIN CERTIFICATE-----");
        let missing = certificates(&dir.path().join("none.pem")).unwrap_err();
        assert!(
            missing.message.starts_with("--ca-certificate: "),
            "{}",
            missing.message
        );
    }
}
