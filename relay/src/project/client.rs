//! The HTTP client for the local server: no proxy of the environment, no way off the server's origin, bounded answers.

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::{Client, Response, StatusCode, Url, redirect};

use super::wire::{LONGEST, Unanswered};
use crate::{config::TrustRoots, tls};
use toolgate_contract::frame::RefusalCode;

const CONNECT: Duration = Duration::from_secs(5);
const REDIRECTS: usize = 3;

/// Why a URL names no server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no http or https URL without user and fragment")]
pub struct BadServerUrl;

/// Reads the URL of a server.
pub(crate) fn url(text: &str) -> Result<Url, BadServerUrl> {
    let url = Url::parse(text).map_err(|_| BadServerUrl)?;
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    let is_bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    (is_http && is_bare).then_some(url).ok_or(BadServerUrl)
}

/// A client for one server.
pub(crate) fn client(server: &Url) -> io::Result<Client> {
    let tls = match server.scheme() {
        "https" => {
            // Certificates named for the gateway say nothing about this server.
            let mut config = (*tls::client(&TrustRoots::Platform)?).clone();
            config.require_ems = false;
            config
        }
        _ => tls::nobody()?,
    };
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::custom(stay))
        .connect_timeout(CONNECT)
        .user_agent(concat!("toolgate-relay/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls)
        .build()
        .map_err(io::Error::other)
}

/// Whether two URLs lead to the same server.
pub(crate) fn is_same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

/// Follows only what keeps the method and stays on the origin.
fn stay(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_method = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let previous = attempt.previous();
    let stays = previous
        .first()
        .is_some_and(|first| is_same_origin(first, attempt.url()));
    match keeps_method && stays && previous.len() <= REDIRECTS {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// What a body is, by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Json,
    Events,
    Other,
}

/// Looks at the content type.
pub(crate) fn kind(response: &Response) -> Body {
    let content_type = response.headers().get(reqwest::header::CONTENT_TYPE);
    let essence = content_type
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(|essence| essence.trim().to_ascii_lowercase());
    match essence.as_deref() {
        Some("application/json") => Body::Json,
        Some("text/event-stream") => Body::Events,
        _ => Body::Other,
    }
}

/// Reads a body whole.
pub(crate) async fn whole(mut response: Response) -> Result<Bytes, Unanswered> {
    let mut body = BytesMut::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|error| fault(&error).into_unanswered())?
    {
        if body.len() + piece.len() > LONGEST {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// A result that is over the limit.
pub(crate) fn too_large() -> Unanswered {
    Unanswered::refused(RefusalCode::TooLarge, "the result is over the limit of 8 MiB")
}

/// What went wrong below HTTP. Errors of the client may hold what the peer sent, so they are not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing listens there.
    Unreachable,
    /// The connection broke.
    Broken,
}

impl Fault {
    /// As whoever waits hears it.
    pub(crate) fn into_unanswered(self) -> Unanswered {
        match self {
            Self::Unreachable => Unanswered::down("the server cannot be reached"),
            Self::Broken => Unanswered::down("the connection to the server broke before it answered"),
        }
    }
}

/// Sorts an error of the client.
pub(crate) fn fault(error: &reqwest::Error) -> Fault {
    match error.is_connect() || error.is_timeout() {
        true => Fault::Unreachable,
        false => Fault::Broken,
    }
}
