//! Where the keys of an issuer are read: an address that is only asked with GET, or a file.
//!
//! The peer is whom the operator named and nobody else: no redirect, no proxy of the environment, five seconds for the
//! whole, 256 KiB. What the peer says of a fault is not repeated.

use std::{fs::File, io::Read, path::PathBuf, time::Duration};

use reqwest::{Client, StatusCode, Url, header, redirect};

use super::IssuerError;
use crate::{
    config::JwtConfig,
    identity::jwt::{Keys, KeysFault, LONGEST_KEYS},
    route::{self, Route},
};

const DEADLINE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) enum Source {
    Address { url: Url, client: Client },
    File(PathBuf),
}

/// Why keys could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadFault {
    #[error("the issuer did not answer within five seconds")]
    Timeout,
    #[error("the issuer cannot be reached, or its certificate is not accepted")]
    Unreachable,
    #[error("the issuer answered {0}")]
    Status(StatusCode),
    #[error("the file cannot be read: {0}")]
    File(#[from] std::io::Error),
    #[error(transparent)]
    Keys(#[from] KeysFault),
}

/// Whether keys may be read at this address: over TLS, or on this machine, and never from a link-local address.
#[must_use]
pub fn is_source(text: &str) -> bool {
    parse(text).is_some()
}

fn parse(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(route::may_be_dialled)
}

impl Source {
    pub(super) fn new(config: &JwtConfig) -> Result<Self, IssuerError> {
        let wrong = |key, what| IssuerError { key, what };
        match (config.jwks_url.as_str(), &config.jwks_file) {
            ("", Some(path)) => Ok(Self::File(path.clone())),
            ("", None) | (_, Some(_)) => Err(wrong(
                "jwks_url",
                "or `jwt.jwks_file` must be given, and not both",
            )),
            (text, None) => {
                let url = parse(text).ok_or(wrong(
                    "jwks_url",
                    "must begin with https://, or with http:// on this machine, and be no link-local address",
                ))?;
                let client = client(&url).map_err(|_| {
                    wrong(
                        "jwks_url",
                        "no HTTP client can be made; are there certificates on this machine?",
                    )
                })?;
                Ok(Self::Address { url, client })
            }
        }
    }

    pub(super) async fn read(&self) -> Result<Keys, ReadFault> {
        let json = match self {
            Self::Address { url, client } => fetch(client, url.clone()).await?,
            Self::File(path) => {
                let path = path.clone();
                // A disk may hang; it does not hold up the runtime then.
                let read = tokio::task::spawn_blocking(move || whole(path)).await;
                read.map_err(std::io::Error::other)??
            }
        };
        Ok(Keys::parse(&json)?)
    }
}

/// A client for whom the operator named at `url`: without redirects, proxies and link-local addresses.
pub(crate) fn client(url: &Url) -> reqwest::Result<Client> {
    let builder = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .dns_resolver(Route)
        .timeout(DEADLINE)
        .pool_max_idle_per_host(0)
        .user_agent(concat!("toolgate/", env!("CARGO_PKG_VERSION")));
    // Without TLS the machine's certificates are not needed; a small container may have none.
    let builder = match url.scheme() {
        "https" => builder,
        _ => builder.tls_certs_only([]),
    };
    builder.build()
}

async fn fetch(client: &Client, url: Url) -> Result<Vec<u8>, ReadFault> {
    let request = client.get(url).header(header::ACCEPT, "application/json");
    let mut response = request.send().await.map_err(fault)?;
    if response.status() != StatusCode::OK {
        return Err(ReadFault::Status(response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(fault)? {
        if body.len() + chunk.len() > LONGEST_KEYS {
            return Err(KeysFault::TooLarge.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn whole(path: PathBuf) -> std::io::Result<Vec<u8>> {
    let mut json = Vec::new();
    // One byte more than may be, so that too much is seen.
    File::open(path)?
        .take(LONGEST_KEYS as u64 + 1)
        .read_to_end(&mut json)?;
    Ok(json)
}

// Errors of the client may hold what the peer sent.
fn fault(error: reqwest::Error) -> ReadFault {
    match error.is_timeout() {
        true => ReadFault::Timeout,
        false => ReadFault::Unreachable,
    }
}
