//! The account, out of the environment.

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use crate::{args::SmokeAdapter, config::Environment, failure::Failure};

const GITHUB_TOKEN: &str = "TOOLGATE_SMOKE_GITHUB_TOKEN";
const GITHUB_URL: &str = "TOOLGATE_SMOKE_GITHUB_URL";
const GITEA_URL: &str = "TOOLGATE_SMOKE_GITEA_URL";
const GITEA_TOKEN: &str = "TOOLGATE_SMOKE_GITEA_TOKEN";
const PROXMOX_HOST: &str = "TOOLGATE_SMOKE_PROXMOX_HOST";
const PROXMOX_PORT: &str = "TOOLGATE_SMOKE_PROXMOX_PORT";
const PROXMOX_TOKEN_ID: &str = "TOOLGATE_SMOKE_PROXMOX_TOKEN_ID";
const PROXMOX_TOKEN_SECRET: &str = "TOOLGATE_SMOKE_PROXMOX_TOKEN_SECRET";
const PROXMOX_FINGERPRINT: &str = "TOOLGATE_SMOKE_PROXMOX_FINGERPRINT";
const ALLOW_PRIVATE: &str = "TOOLGATE_SMOKE_ALLOW_PRIVATE";

/// Every variable that this command reads.
pub(crate) const VARIABLES: [&str; 10] = [
    GITHUB_TOKEN,
    GITHUB_URL,
    GITEA_URL,
    GITEA_TOKEN,
    PROXMOX_HOST,
    PROXMOX_PORT,
    PROXMOX_TOKEN_ID,
    PROXMOX_TOKEN_SECRET,
    PROXMOX_FINGERPRINT,
    ALLOW_PRIVATE,
];

/// What is added as a target.
pub(super) struct Account {
    /// The adapter.
    pub(super) adapter: SmokeAdapter,
    /// Its settings.
    pub(super) config: Value,
    credential: [Option<(&'static str, Zeroizing<String>)>; 2],
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Account({:?}, ***)", self.adapter)
    }
}

impl Account {
    /// The account of this adapter, or the names of what is not set.
    pub(super) fn of(
        adapter: SmokeAdapter,
        environment: &Environment,
    ) -> Result<Result<Self, Vec<&'static str>>, Failure> {
        let needed: &[&'static str] = match adapter {
            SmokeAdapter::Github => &[GITHUB_TOKEN],
            SmokeAdapter::Gitea => &[GITEA_URL, GITEA_TOKEN],
            SmokeAdapter::Proxmox => &[PROXMOX_HOST, PROXMOX_TOKEN_ID, PROXMOX_TOKEN_SECRET],
        };
        let missing: Vec<_> = needed
            .iter()
            .copied()
            .filter(|name| environment.get(name).is_none())
            .collect();
        if !missing.is_empty() {
            return Ok(Err(missing));
        }
        let mut config = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                config.insert(key.to_owned(), value);
            }
        };
        let text = |name| environment.get(name).map(|value| json!(value.trim()));
        let secret = |key, name| {
            environment
                .get(name)
                .map(|value| (key, Zeroizing::new(value.trim().to_owned())))
        };
        let credential = match adapter {
            SmokeAdapter::Github => {
                set("baseUrl", text(GITHUB_URL));
                [secret("token", GITHUB_TOKEN), None]
            }
            SmokeAdapter::Gitea => {
                set("baseUrl", text(GITEA_URL));
                [secret("token", GITEA_TOKEN), None]
            }
            SmokeAdapter::Proxmox => {
                set("host", text(PROXMOX_HOST));
                set("port", port(environment)?);
                let prints = |text: &str| json!(text.split(',').map(str::trim).collect::<Vec<_>>());
                set("fingerprints", environment.get(PROXMOX_FINGERPRINT).map(prints));
                [
                    secret("tokenId", PROXMOX_TOKEN_ID),
                    secret("tokenSecret", PROXMOX_TOKEN_SECRET),
                ]
            }
        };
        let networks = |text: &str| json!(text.split(',').map(str::trim).collect::<Vec<_>>());
        set("allowPrivate", environment.get(ALLOW_PRIVATE).map(networks));
        Ok(Ok(Self {
            adapter,
            config: Value::Object(config),
            credential,
        }))
    }

    /// The body that adds it.
    pub(super) fn submission(&self) -> Value {
        let parts = self.credential.iter().flatten();
        let credential: Map<String, Value> = parts
            .map(|(key, value)| ((*key).to_owned(), Value::String(value.to_string())))
            .collect();
        json!({"type": self.adapter.name(), "name": "smoke", "config": self.config, "credential": credential})
    }
}

fn port(environment: &Environment) -> Result<Option<Value>, Failure> {
    let Some(text) = environment.get(PROXMOX_PORT) else {
        return Ok(None);
    };
    match text.trim().parse::<u16>() {
        Ok(port) => Ok(Some(json!(port))),
        Err(_) => Err(Failure::usage(format!("{PROXMOX_PORT}: `{text}` is no port"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_account_the_missing_variables_are_named() {
        let check = |adapter, environment: Environment, expected: &[&str]| {
            let account = Account::of(adapter, &environment).unwrap();
            assert_eq!(account.unwrap_err(), expected);
        };
        check(SmokeAdapter::Github, Environment::of([]), &[GITHUB_TOKEN]);
        check(
            SmokeAdapter::Gitea,
            Environment::of([(GITEA_URL, "https://g.example")]),
            &[GITEA_TOKEN],
        );
        check(
            SmokeAdapter::Proxmox,
            Environment::of([(PROXMOX_HOST, ""), (PROXMOX_TOKEN_ID, "a@pve!t")]),
            &[PROXMOX_HOST, PROXMOX_TOKEN_SECRET],
        );
    }

    #[test]
    fn an_account_is_a_submission_and_shows_nothing() {
        let environment = Environment::of([
            (PROXMOX_HOST, "pve.example"),
            (PROXMOX_PORT, "443"),
            (PROXMOX_TOKEN_ID, "a@pve!t"),
            (PROXMOX_TOKEN_SECRET, "canary"),
            (PROXMOX_FINGERPRINT, "AB, CD"),
            (ALLOW_PRIVATE, "10.0.0.5/32"),
        ]);
        let account = Account::of(SmokeAdapter::Proxmox, &environment).unwrap().unwrap();
        assert_eq!(
            account.submission(),
            json!({"type": "proxmox", "name": "smoke",
                "config": {"host": "pve.example", "port": 443, "fingerprints": ["AB", "CD"], "allowPrivate": ["10.0.0.5/32"]},
                "credential": {"tokenId": "a@pve!t", "tokenSecret": "canary"}})
        );
        assert!(!format!("{account:?} {environment:?}").contains("canary"));
        let wrong = Environment::of([
            (PROXMOX_HOST, "h"),
            (PROXMOX_TOKEN_ID, "i"),
            (PROXMOX_TOKEN_SECRET, "s"),
            (PROXMOX_PORT, "x"),
        ]);
        assert!(Account::of(SmokeAdapter::Proxmox, &wrong).is_err());
    }
}
