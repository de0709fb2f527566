//! The issuer of services' tokens: its keys, kept at hand and read anew, and whether a token is one of it.
//!
//! No request is the price of a call: a token is judged by the keys at hand. Keys are read by one task, now and then,
//! and once when a token names a key that is not known; while the issuer is down the former ones stay. May touch the
//! clock and identity; knows no tenant's data and no store.

mod source;
mod turns;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::TenantId;

use self::source::Source;
pub use self::source::is_source;
pub(crate) use self::{source::client, turns::Turns};
use crate::{
    clock::Clock,
    config::JwtConfig,
    identity::{
        Role,
        jwt::{Bearer, Keys, Refused, Rules, Token},
    },
    telemetry,
};

/// A call waits no longer for keys that are being read.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why the settings of an issuer cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("jwt.{key}: {what}")]
pub struct IssuerError {
    key: &'static str,
    what: &'static str,
}

/// The one issuer there is. Clones share it.
#[derive(Debug, Clone)]
pub struct Issuer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tenant: TenantId,
    rules: Rules,
    source: Source,
    keys: ArcSwap<Keys>,
    turns: Turns,
    clock: Clock,
}

impl Issuer {
    /// The issuer of these settings; its callers belong to `home` where the settings name no tenant. Reads nothing yet.
    ///
    /// # Errors
    /// When a setting is none that can be used.
    pub fn new(config: &JwtConfig, home: TenantId, clock: Clock) -> Result<Self, IssuerError> {
        let wrong = |key, what| IssuerError { key, what };
        let tenant = match config.tenant.as_str() {
            "" => home,
            named => named
                .parse()
                .map_err(|_| wrong("tenant", "is no id of a tenant"))?,
        };
        let default_role = match config.default_role.as_str() {
            "" => None,
            named => Some(Role::parse(named).ok_or(wrong("default_role", "is no role"))?),
        };
        if config.issuer.is_empty() || config.audience.is_empty() || config.role_claim.is_empty() {
            return Err(wrong(
                "issuer",
                "needs `jwt.audience` and `jwt.role_claim` beside it",
            ));
        }
        Ok(Self(Arc::new(Inner {
            tenant,
            rules: Rules {
                issuer: config.issuer.clone(),
                audience: config.audience.clone(),
                role_claim: config.role_claim.clone(),
                profile_claim: config.profile_claim.clone(),
                default_role,
            },
            source: Source::new(config)?,
            keys: ArcSwap::default(),
            turns: Turns::new(clock.clone()),
            clock,
        })))
    }

    /// The tenant that its tokens are for.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.0.tenant
    }

    /// Whom this token names. Waits only for a key that is not known, two seconds at most, and once a minute.
    ///
    /// # Errors
    /// The rule that it does not hold to.
    pub async fn judge(&self, text: &str) -> Result<Bearer, Refused> {
        let token = Token::parse(text)?;
        if !self.0.keys.load().has(token.key_id()) {
            let newer = self.0.turns.newer();
            // What was not read in time is not waited for; the token is judged by what is there.
            let _ = timeout(PATIENCE, newer).await;
        }
        let keys = self.0.keys.load();
        self.0.rules.judge(&token, &keys, self.0.clock.wall_us())
    }

    /// Reads the keys, now and whenever it is time, until `stop`.
    pub async fn keep(self, stop: CancellationToken) {
        self.0.turns.take(&stop, || self.read()).await;
    }

    async fn read(&self) -> bool {
        let read = self.0.source.read().await;
        telemetry::issuer_keys_read(read.is_ok());
        match read {
            Ok(keys) => {
                tracing::debug!(keys = keys.count(), "the keys of the issuer were read");
                self.0.keys.store(Arc::new(keys));
                true
            }
            Err(error) => {
                let held = self.0.keys.load().count();
                tracing::warn!(%error, held, "the keys of the issuer cannot be read; those that are held stay in use");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
