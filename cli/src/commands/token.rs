//! `token`: API tokens of the tenant.

mod offline;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::{CoreConfig, tokens::Wanted};

use super::{
    Context, list, text,
    when::{Direction, is_past, point},
};
use crate::{
    args::TokenCommand,
    client::Gateway,
    config::Reader,
    failure::{Exit, Failure},
    output::{Output, Table},
};

const PATH: &str = "/api/tokens";
const MOST_PAGES: usize = 100;

/// Runs the command.
pub(crate) async fn run(context: &Context, command: TokenCommand) -> Result<Exit, Failure> {
    let output = context.output;
    match command {
        TokenCommand::Create {
            name,
            role,
            profile,
            expires,
            offline,
        } => {
            let expires = expires
                .map(|when| point("--expires", &when, Direction::Ahead))
                .transpose()?;
            if offline {
                let wanted = Wanted {
                    name,
                    role: role.as_str().into(),
                    profile,
                    expires_at: expires,
                };
                let config = context.config(Reader::Record)?;
                let mut core = CoreConfig::new(&config.data_dir);
                core.database_url = config.database_url;
                let made = offline::create(&config.data_dir, core.store(), wanted).await?;
                return created(output, &made);
            }
            let gateway = context.gateway()?;
            let mut body = json!({"name": name, "role": role.as_str()});
            if let Some(profile) = profile {
                body["profile"] = json!(profile);
            }
            if let Some(expires) = expires {
                body["expiresAt"] = json!(expires);
            }
            created(output, &gateway.send(Method::POST, PATH, &body).await?)
        }
        TokenCommand::List => show(output, &all(&context.gateway()?).await?),
        TokenCommand::Revoke { token } => revoke(&context.gateway()?, output, &token).await,
    }
}

fn created(output: Output, token: &Value) -> Result<Exit, Failure> {
    if output.json {
        output.value(token)?;
    } else {
        eprintln!(
            "token {} ({}); it is shown this once:",
            text(token, "name"),
            text(token, "id")
        );
        output.line(text(token, "token"))?;
    }
    Ok(Exit::Done)
}

fn show(output: Output, tokens: &[Value]) -> Result<Exit, Failure> {
    if output.json {
        output.value(&json!({"tokens": tokens}))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["NAME", "ROLE", "PROFILE", "STATE", "ID", "MADE"]);
    for token in tokens {
        let state = state(token);
        let profile = text(token, "profile");
        let profile = if profile.is_empty() { "-" } else { profile };
        table.row([
            text(token, "name").into(),
            text(token, "role").into(),
            profile.into(),
            state,
            text(token, "id").into(),
            text(token, "createdAt").into(),
        ]);
    }
    output.table(&table)?;
    Ok(Exit::Done)
}

fn state(token: &Value) -> String {
    match (text(token, "revokedAt"), text(token, "expiresAt")) {
        ("", "") => "live".into(),
        ("", expires) if is_past(expires) => format!("expired {expires}"),
        ("", expires) => format!("until {expires}"),
        (revoked, _) => format!("revoked {revoked}"),
    }
}

async fn revoke(gateway: &Gateway, output: Output, wanted: &str) -> Result<Exit, Failure> {
    let tokens = all(gateway).await?;
    let live = |token: &&Value| text(token, "revokedAt").is_empty();
    // A name is unique among live tokens only.
    let found = tokens
        .iter()
        .find(|token| text(token, "id") == wanted)
        .or_else(|| {
            tokens
                .iter()
                .filter(live)
                .find(|token| text(token, "name") == wanted)
        })
        .ok_or_else(|| {
            Failure::new(Exit::Refused, format!("no live token is called {wanted}"))
                .next("`toolgate token list` lists the tokens")
        })?;
    let (id, name) = (text(found, "id"), text(found, "name"));
    gateway.delete(&format!("{PATH}/{id}")).await?;
    if output.json {
        output.value(&json!({"id": id, "name": name}))?;
    } else {
        output.line(&format!(
            "token {name} ({id}) is revoked; it is refused everywhere within five seconds"
        ))?;
    }
    Ok(Exit::Done)
}

async fn all(gateway: &Gateway) -> Result<Vec<Value>, Failure> {
    let mut tokens = Vec::new();
    let mut query = vec![("pageSize", "200".to_owned())];
    for _ in 0..MOST_PAGES {
        let page = gateway.get(PATH, &query).await?;
        tokens.extend_from_slice(list(&page, "tokens"));
        let next = text(&page, "nextPageToken");
        if next.is_empty() {
            break;
        }
        query.truncate(1);
        query.push(("pageToken", next.into()));
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::state;

    #[test]
    fn a_token_whose_end_has_passed_is_expired() {
        let check = |revoked: &str, expires: &str, expected: &str| {
            assert_eq!(
                state(&json!({"revokedAt": revoked, "expiresAt": expires})),
                expected
            );
        };
        check("", "", "live");
        check("", "2001-01-01T00:00:00Z", "expired 2001-01-01T00:00:00Z");
        check("", "2901-01-01T00:00:00Z", "until 2901-01-01T00:00:00Z");
        check(
            "2000-01-01T00:00:00Z",
            "2001-01-01T00:00:00Z",
            "revoked 2000-01-01T00:00:00Z",
        );
    }
}
