//! The settings of a provider, read.

use std::path::PathBuf;

use oauth2::ClientSecret;
use reqwest::Url;
use toolgate_contract::ids::TenantId;

use super::{
    origin,
    roles::{self, Roles},
    secret_file,
};
use crate::{
    config::OidcConfig,
    error::{Error, NotSignedIn},
    identity::Role,
    issuer::is_source,
};

/// Why the settings of a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("oidc.{key}: {what}")]
pub struct OidcError {
    pub(super) key: &'static str,
    pub(super) what: String,
}

impl OidcError {
    /// `oidc.tenant` names none that is there.
    pub(crate) fn unknown_tenant() -> Self {
        wrong(
            "tenant",
            "there is no tenant of this id; `GET /api/self` tells the one of a token",
        )
    }
}

/// What an operator said of the provider and of us as its client.
#[derive(Debug)]
pub(super) struct Settings {
    /// As text, to the byte.
    pub(super) issuer: String,
    pub(super) client_id: String,
    client_secret_file: Option<PathBuf>,
    pub(super) name: String,
    pub(super) scopes: Vec<String>,
    pub(super) roles: Roles,
    pub(super) tenant: TenantId,
    pub(super) profile: Option<String>,
    public_url: String,
    only_local: bool,
}

/// Whether this is a rule of `oidc.roles`: `VALUE=ROLE`.
#[must_use]
pub fn is_role_rule(text: &str) -> bool {
    roles::parse(text).is_some()
}

impl Settings {
    pub(super) fn new(
        config: &OidcConfig,
        public_url: &str,
        only_local: bool,
        home: TenantId,
    ) -> Result<Self, OidcError> {
        if !is_source(&config.issuer) {
            let what =
                "must begin with https://, or with http:// on this machine, and be no link-local address";
            return Err(wrong("issuer", what));
        }
        for (key, value) in [
            ("client_id", &config.client_id),
            ("role_claim", &config.role_claim),
        ] {
            if value.is_empty() {
                return Err(wrong(key, "must be given with `oidc.issuer`"));
            }
        }
        if let Some(path) = &config.client_secret_file {
            secret_file::read_now(path).map_err(|what| wrong("client_secret_file", what))?;
        }
        let tenant = match config.tenant.as_str() {
            "" => home,
            named => named
                .parse()
                .map_err(|_| wrong("tenant", "is no id of a tenant"))?,
        };
        let name = match config.name.as_str() {
            "" => host(&config.issuer),
            name => name.to_owned(),
        };
        Ok(Self {
            issuer: config.issuer.clone(),
            client_id: config.client_id.clone(),
            client_secret_file: config.client_secret_file.clone(),
            name,
            scopes: scopes(&config.scopes),
            roles: read_roles(config)?,
            tenant,
            profile: Some(config.profile.clone()).filter(|profile| !profile.is_empty()),
            public_url: public_url.to_owned(),
            only_local,
        })
    }

    /// Where people are sent back to who dialled this origin.
    pub(super) fn redirect(&self, dialled: Option<&str>) -> Option<Url> {
        origin::redirect(&self.public_url, self.only_local, dialled)
    }

    /// The secret as the file holds it now; `None` for a client without one.
    pub(super) async fn client_secret(&self) -> Result<Option<ClientSecret>, Error> {
        let Some(path) = &self.client_secret_file else {
            return Ok(None);
        };
        match secret_file::read(path).await {
            Ok(secret) => Ok(Some(ClientSecret::new(secret.reveal().to_owned()))),
            Err(what) => {
                tracing::warn!(%what, "the secret of our client at the provider cannot be used, so nobody can sign in with it");
                Err(NotSignedIn::ProviderAway.into())
            }
        }
    }
}

fn read_roles(config: &OidcConfig) -> Result<Roles, OidcError> {
    let rules = config
        .roles
        .iter()
        .map(|rule| roles::parse(rule).ok_or_else(|| wrong("roles", format!("`{rule}` is no VALUE=ROLE"))))
        .collect::<Result<Vec<_>, _>>()?;
    let default = match config.default_role.as_str() {
        "" => None,
        named => Some(Role::parse(named).ok_or_else(|| wrong("default_role", "is no role"))?),
    };
    Ok(Roles {
        claim: config.role_claim.clone(),
        rules: match rules.is_empty() {
            true => roles::own(),
            false => rules,
        },
        default,
    })
}

// Without `openid` it would be no OpenID Connect, and no ID token would come.
fn scopes(text: &str) -> Vec<String> {
    let others = text.split_whitespace().filter(|scope| *scope != "openid");
    std::iter::once("openid")
        .chain(others)
        .map(str::to_owned)
        .collect()
}

fn host(issuer: &str) -> String {
    let url = Url::parse(issuer).ok();
    let host = url.as_ref().and_then(Url::host_str);
    host.unwrap_or("OpenID Connect").to_owned()
}

pub(super) fn wrong(key: &'static str, what: impl Into<String>) -> OidcError {
    OidcError {
        key,
        what: what.into(),
    }
}
