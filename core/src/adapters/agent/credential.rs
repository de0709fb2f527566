//! The credential of a back end: a token, or a client's id and secret with which tokens are asked for.

use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::{error::Error, secrets::SecretValue};

const TOKEN: &str = "token";
const CLIENT_ID: [&str; 2] = ["clientId", "client_id"];
const CLIENT_SECRET: [&str; 2] = ["clientSecret", "client_secret"];

const LONGEST: usize = 16 * 1024;
/// Begins a credential that is a client's. No token holds a line feed.
const CLIENT: &str = "client\n";
/// Begins what stands for no credential at all. Behind it is chance, so that it is found in no text.
const NOBODY: &str = "nobody\n";

/// A credential as it is used.
pub(super) enum Credential {
    /// Sent as it is.
    Token(Zeroizing<String>),
    /// Sent to whoever hands out tokens.
    Client { id: String, secret: Zeroizing<String> },
    /// Nothing is sent.
    Nobody,
}

/// What is lent for a back end that wants no credential, where a process says so that stands alone.
pub(in crate::adapters) fn nobody() -> Option<SecretValue> {
    let mut chance = [0; 16];
    SystemRandom::new().fill(&mut chance).ok()?;
    SecretValue::new(format!("{NOBODY}{}", HEXLOWER.encode(&chance)).as_bytes())
}

/// The credential as it is kept, out of what was given.
pub(in crate::adapters) fn credential(given: &Map<String, Value>) -> Result<SecretValue, Error> {
    let known = [TOKEN].into_iter().chain(CLIENT_ID).chain(CLIENT_SECRET);
    if let Some(key) = given
        .keys()
        .find(|key| !known.clone().any(|known| known == key.as_str()))
    {
        let short: String = key.chars().take(64).collect();
        let place = format!("credential.{}", short.escape_debug());
        return Err(Error::invalid(
            place,
            "is no part of such a credential; there is token, or clientId and clientSecret",
        ));
    }
    let of = |names: &[&str]| names.iter().find_map(|name| given.get(*name));
    let kept = match (of(&[TOKEN]), of(&CLIENT_ID), of(&CLIENT_SECRET)) {
        (Some(token), None, None) => text(TOKEN, token)?,
        (None, Some(id), Some(secret)) => {
            let (id, secret) = (text("clientId", id)?, text("clientSecret", secret)?);
            Zeroizing::new(format!("{CLIENT}{}\n{}", *id, *secret))
        }
        (None, Some(_), None) => return Err(needed("clientSecret", "is needed beside clientId")),
        (None, None, Some(_)) => return Err(needed("clientId", "is needed beside clientSecret")),
        (None, None, None) => {
            return Err(needed(
                TOKEN,
                "is needed: a bearer token, or clientId and clientSecret in its place",
            ));
        }
        (Some(_), ..) => {
            return Err(needed(
                TOKEN,
                "stands beside clientId or clientSecret; give one kind of credential",
            ));
        }
    };
    SecretValue::new(kept.as_bytes()).ok_or_else(|| needed(TOKEN, "is no credential"))
}

impl Credential {
    /// What was kept, or what another keeps as its plain text; `None` where it cannot be used.
    pub(super) fn kept(value: &SecretValue) -> Option<Self> {
        let text = std::str::from_utf8(value.reveal().trim_ascii()).ok()?;
        if text.starts_with(NOBODY) {
            return Some(Self::Nobody);
        }
        let Some(client) = text.strip_prefix(CLIENT) else {
            return is_plain(text).then(|| Self::Token(Zeroizing::new(text.to_owned())));
        };
        let (id, secret) = client.split_once('\n')?;
        (is_plain(id) && is_plain(secret)).then(|| Self::Client {
            id: id.to_owned(),
            secret: Zeroizing::new(secret.to_owned()),
        })
    }
}

fn text(key: &str, value: &Value) -> Result<Zeroizing<String>, Error> {
    let text = value.as_str().map(str::trim).unwrap_or_default();
    if is_plain(text) {
        return Ok(Zeroizing::new(text.to_owned()));
    }
    Err(needed(
        key,
        "must be printable characters without spaces; copy it alone, without `Bearer ` or quotes",
    ))
}

fn is_plain(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn needed(key: &str, what: &str) -> Error {
    Error::invalid(format!("credential.{key}"), what)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(given: Value) -> Result<SecretValue, String> {
        credential(given.as_object().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_or_a_client_is_kept_and_read_again() {
        let token = kept(json!({"token": " abc.def "})).unwrap();
        assert!(matches!(Credential::kept(&token), Some(Credential::Token(text)) if *text == "abc.def"));
        for given in [
            json!({"clientId": "pod", "clientSecret": "s:e=c"}),
            json!({"client_id": "pod", "client_secret": "s:e=c"}),
        ] {
            let client = kept(given).unwrap();
            let Some(Credential::Client { id, secret }) = Credential::kept(&client) else {
                panic!("no client");
            };
            assert_eq!((id.as_str(), secret.as_str()), ("pod", "s:e=c"));
        }
    }

    #[test]
    fn what_is_no_credential_is_told_its_place_and_not_said_again() {
        for (given, place) in [
            (json!({}), "credential.token"),
            (json!({"token": ""}), "credential.token"),
            (json!({"token": "two words"}), "credential.token"),
            (json!({"token": "a\nb"}), "credential.token"),
            (json!({"token": 5}), "credential.token"),
            (json!({"token": "a", "clientId": "b"}), "credential.token"),
            (json!({"clientId": "b"}), "credential.clientSecret"),
            (json!({"clientSecret": "b"}), "credential.clientId"),
            (json!({"password": "b"}), "credential.password"),
        ] {
            let error = kept(given.clone()).expect_err("refused");
            assert!(error.starts_with(place), "{given}: {error}");
            assert!(!error.contains("two words"), "{error}");
        }
    }
}
