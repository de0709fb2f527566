//! `keys`: what an auditor pins, and new keys. Works on the data directory itself, beside a running gateway or without.

use serde_json::{Value, json};
use toolgate_core::{
    CoreConfig,
    anchor::{self, PublicKeys, SigningKeys},
    clock::Clock,
    keys::rotate_root,
    offline, rfc3339,
};

use super::{Context, list, text};
use crate::{
    args::{KeysCommand, RotatedKey},
    config::Reader,
    failure::{Exit, Failure},
    output::{Output, Table},
};

/// Runs the command.
pub(super) async fn run(context: &Context, command: &KeysCommand) -> Result<Exit, Failure> {
    let reader = match command {
        KeysCommand::Retire { .. } => Reader::Record,
        KeysCommand::Show | KeysCommand::Rotate { .. } => Reader::Client,
    };
    let config = context.config(reader)?;
    let dir = config.data_dir.clone();
    match command {
        KeysCommand::Show => {
            let keys = anchor::public_keys(&anchor::folder(&dir)).map_err(|error| {
                Failure::failed(format!("the checkpoint keys cannot be shown: {error}"))
                    .next("name the data directory of a gateway that was started once with --data-dir")
            })?;
            show(context.output, &keys)
        }
        KeysCommand::Rotate {
            key: RotatedKey::Checkpoint,
        } => {
            let keys = SigningKeys::rotate(&dir, &Clock::system())
                .map_err(|error| Failure::failed(error.to_string()))?;
            rotated(context.output, keys.newest().id())
        }
        KeysCommand::Rotate {
            key: RotatedKey::Root,
        } => {
            let id = rotate_root(&dir).map_err(|error| {
                Failure::failed(error.to_string())
                    .next("name the data directory of a gateway that was started once with --data-dir")
            })?;
            told_root(
                context.output,
                &id,
                &format!(
                    "root {id} seals and wraps once the gateway has seen it; the older ones stay, back them up too"
                ),
            )
        }
        KeysCommand::Retire { root } => {
            let mut settings = CoreConfig::new(&dir);
            settings.database_url = config.database_url;
            offline::retire_root(&dir, settings.store(), root)
                .await
                .map_err(|error| Failure::failed(error.to_string()))?;
            told_root(context.output, root, &format!("root {root} is gone"))
        }
    }
}

fn told_root(output: Output, id: &str, line: &str) -> Result<Exit, Failure> {
    match output.json {
        true => output.value(&json!({"keyId": id}))?,
        false => output.line(line)?,
    }
    Ok(Exit::Done)
}

fn show(output: Output, keys: &PublicKeys) -> Result<Exit, Failure> {
    let told = told(keys);
    if output.json {
        output.value(&told)?;
        return Ok(Exit::Done);
    }
    output.line(&format!("record      {}", text(&told, "origin")))?;
    output.line(&format!("trust root  {}", text(&told, "trustRoot")))?;
    let mut table = Table::new(["CHECKPOINT KEY", "MADE", "PUBLIC KEY"]);
    for key in list(&told, "keys") {
        table.row(["keyId", "madeAt", "publicKey"].map(|name| text(key, name).to_owned()));
    }
    output.table(&table)?;
    Ok(Exit::Done)
}

fn told(keys: &PublicKeys) -> Value {
    let each = keys.keys().iter().map(|key| {
        json!({
            "keyId": key.id,
            "madeAt": rfc3339::format(key.made_us()),
            "publicKey": key.hex(),
        })
    });
    json!({
        "origin": keys.origin(),
        "trustRoot": keys.trust_root().to_string(),
        "keys": each.collect::<Vec<_>>(),
    })
}

fn rotated(output: Output, id: &str) -> Result<Exit, Failure> {
    if output.json {
        output.value(&json!({"keyId": id}))?;
    } else {
        output.line(&format!(
            "checkpoint key {id} signs from the gateway's next round on; what auditors pinned stays as it is"
        ))?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_told_with_the_root_that_is_pinned() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(1_767_225_600_000_000);
        let first = SigningKeys::open(dir.path(), &clock, false).unwrap();
        let second = SigningKeys::rotate(dir.path(), &clock).unwrap();

        let told = told(second.public());

        assert_eq!(text(&told, "trustRoot"), first.public().trust_root().to_string());
        let ids: Vec<_> = list(&told, "keys").iter().map(|key| text(key, "keyId")).collect();
        assert_eq!(ids, [first.newest().id(), second.newest().id()]);
        assert_eq!(
            text(&list(&told, "keys")[0], "madeAt"),
            "2026-01-01T00:00:00.000000Z"
        );
    }
}
