//! The way to the provider: whom the operator named and nobody else, five seconds for a whole answer, bounded.
//!
//! The client is the one that reads an issuer's keys: no redirect, no proxy of the environment, no link-local address.
//! Errors of it may hold what the peer sent, so none goes further than this file.

use std::time::Duration;

use futures::future::BoxFuture;
use oauth2::{AsyncHttpClient, HttpRequest, HttpResponse};
use reqwest::{Client, Request, Response, StatusCode, Url, header};

use super::{
    settings::{OidcError, wrong},
    told::Rule,
};
use crate::{
    error::{Error, NotSignedIn},
    identity::{
        Secret,
        jwt::{Claims, LONGEST_KEYS},
    },
    issuer::client,
};

const DEADLINE: Duration = Duration::from_secs(5);
/// The longest answer that is about somebody.
const LONGEST_ANSWER: usize = 256 * 1024;

/// A client for the provider.
#[derive(Debug)]
pub(super) struct Wire(Client);

/// The provider did not answer as somebody does who is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Away {
    #[error("it did not answer within five seconds")]
    Timeout,
    #[error("it cannot be reached, or its certificate is not accepted")]
    Unreachable,
    #[error("it answered {0}")]
    Status(StatusCode),
    #[error("its answer is too long")]
    TooLong,
}

impl Wire {
    /// For the provider of this issuer.
    pub(super) fn new(issuer: &str) -> Result<Self, OidcError> {
        let url = Url::parse(issuer).map_err(|_| wrong("issuer", "is no URL"))?;
        let made = client(&url);
        made.map(Self).map_err(|_| {
            let what = "no HTTP client can be made; are there certificates on this machine?";
            wrong("issuer", what)
        })
    }

    /// A document.
    pub(super) async fn read(&self, url: Url) -> Result<Vec<u8>, Away> {
        let request = self.0.get(url).header(header::ACCEPT, "application/json");
        let response = request.timeout(DEADLINE).send().await.map_err(fault)?;
        match response.status() {
            StatusCode::OK => body(response, LONGEST_KEYS).await,
            status => Err(Away::Status(status)),
        }
    }

    /// What the provider claims of the bearer of this token.
    pub(super) async fn userinfo(&self, url: Url, access: &Secret) -> Result<Claims, Error> {
        let request = self
            .0
            .get(url)
            .header(header::ACCEPT, "application/json")
            .bearer_auth(access.reveal())
            .timeout(DEADLINE);
        let response = request.send().await.map_err(fault)?;
        match response.status() {
            StatusCode::OK => {}
            status if status.is_server_error() => return Err(Away::Status(status).into()),
            _ => return Err(Rule::NotTaken.into()),
        }
        let json = body(response, LONGEST_ANSWER).await?;
        Claims::parse(&json).map_err(|_| Rule::Unreadable.into())
    }

    /// A message of OAuth. Who answers with a fault of their own is away.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Away> {
        let mut request = Request::try_from(request).map_err(|_| Away::Unreachable)?;
        *request.timeout_mut() = Some(DEADLINE);
        let response = self.0.execute(request).await.map_err(fault)?;
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(Away::Status(status));
        }
        let content_type = response.headers().get(header::CONTENT_TYPE).cloned();
        let mut answer = HttpResponse::new(body(response, LONGEST_ANSWER).await?);
        *answer.status_mut() = status;
        if let Some(value) = content_type {
            answer.headers_mut().insert(header::CONTENT_TYPE, value);
        }
        Ok(answer)
    }
}

impl<'c> AsyncHttpClient<'c> for Wire {
    type Error = Away;
    type Future = BoxFuture<'c, Result<HttpResponse, Away>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

impl From<Away> for Error {
    fn from(away: Away) -> Self {
        tracing::warn!(%away, "the provider of sign-ins is away");
        NotSignedIn::ProviderAway.into()
    }
}

async fn body(mut response: Response, longest: usize) -> Result<Vec<u8>, Away> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(fault)? {
        if body.len() + chunk.len() > longest {
            return Err(Away::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn fault(error: reqwest::Error) -> Away {
    match error.is_timeout() {
        true => Away::Timeout,
        false => Away::Unreachable,
    }
}
