//! Signing in of people with OpenID Connect: authorization code with PKCE, at the one provider of the settings.
//!
//! Nothing is remembered between the two steps: what the second needs is sealed for the browser that takes the first.
//! The provider's addresses and keys are read by one task, now and then, as those of an issuer are; while it is away
//! nobody new gets in this way, and nothing else changes. Messages of OAuth are those of the crate `oauth2`; signatures
//! and claims are judged by `identity::jwt`, which judges all others. What the provider says of a fault is not repeated.

mod exchange;
mod next;
mod origin;
mod person;
mod provider;
mod roles;
mod sealed;
mod secret_file;
mod settings;
mod told;
mod wire;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use oauth2::{AuthorizationCode, PkceCodeVerifier, RedirectUrl};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::TenantId;

pub use self::settings::{OidcError, is_role_rule};
use self::{
    next::Next, person::Expected, provider::Provider, roles::Verdict, sealed::Pending, settings::Settings,
    told::Rule, wire::Wire,
};
use crate::{
    clock::Clock,
    config::OidcConfig,
    error::{Error, NotSignedIn},
    identity::{
        OIDC_NAME_PREFIX, Secret,
        jwt::{Claims, Refused, Token, verified},
    },
    issuer::Turns,
    keys::Keyring,
    sessions::{Method, Person, Session, Sessions},
    telemetry,
};

/// Nobody waits longer for what is being read.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the provider sends people back to, below the gateway's address.
const CALLBACK: &str = "/sign-in/oidc/callback";

/// The one provider there is. Clones share it.
#[derive(Debug, Clone)]
pub struct Oidc(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: Settings,
    wire: Wire,
    provider: ArcSwapOption<Provider>,
    turns: Turns,
    keys: Arc<Keyring>,
    sessions: Sessions,
    clock: Clock,
}

/// The beginning of a sign-in.
#[derive(Debug)]
pub(crate) struct Begun {
    /// Where the browser goes.
    pub(crate) authorization_url: String,
    /// What it has to bring back.
    pub(crate) sealed: Secret,
}

/// What a browser brings back from the provider.
#[derive(Debug)]
pub(crate) struct Back {
    /// What was sealed for it.
    pub(crate) sealed: Secret,
    /// The parameter `state`.
    pub(crate) state: Secret,
    /// The parameter `code`.
    pub(crate) code: Secret,
    /// The parameter `error`.
    pub(crate) error: String,
    /// The parameter `iss`.
    pub(crate) iss: Option<String>,
}

/// Somebody who does not get in, and who it is where the provider said so.
#[derive(Debug)]
pub(crate) struct Turned {
    /// Why.
    pub(crate) error: Error,
    /// The principal that was refused.
    pub(crate) person: Option<(TenantId, String)>,
}

impl Oidc {
    /// The provider of these settings; people belong to `home` where the settings name no tenant. Reads nothing yet.
    ///
    /// # Errors
    /// When a setting is none that can be used.
    pub(crate) fn new(
        config: &OidcConfig,
        (public_url, only_local): (&str, bool),
        home: TenantId,
        keys: Arc<Keyring>,
        sessions: Sessions,
        clock: Clock,
    ) -> Result<Self, OidcError> {
        let settings = Settings::new(config, public_url, only_local, home)?;
        let wire = Wire::new(&settings.issuer)?;
        Ok(Self(Arc::new(Inner {
            settings,
            wire,
            provider: ArcSwapOption::empty(),
            turns: Turns::new(clock.clone()),
            keys,
            sessions,
            clock,
        })))
    }

    /// What people call the provider.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// The tenant that its people are of.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.0.settings.tenant
    }

    /// Reads addresses and keys, now and whenever it is time, until `stop`.
    pub(crate) async fn keep(self, stop: CancellationToken) {
        self.0.turns.take(&stop, || self.read()).await;
    }

    /// Where to send a browser that wants to end at `next`. `origin` is what it dialled, where a facade says so.
    pub(crate) async fn begin(&self, next: &str, origin: Option<&str>) -> Result<Begun, Error> {
        let provider = self.provider().await?;
        let settings = &self.0.settings;
        let redirect = settings.redirect(origin).ok_or_else(|| {
            Error::internal("no address to come back to can be made of `public_url` and the request's host")
        })?;
        let pending = Pending::new(Next::of(next), redirect.clone(), self.now_us())?;
        let authorization_url = exchange::authorization(&provider, settings, &pending, redirect);
        let key = self.0.keys.sign_in_key(&settings.tenant);
        Ok(Begun {
            authorization_url,
            sealed: pending.seal(&key)?,
        })
    }

    /// Makes a session of what a browser brings back, and says where it wanted to end.
    pub(crate) async fn finish(&self, back: Back, facade: &'static str) -> Result<(Session, String), Turned> {
        let ended = self.signed_in(back, facade).await;
        let word = match &ended {
            Ok(_) => "signed_in",
            Err(Turned {
                error: Error::NotSignedIn(why),
                ..
            }) => why.as_str(),
            Err(_) => "failed",
        };
        telemetry::signed_in_with_oidc(word);
        ended
    }

    async fn signed_in(&self, back: Back, facade: &'static str) -> Result<(Session, String), Turned> {
        let pending = self.pending(&back)?;
        let provider = self.provider().await?;
        told::check(&back, &provider)?;
        let claims = self.claims(&provider, back.code, &pending).await?;
        let subject = claims.subject().map_err(Rule::Token)?;
        let name = format!("{OIDC_NAME_PREFIX}{subject}");
        let settings = &self.0.settings;
        let role = match settings.roles.of(&claims) {
            Verdict::Silent => settings.roles.default,
            Verdict::Found(role) => Some(role),
            Verdict::Nothing => None,
        };
        let Some(role) = role else {
            return Err(Turned {
                error: NotSignedIn::NoRole.into(),
                person: Some((settings.tenant.clone(), name)),
            });
        };
        let person = Person {
            name,
            role,
            profile: settings.profile.clone(),
        };
        let session = self
            .0
            .sessions
            .begin(&settings.tenant, person, Method::Oidc, facade)
            .await?;
        Ok((session, pending.next.into()))
    }

    /// What this browser began, if it is what the provider answers to.
    fn pending(&self, back: &Back) -> Result<Pending, Error> {
        let key = |id: &str| self.0.keys.sign_in_key_by_id(id, &self.0.settings.tenant);
        Pending::open(&back.sealed, key)
            .filter(|pending| pending.is_open(self.now_us()) && pending.is_answered_by(&back.state))
            .ok_or_else(|| NotSignedIn::StateLost.into())
    }

    /// What the provider says of whom the code is about: its ID token, and where that says nothing of the role, what it
    /// answers beside.
    async fn claims(&self, provider: &Provider, code: Secret, pending: &Pending) -> Result<Claims, Error> {
        let Inner { settings, wire, .. } = &*self.0;
        let secret = settings.client_secret().await?;
        let tokens = exchange::tokens(
            (provider, settings, secret),
            wire,
            AuthorizationCode::new(code.reveal().to_owned()),
            PkceCodeVerifier::new(pending.verifier.reveal().to_owned()),
            &RedirectUrl::from_url(pending.redirect.clone()),
        )
        .await?;
        let (access, id_token) = tokens;
        let claims = self.verified(&id_token, pending, &access).await?;
        let Some(userinfo) = provider.userinfo.clone() else {
            return Ok(claims);
        };
        if !matches!(settings.roles.of(&claims), Verdict::Silent) {
            return Ok(claims);
        }
        let said = wire.userinfo(userinfo, &access).await?;
        // Whatever it says, it says of this one and nobody else (OpenID Connect Core §5.3.2).
        match said.subject().ok() == claims.subject().ok() {
            true => Ok(said),
            false => Err(Rule::OtherSubject.into()),
        }
    }

    async fn verified(&self, text: &Secret, pending: &Pending, access: &Secret) -> Result<Claims, Error> {
        let token = Token::parse(text.reveal()).map_err(Rule::Token)?;
        let mut provider = self.provider().await?;
        if !provider.keys.has(token.key_id()) {
            // What was not read in time is not waited for; the token is judged by what is there.
            let _ = timeout(PATIENCE, self.0.turns.newer()).await;
            provider = self.provider().await?;
        }
        let Settings {
            issuer, client_id, ..
        } = &self.0.settings;
        let now_us = self.now_us();
        let claims = verified(&token, &provider.keys, (issuer.as_str(), client_id), now_us)
            .inspect_err(|why: &Refused| tracing::debug!(why = why.as_str(), "an ID token was refused"))
            .map_err(Rule::Token)?;
        let expected = Expected {
            client_id,
            nonce: pending.nonce.reveal(),
            access_hash: token.half_hash(access.reveal()),
            now_us,
        };
        expected.hold_against(&claims)?;
        Ok(claims)
    }

    /// Addresses and keys; waits for them where none were ever read.
    async fn provider(&self) -> Result<Arc<Provider>, Error> {
        if let Some(provider) = self.0.provider.load_full() {
            return Ok(provider);
        }
        let _ = timeout(PATIENCE, self.0.turns.newer()).await;
        let provider = self.0.provider.load_full();
        provider.ok_or_else(|| NotSignedIn::ProviderAway.into())
    }

    async fn read(&self) -> bool {
        let read = Provider::read(&self.0.wire, &self.0.settings.issuer).await;
        telemetry::provider_read(read.is_ok());
        match read {
            Ok(provider) => {
                tracing::debug!(keys = provider.keys.count(), "the provider of sign-ins was read");
                self.0.provider.store(Some(Arc::new(provider)));
                true
            }
            Err(error) => {
                tracing::warn!(%error, "the provider of sign-ins cannot be read; people may not be able to sign in with it");
                false
            }
        }
    }

    fn now_us(&self) -> i64 {
        self.0.clock.wall_us()
    }
}

impl From<Error> for Turned {
    fn from(error: Error) -> Self {
        Self { error, person: None }
    }
}

#[cfg(test)]
mod tests;
