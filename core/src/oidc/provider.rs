//! The provider at one time: its addresses, out of its discovery document, and its keys.
//!
//! Read as a whole or not at all. The document must be of the issuer that the settings name, to the byte, and every
//! address in it one that may be dialled.

use oauth2::{AuthType, AuthUrl, TokenUrl};
use reqwest::Url;
use serde::Deserialize;

use super::wire::{Away, Wire};
use crate::{
    canonical::CanonicalJson,
    identity::jwt::{Keys, KeysFault},
    route,
};

const DISCOVERY: &str = "/.well-known/openid-configuration";

/// What is known of it.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) issuer: String,
    pub(super) authorization: AuthUrl,
    pub(super) token: TokenUrl,
    pub(super) userinfo: Option<Url>,
    /// How a client with a secret shows it.
    pub(super) auth_type: AuthType,
    /// It says who it is in every answer by way of the browser (RFC 9207).
    pub(super) names_itself: bool,
    pub(super) keys: Keys,
}

/// Why it cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadFault {
    #[error("{0}")]
    Away(#[from] Away),
    #[error("its discovery document cannot be read")]
    Unreadable,
    #[error(
        "its discovery document is of another issuer than `oidc.issuer`, which must be the same to the byte"
    )]
    OtherIssuer,
    #[error("its {0} is missing, or no address that may be dialled")]
    Address(&'static str),
    #[error("it offers no {0}")]
    Without(&'static str),
    #[error(transparent)]
    Keys(#[from] KeysFault),
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    response_types_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl Provider {
    /// Reads document and keys.
    pub(super) async fn read(wire: &Wire, issuer: &str) -> Result<Self, ReadFault> {
        let place = format!("{}{DISCOVERY}", issuer.trim_end_matches('/'));
        let place = dialled("issuer", &place)?;
        let document = Document::parse(&wire.read(place).await?)?;
        if document.issuer != issuer {
            return Err(ReadFault::OtherIssuer);
        }
        document.check_offers()?;
        let keys = wire.read(dialled("jwks_uri", &document.jwks_uri)?).await?;
        document.provider(Keys::parse(&keys)?)
    }
}

impl Document {
    fn parse(json: &[u8]) -> Result<Self, ReadFault> {
        let json = CanonicalJson::parse(json).map_err(|_| ReadFault::Unreadable)?;
        serde_json::from_slice(json.as_bytes()).map_err(|_| ReadFault::Unreadable)
    }

    // A provider that does not say what it offers may offer it.
    fn check_offers(&self) -> Result<(), ReadFault> {
        let offers = |all: &Option<Vec<String>>, one: &str| {
            all.as_ref().is_none_or(|all| all.iter().any(|each| each == one))
        };
        if !offers(&self.response_types_supported, "code") {
            return Err(ReadFault::Without("authorization code"));
        }
        if !offers(&self.code_challenge_methods_supported, "S256") {
            return Err(ReadFault::Without("PKCE with S256"));
        }
        Ok(())
    }

    fn provider(self, keys: Keys) -> Result<Provider, ReadFault> {
        let authorization = dialled("authorization_endpoint", &self.authorization_endpoint)?;
        let token = dialled("token_endpoint", &self.token_endpoint)?;
        let userinfo = self.userinfo_endpoint.as_deref();
        let userinfo = userinfo
            .map(|text| dialled("userinfo_endpoint", text))
            .transpose()?;
        Ok(Provider {
            auth_type: self.auth_type(),
            issuer: self.issuer,
            authorization: AuthUrl::from_url(authorization),
            token: TokenUrl::from_url(token),
            userinfo,
            names_itself: self.authorization_response_iss_parameter_supported,
            keys,
        })
    }

    // `client_secret_basic` is what holds where nothing is said (OpenID Connect Discovery §3).
    fn auth_type(&self) -> AuthType {
        let methods = self.token_endpoint_auth_methods_supported.as_deref();
        let takes = |method: &str| methods.is_some_and(|all| all.iter().any(|each| each == method));
        match takes("client_secret_post") && !takes("client_secret_basic") {
            true => AuthType::RequestBody,
            false => AuthType::BasicAuth,
        }
    }
}

fn dialled(name: &'static str, text: &str) -> Result<Url, ReadFault> {
    let url = Url::parse(text).ok();
    url.filter(route::may_be_dialled).ok_or(ReadFault::Address(name))
}
