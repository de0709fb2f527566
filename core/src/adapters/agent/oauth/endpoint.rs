//! Whoever hands out tokens: where that is, how a client proves itself there, and what the answer means.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use data_encoding::BASE64;
use http::{HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;
use toolgate_contract::registry::HttpMethod;
use zeroize::Zeroizing;

use super::Token;
use crate::{
    adapters::agent::{
        client::{Answer, Client, Content, Request},
        credential::Credential,
        settings::{Settings, Tokens},
    },
    upstream::{
        UpstreamError,
        reader::{Allow, Base, Fault, Trust, issuer_config},
    },
};

/// What means itself in a form.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// The longest answer that is read as JSON.
const LONGEST: usize = 64 * 1024;

/// Whoever hands out tokens for one target.
pub(super) struct Endpoint {
    source: Source,
    trust: Trust,
    allow: Allow,
    id: String,
    secret: Zeroizing<String>,
    scope: Option<String>,
    /// Where it was found, for as long as tokens come from there.
    found: Mutex<Option<Arc<Found>>>,
}

enum Source {
    At(Base),
    Of(Base),
}

struct Found {
    client: Client,
    /// In the form, where the header is not taken.
    in_form: bool,
}

/// The answer to a request for a token.
#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: Option<String>,
    expires_in: Option<Value>,
}

/// What an issuer says of itself.
#[derive(Deserialize)]
struct Described {
    issuer: Option<String>,
    token_endpoint: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

impl Endpoint {
    pub(super) fn new(
        settings: &Settings,
        credential: Credential,
        trust: &Trust,
        allow: &Allow,
    ) -> Result<Self, Fault> {
        let Credential::Client { id, secret } = credential else {
            return Err(mistaken("a token is no client; give clientId and clientSecret"));
        };
        let source = match &settings.tokens {
            Some(Tokens::At(base)) => Source::At(base.clone()),
            Some(Tokens::Of(base)) => Source::Of(base.clone()),
            None => {
                return Err(mistaken(
                    "the credential is a client's, and nothing says where its tokens come from; set tokenUrl or issuer",
                ));
            }
        };
        Ok(Self {
            source,
            trust: trust.clone(),
            allow: allow.clone(),
            id,
            secret,
            scope: settings.scope.clone(),
            found: Mutex::default(),
        })
    }

    /// Where it is, for texts.
    pub(super) fn place(&self) -> &str {
        match &self.source {
            Source::At(base) | Source::Of(base) => base.as_str(),
        }
    }

    /// Asks for a token once.
    pub(super) async fn ask(&self) -> Result<Token, Fault> {
        let found = self.found().await?;
        let now = Instant::now();
        let answer = found.client.send(self.request(&found)).await;
        let granted = answer
            .map_err(unavailable)
            .and_then(|answer| self.granted(&answer, now));
        if granted.is_err() {
            // It may be elsewhere by now.
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        granted
    }

    fn request(&self, found: &Found) -> Request<'static> {
        let encoded = |text: &str| Zeroizing::new(utf8_percent_encode(text, PLAIN).to_string());
        let (id, secret) = (encoded(&self.id), encoded(&self.secret));
        let mut form = Zeroizing::new(String::with_capacity(64 + id.len() + secret.len()));
        form.push_str("grant_type=client_credentials");
        if let Some(scope) = &self.scope {
            form.push_str("&scope=");
            form.push_str(&encoded(scope));
        }
        if found.in_form {
            form.push_str(&format!("&client_id={}&client_secret=", *id));
            form.push_str(&secret);
        }
        Request {
            method: HttpMethod::Post,
            target: "",
            authorization: if found.in_form { None } else { basic(&id, &secret) },
            content: Content::Form(form),
        }
    }

    fn granted(&self, answer: &Answer, now: Instant) -> Result<Token, Fault> {
        if !answer.status.is_success() {
            return Err(self.refused(answer.status));
        }
        let unfit = || {
            let detail = format!("what {} answered is no bearer token", self.place());
            Fault::new(UpstreamError::TokenUnavailable, detail)
        };
        let granted: Granted = parsed(answer).ok_or_else(unfit)?;
        let token = Zeroizing::new(granted.access_token);
        let is_bearer = granted
            .token_type
            .as_deref()
            .is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
        let lasts = granted.expires_in.as_ref().and_then(seconds);
        match Token::new(&token, lasts, now) {
            Some(token) if is_bearer => Ok(token),
            _ => Err(unfit()),
        }
    }

    // What the endpoint says of it may repeat what it was sent, so only its status is told.
    fn refused(&self, status: StatusCode) -> Fault {
        let place = self.place();
        match status.as_u16() {
            400 | 401 | 403 => Fault::new(
                UpstreamError::CredentialRejected,
                format!("{place} answered {status} to the client; look at clientId, clientSecret and scope"),
            ),
            _ => Fault::new(
                UpstreamError::TokenUnavailable,
                format!("{place} answered {status} where it should hand out a token"),
            ),
        }
    }

    async fn found(&self) -> Result<Arc<Found>, Fault> {
        if let Some(found) = &*self.found.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(found));
        }
        let found = match &self.source {
            Source::At(base) => Found {
                client: self.client(base)?,
                in_form: false,
            },
            Source::Of(issuer) => self.described(issuer).await?,
        };
        let found = Arc::new(found);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
        Ok(found)
    }

    /// Where an issuer says that tokens are: as OpenID Connect has it, else as RFC 8414 does.
    async fn described(&self, issuer: &Base) -> Result<Found, Fault> {
        let nowhere = |what: &str| {
            let detail = format!("{issuer} does not say where it hands out tokens: {what}; set tokenUrl");
            Fault::new(UpstreamError::TokenUnavailable, detail)
        };
        let path = issuer.as_str().strip_prefix(&origin(issuer)).unwrap_or_default();
        let places = [
            format!("{path}/.well-known/openid-configuration"),
            format!("/.well-known/oauth-authorization-server{path}"),
        ];
        let root = Base::parse(&origin(issuer)).map_err(|what| nowhere(&what))?;
        let client = self.client(&root)?;
        let mut described: Option<Described> = None;
        for target in &places {
            let request = Request {
                method: HttpMethod::Get,
                target,
                authorization: None,
                content: Content::Nothing,
            };
            let answer = client.send(request).await.map_err(unavailable)?;
            described = (answer.status == StatusCode::OK)
                .then(|| parsed(&answer))
                .flatten();
            if described.is_some() {
                break;
            }
        }
        let described = described.ok_or_else(|| nowhere("it has no description of itself"))?;
        // Who describes another issuer may not send the secret elsewhere.
        let is_itself = |named: &str| named.trim_end_matches('/') == issuer.as_str();
        if !described.issuer.as_deref().is_some_and(is_itself) {
            return Err(nowhere("it describes another issuer, or none"));
        }
        let base = Base::parse(&described.token_endpoint).map_err(|what| nowhere(&what))?;
        let methods = described
            .token_endpoint_auth_methods_supported
            .unwrap_or_default();
        let takes = |method: &str| methods.iter().any(|known| known == method);
        Ok(Found {
            client: self.client(&base)?,
            in_form: takes("client_secret_post") && !takes("client_secret_basic"),
        })
    }

    fn client(&self, base: &Base) -> Result<Client, Fault> {
        Client::over(base, &self.allow, || issuer_config(&self.trust)).map_err(unavailable)
    }
}

fn origin(base: &Base) -> String {
    let scheme = if base.is_plain_http() { "http" } else { "https" };
    format!("{scheme}://{}", base.authority())
}

fn basic(id: &str, secret: &str) -> Option<HeaderValue> {
    let pair = Zeroizing::new(format!("{id}:{secret}"));
    let text = Zeroizing::new(format!("Basic {}", BASE64.encode(pair.as_bytes())));
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn parsed<T: serde::de::DeserializeOwned>(answer: &Answer) -> Option<T> {
    let body = answer.body.get(..LONGEST.min(answer.body.len()))?;
    serde_json::from_slice(body).ok()
}

// A number of seconds; some write it as text.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    Some(Duration::from_secs(seconds))
}

fn mistaken(what: &str) -> Fault {
    Fault::new(UpstreamError::CredentialRejected, what)
}

// Not the target, but whoever hands out its tokens cannot be reached.
fn unavailable(fault: Fault) -> Fault {
    Fault::new(
        UpstreamError::TokenUnavailable,
        format!("no token could be asked for: {}", fault.detail),
    )
}
