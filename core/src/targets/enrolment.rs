//! One-time enrolment tokens: minted here, stored as the hash of their secret, shown once with the command to run.

use std::{sync::Arc, time::Duration};

use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{self, Octets},
    ids::{TargetId, TenantId},
};

use crate::{
    error::Error,
    identity::Secret,
    registry::PROJECT,
    rfc3339,
    store::{StoreError, Tx, params},
    uplinks::secret_hash,
};

const FORGET: &str = "delete from enrolment where tenant_id = $1 and target_id = $2";
const INSERT: &str = "insert into enrolment (tenant_id, target_id, hash, expires_us) values ($1, $2, $3, $4)";

/// How long a token works.
const LIFE: Duration = Duration::from_secs(15 * 60);

/// An enrolment as it is shown once.
#[derive(Debug, Clone)]
pub struct Enrolment {
    /// The token; it also carries the gateway's identity, which the relay pins. Empty where the relay inside the
    /// gateway has taken it.
    pub token: Secret,
    /// The command to run on the host; empty where none is needed.
    pub command: Secret,
    /// When the token ends, microseconds UTC.
    pub expires_us: i64,
}

impl Enrolment {
    /// The same, once the relay inside the gateway has taken the token.
    pub(super) fn taken(self) -> Self {
        Self {
            token: Secret::new(String::new()),
            command: Secret::new(String::new()),
            ..self
        }
    }
}

/// What relays are told of the gateway in the command that is shown.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub(super) public_url: Arc<str>,
    pub(super) ca_cert: Option<Arc<str>>,
}

/// A minted enrolment.
#[derive(Debug, Clone)]
pub(super) struct NewEnrolment {
    target: TargetId,
    token: EnrolmentToken,
    expires_us: i64,
}

impl NewEnrolment {
    pub(super) fn mint(
        tenant: &TenantId,
        target: TargetId,
        gateway_key: [u8; 32],
        now_us: i64,
    ) -> Result<Self, Error> {
        let mut secret = [0; 32];
        SystemRandom::new()
            .fill(&mut secret)
            .map_err(|_| Error::internal("the system gives no random bytes"))?;
        let token = EnrolmentToken {
            tenant: tenant.clone(),
            secret: frame::Secret::new(secret),
            gateway_key: Octets(gateway_key),
        };
        let life = i64::try_from(LIFE.as_micros()).unwrap_or(i64::MAX);
        Ok(Self {
            target,
            token,
            expires_us: now_us.saturating_add(life),
        })
    }

    /// Stores it in place of every former one of its target.
    pub(super) async fn replace(&self, tx: &mut Tx) -> Result<(), StoreError> {
        let tenant = &self.token.tenant;
        tx.execute(FORGET, params![tenant, self.target]).await?;
        let hash = secret_hash(&self.token.secret);
        tx.execute(INSERT, params![tenant, self.target, &hash, self.expires_us])
            .await
            .map(drop)
    }

    pub(super) fn detail(&self) -> Value {
        json!({"enrolmentExpiresAt": rfc3339::format(self.expires_us)})
    }

    /// One line to paste. The token stands in the environment, where other users of the host do not see it. A project's
    /// line ends where the command of its server goes.
    pub(super) fn shown(&self, reach: &Reach, adapter: &str, name: &str) -> Enrolment {
        let token = self.token.reveal();
        let (url, name) = (quoted(&reach.public_url), quoted(name));
        let trust = reach.ca_cert.as_deref().map(quoted);
        let trust = trust.map_or_else(String::new, |path| format!(" --ca-cert {path}"));
        let (relay, server) = match adapter {
            PROJECT => ("project", " -- YOUR-SERVER"),
            _ => ("host", ""),
        };
        let command = format!(
            "TOOLGATE_ENROLMENT_TOKEN={token} toolgate relay {relay} --gateway {url} --name {name}{trust}{server}"
        );
        Enrolment {
            token: Secret::new(token),
            command: Secret::new(command),
            expires_us: self.expires_us,
        }
    }
}

// The command is pasted into a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':' | '/' | '@');
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_command_is_one_word_of_the_shell() {
        for (name, word) in [
            ("web-1", "web-1"),
            ("web 1", "'web 1'"),
            ("$(reboot)", "'$(reboot)'"),
            ("it's", r"'it'\''s'"),
            ("-x", "'-x'"),
            ("größe", "'größe'"),
        ] {
            assert_eq!(quoted(name), word);
        }
    }

    #[test]
    fn what_is_shown_carries_the_gateways_key_and_is_not_in_any_debug_text() {
        let minted = NewEnrolment::mint(&TenantId::mint(), TargetId::mint(), [7; 32], 1_000_000).unwrap();
        let mut reach = Reach {
            public_url: "https://gate.example".into(),
            ca_cert: None,
        };
        let shown = minted.shown(&reach, "ssh", "web 1");
        let read = EnrolmentToken::parse(shown.token.reveal()).unwrap();
        assert_eq!(
            (read.gateway_key, secret_hash(&read.secret)),
            (Octets([7; 32]), secret_hash(&minted.token.secret))
        );
        let command = format!(
            "TOOLGATE_ENROLMENT_TOKEN={} toolgate relay host --gateway https://gate.example --name 'web 1'",
            shown.token.reveal()
        );
        assert_eq!(shown.command.reveal(), command);
        reach.ca_cert = Some("/etc/my cert.pem".into());
        let with_own_tls = minted.shown(&reach, "ssh", "web 1");
        assert_eq!(
            with_own_tls.command.reveal(),
            format!("{command} --ca-cert '/etc/my cert.pem'")
        );
        let of_project = minted.shown(&reach, PROJECT, "alpha");
        let line = " toolgate relay project --gateway https://gate.example --name alpha --ca-cert '/etc/my cert.pem' \
                    -- YOUR-SERVER";
        assert!(of_project.command.reveal().ends_with(line));
        assert_eq!(shown.expires_us, 1_000_000 + 15 * 60 * 1_000_000);
        let told = format!("{minted:?} {shown:?} {}", minted.detail());
        let secret = shown.token.reveal().rsplit('_').next().unwrap();
        assert!(!told.contains(&secret[..12]), "{told}");
    }
}
