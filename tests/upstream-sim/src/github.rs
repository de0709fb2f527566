//! GitHub's REST API, as far as Toolgate reads it: tokens with permissions, repositories, workflow runs that go on
//! while one looks, limits, renames.
//!
//! Stands for api.github.com. What a token may do decides every answer, as there: what a permission is missing for is
//! 403 and names what the endpoint would accept, what the token cannot see is 404, public repositories answer anyone.

mod repos;
mod runs;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use self::repos::Repo;
use crate::{Reply, Request, Seen, Server, wall};

/// A running GitHub. Dropping it stops it.
#[derive(Debug)]
pub struct GitHub {
    server: Server,
    state: Arc<State>,
}

/// What a token is and may do.
#[derive(Debug, Clone, Default)]
pub struct Token {
    /// Permissions by their names in GitHub's documents: `metadata`, `actions`, `contents`, …
    pub permissions: BTreeSet<&'static str>,
    /// Scopes of a classic or OAuth token, told in `X-OAuth-Scopes`.
    pub scopes: Option<&'static str>,
    /// True when it was given no private repository.
    pub public_only: bool,
}

/// How the next requests are limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The quota is used up; it comes back in so many seconds.
    Primary(u64),
    /// Too fast, without a word of when to come back.
    Secondary,
    /// Too fast, with `Retry-After` in seconds.
    SecondaryFor(u64),
}

#[derive(Debug)]
pub(crate) struct State {
    began: Instant,
    tokens: Mutex<BTreeMap<String, Token>>,
    limit: Mutex<Option<Limit>>,
    pace: Mutex<Duration>,
    repos: Vec<Repo>,
}

impl Token {
    /// A fine-grained token with these permissions.
    #[must_use]
    pub fn with(permissions: &[&'static str]) -> Self {
        Self {
            permissions: permissions.iter().copied().collect(),
            ..Self::default()
        }
    }

    /// The least that Toolgate needs.
    #[must_use]
    pub fn least() -> Self {
        Self::with(&["metadata", "actions"])
    }
}

impl GitHub {
    /// Starts it; it knows no token yet.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start(address: SocketAddr) -> io::Result<Self> {
        let state = Arc::new(State {
            began: Instant::now(),
            tokens: Mutex::default(),
            limit: Mutex::default(),
            pace: Mutex::default(),
            repos: repos::all(),
        });
        let answering = Arc::clone(&state);
        let server = Server::plain(address, move |request| {
            let (reply, pace) = (answering.answer(&request), *lock(&answering.pace));
            async move {
                if !pace.is_zero() {
                    tokio::time::sleep(pace).await;
                }
                reply
            }
        })
        .await?;
        Ok(Self { server, state })
    }

    /// Makes a token, or changes what it is.
    pub fn token(&self, secret: &str, token: Token) {
        lock(&self.state.tokens).insert(secret.to_owned(), token);
    }

    /// Takes a token away.
    pub fn revoke(&self, secret: &str) {
        lock(&self.state.tokens).remove(secret);
    }

    /// Limits what comes next, until it is called again.
    pub fn limit(&self, limit: Option<Limit>) {
        *lock(&self.state.limit) = limit;
    }

    /// Takes this long for every answer from now on.
    pub fn pace(&self, pace: Duration) {
        *lock(&self.state.pace) = pace;
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The full names of the repositories it holds.
    #[must_use]
    pub fn repos(&self) -> Vec<String> {
        self.state.repos.iter().map(repos::Repo::full_name).collect()
    }

    /// What it was asked.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        self.server.seen()
    }
}

impl State {
    fn answer(&self, request: &Request) -> Reply {
        if request.method != "GET" {
            return message(405, "Method Not Allowed");
        }
        if request.header("user-agent").is_empty() {
            return Reply::bytes(403, "Request forbidden by administrative rules.");
        }
        let secret = request.header("authorization").split_once(' ');
        let token = secret.and_then(|(_, secret)| lock(&self.tokens).get(secret).cloned());
        let Some(token) = token else {
            return message(401, "Bad credentials");
        };
        let reply = match *lock(&self.limit) {
            Some(limit) => limited(limit),
            None => self.route(request, &token),
        };
        let reply = reply
            .with("x-ratelimit-limit", "5000")
            .with("x-ratelimit-resource", "core");
        match token.scopes {
            Some(scopes) => reply.with("x-oauth-scopes", scopes),
            None => reply.with(
                "github-authentication-token-expiration",
                "2027-10-12 09:00:00 UTC",
            ),
        }
    }

    fn route(&self, request: &Request, token: &Token) -> Reply {
        match request.segments()[..] {
            ["user"] => ok(&json!({"login": "sim-user", "id": 1, "type": "User", "name": null})),
            ["user", "repos"] => self.list(request, token, |_| true),
            ["orgs", org, "repos"] => self.list(request, token, |repo| repo.owner == org),
            ["repositories", id, ref rest @ ..] => {
                let known = self.repos.iter().find(|repo| repo.id.to_string() == id);
                known.map_or_else(not_found, |repo| self.below(request, token, repo, rest))
            }
            ["repos", owner, name, ref rest @ ..] => {
                if let Some(repo) = self.repos.iter().find(|repo| repo.was == Some((owner, name))) {
                    return self.moved(repo, rest);
                }
                let is_it = |repo: &&Repo| (repo.owner, repo.name) == (owner, name);
                let known = self.repos.iter().find(is_it);
                known.map_or_else(not_found, |repo| self.below(request, token, repo, rest))
            }
            _ => not_found(),
        }
    }

    fn below(&self, request: &Request, token: &Token, repo: &Repo, rest: &[&str]) -> Reply {
        if repo.private && token.public_only {
            return not_found();
        }
        let needed = match rest {
            [] => "metadata",
            ["actions", "runs", ..] => "actions",
            ["commits", _, "status"] => "statuses",
            ["commits", ..] => "contents",
            ["issues", ..] => "issues",
            ["pulls", ..] => "pull_requests",
            ["deployments", ..] => "deployments",
            ["hooks", ..] => "repository_hooks",
            ["actions", "secrets", ..] => "secrets",
            ["actions", "variables", ..] => "variables",
            ["actions", "permissions", ..] => "administration",
            _ => return not_found(),
        };
        let never_public = ["repository_hooks", "secrets", "variables", "administration"];
        let open = !repo.private && !never_public.contains(&needed);
        if !open && !token.permissions.contains(needed) {
            let accepted = format!("{needed}=read");
            return message(403, "Resource not accessible by personal access token")
                .with("x-accepted-github-permissions", &accepted);
        }
        match rest {
            [] => ok(&repo.told()),
            ["actions", "runs"] => runs::list(request, repo, self.began.elapsed()),
            ["actions", "runs", id] => runs::one(id, repo, self.began.elapsed()),
            ["commits", _, "status"] => ok(&json!({"state": "success", "statuses": [], "total_count": 0})),
            ["actions", "permissions"] => ok(&json!({"enabled": true, "allowed_actions": "all"})),
            ["actions", "secrets"] => ok(&json!({"total_count": 0, "secrets": []})),
            ["actions", "variables"] => ok(&json!({"total_count": 0, "variables": []})),
            _ => ok(&json!([])),
        }
    }

    fn list(&self, request: &Request, token: &Token, wanted: impl Fn(&Repo) -> bool) -> Reply {
        if !token.permissions.contains("metadata") {
            return message(403, "Resource not accessible by personal access token");
        }
        let visibility = request.query("visibility").unwrap_or("all");
        let shown: Vec<Value> = self
            .repos
            .iter()
            .filter(|repo| wanted(repo) && !(repo.private && token.public_only))
            .filter(|repo| match visibility {
                "public" => !repo.private,
                "private" => repo.private,
                _ => true,
            })
            .map(Repo::told)
            .collect();
        page(request, &shown, |page| json!(page))
    }

    fn moved(&self, repo: &Repo, rest: &[&str]) -> Reply {
        let tail = rest.iter().fold(String::new(), |tail, each| tail + "/" + each);
        let to = format!("/repositories/{}{tail}", repo.id);
        Reply::json(301, &json!({"message": "Moved Permanently", "url": to})).with("location", &to)
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ok(body: &Value) -> Reply {
    Reply::json(200, body)
}

fn message(status: u16, text: &str) -> Reply {
    let body = json!({"message": text, "documentation_url": "https://docs.github.com/rest", "status": status.to_string()});
    Reply::json(status, &body)
}

fn not_found() -> Reply {
    message(404, "Not Found")
}

fn limited(limit: Limit) -> Reply {
    const TOO_FAST: &str =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    match limit {
        Limit::Primary(seconds) => {
            let reset = wall::seconds() + seconds;
            message(403, "API rate limit exceeded for user ID 1.")
                .with("x-ratelimit-remaining", "0")
                .with("x-ratelimit-reset", &reset.to_string())
        }
        Limit::Secondary => message(403, TOO_FAST).with("x-ratelimit-remaining", "4321"),
        Limit::SecondaryFor(seconds) => message(429, TOO_FAST)
            .with("x-ratelimit-remaining", "4321")
            .with("retry-after", &seconds.to_string()),
    }
}

/// One page of a list, with `Link` as GitHub writes it: the former page first.
fn page(request: &Request, all: &[Value], written: impl Fn(&[Value]) -> Value) -> Reply {
    let (size, number) = (
        request.number("per_page", 30, 100),
        request.number("page", 1, 1_000_000),
    );
    let start = ((number - 1) * size).min(all.len());
    let end = (start + size).min(all.len());
    let reply = ok(&written(&all[start..end]));
    let at = |to: usize, rel: &str| {
        let others: Vec<_> = request
            .query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.starts_with("page="))
            .collect();
        let host = request.header("host");
        format!(
            "<http://{host}{}?{}&page={to}>; rel=\"{rel}\"",
            request.path,
            others.join("&")
        )
    };
    let mut links = vec![];
    if number > 1 {
        links.push(at(number - 1, "prev"));
    }
    if end < all.len() {
        links.push(at(number + 1, "next"));
        links.push(at(all.len().div_ceil(size), "last"));
    }
    match links.is_empty() {
        true => reply,
        false => reply.with("link", &links.join(", ")),
    }
}
