//! GitHub, in the cloud or on a server of one's own, read with a fine-grained personal access token.
//!
//! Questions go through octocrab over the reader that can only GET; the answers are read into structs of our own, in
//! which everything may be missing. Absent on purpose: octocrab's models, its retries and its redirects, and any token
//! of another kind.

mod ask;
mod cool_down;
mod cursor;
mod lenient;
mod link;
mod no;
mod page;
mod repos;
mod result;
mod route;
mod run;
mod runs;
mod said;
mod token;
mod transport;
mod validate;

use std::sync::Arc;

use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Map, Value};

use self::{cool_down::CoolDown, cursor::Cursors, transport::Transport};
use super::{
    Adapter, Validation,
    settings::{self, Defaults, Reading},
};
use crate::{
    clock::Clock,
    error::Error,
    journal::Contact,
    secrets::SecretValue,
    upstream::{
        ToolResult, Upstream, UpstreamCall, UpstreamError,
        reader::{Base, Fault, Reader},
    },
};

const CLOUD: &str = "https://api.github.com";
const BASE_URL: &str = "baseUrl";
/// Known to the cloud and to every server that is still supported.
const API_VERSION: &str = "2022-11-28";

/// The settings of a target as they are stored, out of those that were asked for.
pub(super) fn settings(given: Map<String, Value>, defaults: Defaults) -> Result<Map<String, Value>, Error> {
    let mut reading = Reading::new(given, &[BASE_URL]);
    let text = reading.text(BASE_URL, 2_048)?;
    let base =
        base(text.as_deref().unwrap_or(CLOUD)).map_err(|what| Error::invalid("config.baseUrl", what))?;
    reading.store(BASE_URL, base.as_str());
    reading.trust()?;
    let allow = reading.allow(defaults)?;
    if base.is_plain_http() && !allow.http {
        return Err(Error::invalid(
            "config.baseUrl",
            "would carry the token without TLS; use https, or set allowHttp",
        ));
    }
    reading.end()
}

/// The credential as it is kept, out of what was given.
pub(super) fn credential(given: &Map<String, Value>) -> Result<SecretValue, Error> {
    token::given(given)
}

/// The adapter of one target.
pub(super) fn open(
    stored: &Value,
    _: &Value,
    credential: &SecretValue,
) -> Result<Arc<dyn Adapter>, UpstreamError> {
    let token = token::kept(credential).ok_or(UpstreamError::CredentialRejected)?;
    Ok(Arc::new(Github::open(stored, &token, Clock::system())?))
}

/// Reads an answer of GitHub as every tool would, and tells how many rows came of it. For whoever tests that no bytes
/// make reading panic.
#[must_use]
pub fn parse_github(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let mut headers = HeaderMap::new();
    for name in [
        "link",
        "x-github-sso",
        "x-accepted-github-permissions",
        "retry-after",
        "date",
    ] {
        if let Ok(value) = HeaderValue::from_bytes(bytes) {
            headers.insert(name, value);
        }
    }
    let paged = usize::from(link::next(&headers, CLOUD) != link::Next::Nothing);
    let cursors = Cursors::new(&text, CLOUD);
    let opened = usize::from(cursors.open("", &text).is_some());
    let expires = usize::from(validate::expiry(&text).is_some());
    let Ok(answer) = serde_json::from_slice::<Value>(bytes) else {
        return paged + opened + expires;
    };
    let no = no::No::read(http::StatusCode::FORBIDDEN, &headers, &answer);
    let limited = cool_down::limit(http::StatusCode::FORBIDDEN, &headers, &no.message).is_some();
    let told = said::plain(&no.told(no::Wanted::Mine), 100).len().min(1) + usize::from(limited);
    let repos = repos::rows(&answer).map_or(0, |rows| rows.len());
    let run = runs::object(answer.clone()).ok().and_then(run::Run::of);
    let lines = run.map_or(0, |run| run.line().len().min(1));
    let runs = runs::Runs::read(answer).map_or(0, |page| page.rows().len());
    paged + opened + expires + told + repos + lines + runs
}

/// One target with one token.
#[derive(Debug)]
struct Github {
    base: Base,
    transport: Transport,
    cool_down: CoolDown,
    cursors: Cursors,
    clock: Clock,
}

impl Github {
    fn open(stored: &Value, token: &str, clock: Clock) -> Result<Self, UpstreamError> {
        let text = stored[BASE_URL].as_str().unwrap_or(CLOUD);
        let base = base(text).map_err(|_| UpstreamError::Unreachable)?;
        let destination = settings::destination(base.clone(), stored)?;
        let reader = Reader::new(destination, headers(token)?).map_err(unusable)?;
        Ok(Self {
            transport: Transport::new(reader),
            cool_down: CoolDown::new(clock.clone()),
            cursors: Cursors::new(token, base.as_str()),
            base,
            clock,
        })
    }
}

impl Upstream for Github {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(async move {
            let arguments = &call.arguments.0;
            match call.tool {
                "github.list_repos" => self.list_repos(contact, arguments).await,
                "github.get_recent_ci_runs" => self.recent_runs(contact, arguments).await,
                "github.get_workflow_run" => self.workflow_run(contact, arguments).await,
                _ => Err(UpstreamError::Invalid),
            }
        })
    }
}

impl Adapter for Github {
    fn validate<'a>(&'a self, contact: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(validate::validate(self, contact))
    }
}

// Kept exactly but for slashes at the end: `/api/v3` of a server belongs to it, and the cloud has no such path.
fn base(text: &str) -> Result<Base, String> {
    let base = Base::parse(text)?;
    match base.host() {
        "github.com" | "www.github.com" => Err(format!(
            "is GitHub's pages, not its API; give {CLOUD}, or leave it out"
        )),
        _ => Ok(base),
    }
}

fn headers(token: &str) -> Result<HeaderMap, UpstreamError> {
    let mut bearer =
        HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| UpstreamError::CredentialRejected)?;
    bearer.set_sensitive(true);
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, bearer);
    headers.insert(
        header::USER_AGENT,
        HeaderValue::from_static(concat!("toolgate/", env!("CARGO_PKG_VERSION"))),
    );
    headers.insert(
        header::ACCEPT,
        HeaderValue::from_static("application/vnd.github+json"),
    );
    headers.insert("x-github-api-version", HeaderValue::from_static(API_VERSION));
    Ok(headers)
}

fn unusable(fault: Fault) -> UpstreamError {
    tracing::warn!(
        detail = fault.detail,
        "the settings of a GitHub target cannot be used"
    );
    fault.error
}

#[cfg(test)]
mod tests;
