//! The HTTPS webhook: lines are posted as NDJSON, and any 2xx answer means that they are kept.
//!
//! The peer is whom the operator named and nobody else: no redirect is followed, no proxy of the environment is used, the
//! answer's body is not read, and all of it ends after five seconds. Plain HTTP is for loopback only. Link-local addresses
//! and those where clouds hand out credentials are never dialled, whatever name leads there.

use std::{
    error::Error as _,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use futures::future::BoxFuture;
use reqwest::{Client, Url, header, redirect};
use zeroize::Zeroizing;

use super::{Sink, SinkError};
use crate::route::{self, Route};

/// One attempt takes no longer, whatever the peer does.
const DEADLINE: Duration = Duration::from_secs(5);
const LONGEST_TOKEN: u64 = 4096;

/// Posts lines to a URL.
#[derive(Debug)]
pub struct Webhook {
    url: Url,
    token_file: Option<PathBuf>,
    client: Client,
}

/// Why a webhook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// It is no URL that lines may go to.
    #[error(
        "this is no webhook: give an https:// URL without user, password and fragment (http:// goes to loopback only), \
         and no link-local address"
    )]
    Url,
    /// No client can be made.
    #[error("no HTTPS client can be made: {0}")]
    Client(#[from] reqwest::Error),
}

impl Webhook {
    /// A webhook at `url`. The token file is read anew for every post, so that a token can be replaced.
    ///
    /// # Errors
    /// When `url` is not one that lines may go to.
    pub fn new(url: &str, token_file: Option<PathBuf>) -> Result<Self, WebhookError> {
        Self::within(url, token_file, DEADLINE)
    }

    pub(super) fn within(
        url: &str,
        token_file: Option<PathBuf>,
        deadline: Duration,
    ) -> Result<Self, WebhookError> {
        // Never printed: it may hold a credential.
        let parsed = Url::parse(url).map_err(|_| WebhookError::Url)?;
        if !route::may_be_dialled(&parsed) {
            return Err(WebhookError::Url);
        }
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Route)
            .timeout(deadline)
            .connect_timeout(deadline)
            .pool_max_idle_per_host(1)
            .build()?;
        Ok(Self {
            url: parsed,
            token_file,
            client,
        })
    }

    async fn post(&self, lines: Vec<u8>) -> Result<(), SinkError> {
        let mut request = self
            .client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/x-ndjson")
            .body(lines);
        if let Some(path) = &self.token_file {
            let token = token(path)?;
            let mut value = header::HeaderValue::from_str(&format!("Bearer {}", token.as_str()))
                .map_err(|_| SinkError(format!("{} holds no token", path.display())))?;
            value.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, value);
        }
        let answer = request.send().await.map_err(|error| SinkError(told(error)))?;
        // Dropped with its body unread, however long that is.
        let status = answer.status();
        if status.is_success() {
            Ok(())
        } else {
            Err(SinkError(format!("the webhook answered {}", status.as_u16())))
        }
    }
}

impl Sink for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn append(&self, lines: Vec<u8>) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(self.post(lines))
    }
}

/// Whether lines may go to this URL.
#[must_use]
pub fn is_webhook(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| route::may_be_dialled(&url))
}

fn token(path: &Path) -> Result<Zeroizing<String>, SinkError> {
    let failed = |what: String| SinkError(format!("the webhook's token file {} {what}", path.display()));
    let file = std::fs::File::open(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
    let mode = file
        .metadata()
        .map_err(|error| failed(format!("cannot be inspected: {error}")))?
        .mode();
    if mode & 0o007 != 0 {
        return Err(failed("is open to every user: run chmod 0600 on it".into()));
    }
    let mut text = Zeroizing::new(String::with_capacity(LONGEST_TOKEN as usize));
    file.take(LONGEST_TOKEN)
        .read_to_string(&mut text)
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    let token = Zeroizing::new(text.trim().to_owned());
    if token.is_empty() {
        return Err(failed("is empty".into()));
    }
    Ok(token)
}

/// What went wrong, without the URL: its path or query may be a credential.
fn told(error: reqwest::Error) -> String {
    if error.is_timeout() {
        return "the webhook did not answer in time".into();
    }
    let error = error.without_url();
    let mut innermost = error.source();
    while let Some(next) = innermost.and_then(std::error::Error::source) {
        innermost = Some(next);
    }
    let what = innermost.map_or_else(|| error.to_string(), ToString::to_string);
    format!("the webhook cannot be reached: {what}")
}

#[cfg(test)]
pub(super) mod tests;
