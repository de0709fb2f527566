//! The two messages of the code flow (RFC 6749 §4.1, RFC 7636), as the crate `oauth2` writes and reads them.

use std::{borrow::Cow, fmt};

use oauth2::{
    AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet,
    ExtraTokenFields, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    StandardRevocableToken, StandardTokenResponse, TokenResponse,
    basic::{
        BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
    },
};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::{provider::Provider, sealed::Pending, settings::Settings, told::Rule, wire::Wire};
use crate::{error::Error, identity::Secret};

/// What the answer of a provider of OpenID Connect has beside one of OAuth.
#[derive(Serialize, Deserialize)]
struct IdToken {
    id_token: Option<String>,
}

impl ExtraTokenFields for IdToken {}

impl fmt::Debug for IdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdToken(***)")
    }
}

type OpenIdClient = Client<
    BasicErrorResponse,
    StandardTokenResponse<IdToken, BasicTokenType>,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// Where the browser goes.
pub(super) fn authorization(
    provider: &Provider,
    settings: &Settings,
    pending: &Pending,
    redirect: Url,
) -> String {
    let verifier = PkceCodeVerifier::new(pending.verifier.reveal().to_owned());
    let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
    let state = || CsrfToken::new(pending.state.reveal().to_owned());
    let (url, _) = client(provider, settings, None)
        .authorize_url(state)
        .add_scopes(settings.scopes.iter().cloned().map(Scope::new))
        .add_extra_param("nonce", pending.nonce.reveal())
        .set_pkce_challenge(challenge)
        .set_redirect_uri(Cow::Owned(RedirectUrl::from_url(redirect)))
        .url();
    url.into()
}

/// The access token and the ID token that a code is traded for.
pub(super) async fn tokens(
    (provider, settings, secret): (&Provider, &Settings, Option<ClientSecret>),
    wire: &Wire,
    code: AuthorizationCode,
    verifier: PkceCodeVerifier,
    redirect: &RedirectUrl,
) -> Result<(Secret, Secret), Error> {
    let answer = client(provider, settings, secret)
        .exchange_code(code)
        .set_pkce_verifier(verifier)
        .set_redirect_uri(Cow::Borrowed(redirect))
        .request_async(wire)
        .await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(RequestTokenError::Request(away)) => return Err(away.into()),
        Err(RequestTokenError::ServerResponse(told)) => {
            // A word of the standard; what is told beside it may hold anything.
            tracing::debug!(error = %told.error(), "the provider did not take a code");
            return Err(Rule::NotTaken.into());
        }
        Err(RequestTokenError::Parse(..) | RequestTokenError::Other(_)) => {
            return Err(Rule::Unreadable.into());
        }
    };
    let access = Secret::new(answer.access_token().secret().clone());
    let id_token = answer.extra_fields().id_token.clone().ok_or(Rule::Unreadable)?;
    Ok((access, Secret::new(id_token)))
}

fn client(provider: &Provider, settings: &Settings, secret: Option<ClientSecret>) -> OpenIdClient {
    let client = Client::new(ClientId::new(settings.client_id.clone()))
        .set_auth_uri(provider.authorization.clone())
        .set_token_uri(provider.token.clone())
        .set_auth_type(provider.auth_type.clone());
    match secret {
        Some(secret) => client.set_client_secret(secret),
        None => client,
    }
}
