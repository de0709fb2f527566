//! Gitea and Forgejo, read only: two tools, and what a token may do, by version.
//!
//! Everything goes through the one client that can only GET. The token travels in its header and nowhere else: never in
//! a query, never along a link that a server made up, never for another user. Rows are read field by field and never
//! fail; texts of a server are data and never told as ours.

mod ask;
mod cooling;
mod pages;
mod probes;
mod repos;
mod row;
mod runs;
mod scopes;
mod validate;
mod version;

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;
use http::{HeaderMap, HeaderValue, header};
use serde_json::{Map, Value};
use tokio::time::timeout;

use self::{
    ask::Said,
    cooling::Cooling,
    runs::Source,
    version::{Product, Version},
};
use super::{
    Adapter, Validation, said,
    settings::{Defaults, Reading, destination},
};
use crate::{
    error::Error,
    journal::Contact,
    secrets::SecretValue,
    upstream::{
        ToolResult, Upstream, UpstreamCall, UpstreamError,
        reader::{Base, Destination, Fault, ReadPath, Reader},
    },
};

const BASE_URL: &str = "baseUrl";
const LONGEST_URL: usize = 2048;
const LONGEST_TOKEN: usize = 4096;
/// Where the API stands below the start page.
const API: &str = "/api/v1";

const BAD_CURSOR: &str =
    "the cursor is not one that this tool gave for these arguments; leave it out to begin anew";

/// One server, with one token.
struct Server {
    reader: Reader,
    destination: Destination,
    product: Product,
    /// The best that its version can tell of CI runs.
    source: Source,
    cooling: Cooling,
}

/// The settings of a target as they are stored, out of those that were asked for.
pub(super) fn settings(given: Map<String, Value>, defaults: Defaults) -> Result<Map<String, Value>, Error> {
    let place = || format!("config.{BASE_URL}");
    let mut reading = Reading::new(given, &[BASE_URL]);
    let Some(url) = reading.text(BASE_URL, LONGEST_URL)? else {
        return Err(Error::invalid(
            place(),
            "is needed: the address of the server's start page",
        ));
    };
    let base = Base::parse(without_api(&url)).map_err(|what| Error::invalid(place(), what))?;
    reading.store(BASE_URL, base.as_str());
    reading.trust()?;
    let allow = reading.allow(defaults)?;
    if base.is_plain_http() && !allow.http {
        return Err(Error::invalid(
            place(),
            "is plain HTTP; use https, or set allowHttp",
        ));
    }
    reading.end()
}

/// The credential as it is kept, out of what was given.
pub(super) fn credential(given: &Map<String, Value>) -> Result<SecretValue, Error> {
    if let Some(key) = given.keys().find(|key| *key != "token") {
        let short: String = key.chars().take(64).collect();
        let place = format!("credential.{}", short.escape_debug());
        return Err(Error::invalid(
            place,
            "is no part of such a credential; there is token alone",
        ));
    }
    let place = "credential.token";
    let token = given
        .get("token")
        .and_then(Value::as_str)
        .map(str::trim)
        .unwrap_or_default();
    if token.is_empty() {
        return Err(Error::invalid(
            place,
            "is needed: an access token with read:repository alone",
        ));
    }
    if token.len() > LONGEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::invalid(
            place,
            "is no access token; copy the token alone, without `token ` or quotes",
        ));
    }
    SecretValue::new(token.as_bytes()).ok_or_else(|| Error::invalid(place, "is no access token"))
}

/// The adapter of one target.
pub(super) fn open(
    settings: &Value,
    facts: &Value,
    credential: &SecretValue,
) -> Result<Arc<dyn Adapter>, UpstreamError> {
    Server::new(settings, facts, credential).map(|server| Arc::new(server) as Arc<dyn Adapter>)
}

/// What an answer of a server says, for whoever wants to try the reading alone: of repositories, of runs of either
/// kind, of states, of a version and of a refusal. Gives how many rows were read.
#[must_use]
pub fn parse(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let version = Version::read(&text);
    let _ = (
        version.shows(),
        version.source(),
        scopes::missing_scope(&text),
        pages::Place::read(&text),
    );
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return 0;
    };
    let of = |name: &str| value.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut jobs = runs::Grouped::default();
    of("workflow_runs").for_each(|row| jobs.add_any(row));
    of("data").filter_map(repos::Repo::read).count()
        + of("workflow_runs").filter_map(runs::Run::read).count()
        + of("statuses").filter_map(runs::Status::read).count()
        + jobs.all().len()
}

impl Server {
    fn new(settings: &Value, facts: &Value, credential: &SecretValue) -> Result<Self, UpstreamError> {
        let url = settings.get(BASE_URL).and_then(Value::as_str).unwrap_or_default();
        let base =
            Base::parse(&format!("{}{API}", without_api(url))).map_err(|_| UpstreamError::Unreachable)?;
        let destination = destination(base, settings)?;
        let reader = Reader::new(destination.clone(), with(credential)?)?;
        let fact = |name: &str| facts.get(name).and_then(Value::as_str).unwrap_or_default();
        Ok(Self {
            reader,
            destination,
            product: Product::named(fact("product")).unwrap_or(Product::Gitea),
            source: Source::named(fact("ciSource")).unwrap_or(Source::Runs),
            cooling: Cooling::default(),
        })
    }

    /// Asks, unless the server wants to be left alone.
    async fn ask(&self, contact: &Contact, path: &ReadPath) -> Result<Said, UpstreamError> {
        self.cooling.check()?;
        let said = ask::ask(&self.reader, contact, path).await;
        if let Err(UpstreamError::RateLimited(pause)) = said {
            self.cooling.leave_alone(pause);
        }
        said
    }

    /// A reader that sends no token.
    fn anonymous(&self) -> Result<Reader, Fault> {
        Reader::new(self.destination.clone(), HeaderMap::new())
    }

    fn is_tls(&self) -> bool {
        !self.destination.base.is_plain_http()
    }
}

impl Upstream for Server {
    fn call<'a>(
        &'a self,
        contact: &'a Contact,
        call: UpstreamCall,
    ) -> BoxFuture<'a, Result<ToolResult, UpstreamError>> {
        Box::pin(async move {
            let arguments = &call.arguments.0;
            let work = async {
                match call.tool {
                    "gitea.list_repos" => repos::list(self, contact, arguments).await,
                    "gitea.get_recent_ci_runs" => runs::recent(self, contact, arguments).await,
                    _ => said::no("this target has no such tool"),
                }
            };
            timeout(call.deadline, work)
                .await
                .unwrap_or(Err(UpstreamError::Timeout))
        })
    }
}

impl Adapter for Server {
    fn validate<'a>(&'a self, contact: &'a Contact) -> BoxFuture<'a, Validation> {
        Box::pin(validate::validate(self, contact))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gitea({:?})", self.destination.base)
    }
}

/// The headers of every request.
fn with(credential: &SecretValue) -> Result<HeaderMap, UpstreamError> {
    let token = credential.reveal().trim_ascii();
    let value = [b"token ", token].concat();
    let mut value = HeaderValue::from_bytes(&value).map_err(|_| UpstreamError::CredentialRejected)?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(header::AUTHORIZATION, value)]))
}

/// An address without what was pasted with it: slashes at the end, and the path of the API.
fn without_api(url: &str) -> &str {
    let bare = url.trim_end_matches('/');
    bare.strip_suffix(API).unwrap_or(bare).trim_end_matches('/')
}

#[cfg(test)]
mod tests;
