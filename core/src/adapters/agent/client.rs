//! The one client that may write. Nothing but this adapter can reach it: the module is private to it, and what reads
//! infrastructure has a client that can only GET.
//!
//! No redirect is followed, no proxy used, no cookie kept. Every address is held against the guard of targets at the
//! moment of dialling, those that stand in the URL as well. Connections stay warm for as long as the target is in use.

mod body;
mod egress;
mod fault;

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use reqwest::{Method, redirect};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};
use toolgate_contract::registry::HttpMethod;
use zeroize::Zeroizing;

use self::egress::Guarded;
pub(super) use self::fault::told;
use crate::upstream::reader::{Allow, Base, Destination, Fault, client_config};

/// A connection that rests is closed after this long: sooner than servers usually do, so that few requests meet one
/// that is just being closed.
const IDLE: Duration = Duration::from_secs(20);
/// One connection attempt has this long, so that a silent address leaves time to say so.
const CONNECT: Duration = Duration::from_secs(5);
const MOST_IDLE: usize = 64;

/// Sends requests below one base. Clones share its connections.
#[derive(Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    base: Base,
}

/// What is sent.
pub(super) struct Request<'a> {
    pub(super) method: HttpMethod,
    /// Path and query below the base, encoded.
    pub(super) target: &'a str,
    /// Who asks.
    pub(super) authorization: Option<HeaderValue>,
    pub(super) content: Content,
}

/// What stands in the body of a request.
pub(super) enum Content {
    /// There is none.
    Nothing,
    /// JSON text, as it is.
    Json(Bytes),
    /// A form, which may hold a credential.
    Form(Zeroizing<String>),
}

/// An answer. Of one that is no success only the beginning is read.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether there was more than was read.
    pub(super) more: bool,
}

impl Client {
    /// Of this destination.
    ///
    /// # Errors
    /// When certificates cannot be used, the destination is plain HTTP and may not be, or is an address that may not be
    /// dialled.
    pub(super) fn new(destination: &Destination) -> Result<Self, Fault> {
        let Destination { base, trust, allow } = destination;
        Self::over(base, allow, || client_config(trust))
    }

    /// The same where TLS believes something else.
    pub(super) fn over(
        base: &Base,
        allow: &Allow,
        tls: impl FnOnce() -> Result<ClientConfig, Fault>,
    ) -> Result<Self, Fault> {
        egress::check(base, allow)?;
        let tls = match base.is_plain_http() {
            true => nobody()?,
            false => tls()?,
        };
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Guarded::new(allow.clone()))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .http1_only()
            .tcp_nodelay(true)
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MOST_IDLE)
            .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| Fault::unreachable("no HTTP client can be made for the target"))?;
        Ok(Self {
            http,
            base: base.clone(),
        })
    }

    /// Where it sends to.
    pub(super) fn base(&self) -> &Base {
        &self.base
    }

    /// Sends one request and reads its answer, once: what was sent is never sent again here. Ends with the future.
    ///
    /// # Errors
    /// When there is no answer that may be taken.
    pub(super) async fn send(&self, request: Request<'_>) -> Result<Answer, Fault> {
        let url = format!("{}{}", self.base.as_str(), request.target);
        let url = reqwest::Url::parse(&url)
            .ok()
            .filter(|url| self.base.holds(url))
            .ok_or_else(|| Fault::invalid("the path that should be asked is none; nothing was asked"))?;
        let mut built = self.http.request(method(request.method), url);
        built = built.header(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/plain;q=0.9, */*;q=0.1"),
        );
        if let Some(authorization) = request.authorization {
            built = built.header(header::AUTHORIZATION, authorization);
        }
        built = match request.content {
            Content::Nothing => built,
            Content::Json(bytes) => built.header(header::CONTENT_TYPE, "application/json").body(bytes),
            Content::Form(form) => built
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form.as_bytes().to_vec()),
        };
        let response = built.send().await.map_err(|error| told(&self.base, &error))?;
        body::read(&self.base, response).await
    }
}

/// Without TLS nobody is believed; a small container may have no certificates at all.
fn nobody() -> Result<ClientConfig, Fault> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::tls(error.to_string()))?;
    Ok(builder
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth())
}

fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.base)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({}, {} bytes)", self.status, self.body.len())
    }
}

#[cfg(test)]
mod tests;
