//! Gitea and Forgejo, as far as Toolgate reads them: by version, with tokens by scope, repositories of several owners, and
//! CI that goes on while one looks.
//!
//! There is no such server to be had here, so this is one by the routes, fields and texts that each version is known to
//! have. What a version lacks is 404, as there. It believes to stand at an address of its own, which its links and pages
//! are made of.

#![allow(
    clippy::result_large_err,
    reason = "a refusal on the way is the answer, and none of this is in a hurry"
)]

mod access;
mod paging;
mod repos;
mod runs;
mod statuses;
mod version;

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

pub use self::{access::Token, version::Version};
use self::{
    access::{Asker, Kind},
    repos::{Repo, Way},
};
use crate::{Reply, Request, Seen, Server, wall};

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct Gitea {
    server: Server,
    state: Arc<State>,
}

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Setup {
    /// What it is.
    pub version: Version,
    /// Below which path it is served: empty, or like `/forge`.
    pub sub_path: &'static str,
    /// The address that it believes to have, with the path.
    pub root_url: &'static str,
    /// How many rows it gives at once, whatever is asked for.
    pub most: usize,
    /// Whether nobody may ask anything without a token.
    pub closed: bool,
}

#[derive(Debug)]
pub(crate) struct State {
    setup: Setup,
    began: Instant,
    began_at: u64,
    tokens: Mutex<BTreeMap<String, Token>>,
    repos: Vec<Repo>,
}

impl Setup {
    /// As servers of this version are set up when nobody says otherwise. Its address is not the one it is read at.
    #[must_use]
    pub fn of(version: Version) -> Self {
        Self {
            version,
            sub_path: "",
            root_url: "https://git.acme.example",
            most: 50,
            closed: false,
        }
    }
}

impl Gitea {
    /// Starts one; it knows no token yet.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start(address: SocketAddr, setup: Setup) -> io::Result<Self> {
        let state = Arc::new(State {
            setup,
            began: Instant::now(),
            began_at: wall::seconds(),
            tokens: Mutex::default(),
            repos: repos::all(),
        });
        let answering = Arc::clone(&state);
        let server = Server::plain(address, move |request| {
            std::future::ready(answering.answer(&request))
        })
        .await?;
        Ok(Self { server, state })
    }

    /// Makes a token, or changes what it may do.
    pub fn token(&self, secret: &str, token: Token) {
        lock(&self.state.tokens).insert(secret.to_owned(), token);
    }

    /// Takes a token away.
    pub fn revoke(&self, secret: &str) {
        lock(&self.state.tokens).remove(secret);
    }

    /// The address of its start page, where it really is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}{}", self.server.url(), self.state.setup.sub_path)
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
            return self.no(405, "Method Not Allowed");
        }
        let below = request.path.strip_prefix(self.setup.sub_path);
        let Some(path) = below.and_then(|path| path.strip_prefix("/api/v1/")) else {
            return Reply::bytes(404, "<html>Not found.</html>").with("content-type", "text/html");
        };
        let asker = match self.asker(request) {
            Ok(asker) => asker,
            Err(refusal) => return refusal,
        };
        let segments: Vec<String> = path.split('/').map(decoded).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        self.route(request, &asker, &segments)
            .unwrap_or_else(|refusal| refusal)
    }

    /// Whatever is refused on the way is the answer.
    fn route(&self, request: &Request, asker: &Asker, segments: &[&str]) -> Result<Reply, Reply> {
        let needs = |kind: Kind| asker.needs(self, kind);
        match segments {
            ["version"] => {
                if self.setup.version.hides_version() {
                    needs(Kind::Misc)?;
                }
                Ok(ok(&json!({"version": self.setup.version.text()})))
            }
            ["settings", "api"] => Ok(ok(
                &json!({"max_response_items": self.setup.most, "default_paging_num": 30}),
            )),
            ["user"] => {
                needs(Kind::User)?;
                Ok(ok(
                    &json!({"id": 3, "login": "sim-user", "email": "sim@acme.example", "is_admin": false}),
                ))
            }
            ["user", "repos"] => {
                needs(Kind::User)?;
                needs(Kind::Repository)?;
                Ok(self.list(request, asker))
            }
            ["user", "orgs"] => {
                needs(Kind::User)?;
                needs(Kind::Organization)?;
                Ok(ok(&json!([])))
            }
            ["orgs", name] => {
                needs(Kind::Organization)?;
                Ok(ok(&json!({"id": 7, "name": name})))
            }
            ["notifications", "new"] => {
                needs(Kind::Notification)?;
                Ok(ok(&json!({"new": 0})))
            }
            ["packages", _] => {
                needs(Kind::Package)?;
                Ok(ok(&json!([])))
            }
            ["admin", ..] => {
                needs(Kind::Admin)?;
                Err(self.no(
                    403,
                    "user should be an owner or a collaborator with admin write of a repository",
                ))
            }
            ["repos", "issues", "search"] => {
                needs(Kind::Issue)?;
                Ok(ok(&json!([])))
            }
            ["repos", "search"] => {
                asker.may(self, Kind::Repository)?;
                Ok(self.list(request, asker))
            }
            ["repos", owner, name, rest @ ..] => {
                asker.may(self, Kind::Repository)?;
                self.below(request, asker, (owner, name), rest)
            }
            _ => Err(self.not_found()),
        }
    }

    fn below(
        &self,
        request: &Request,
        asker: &Asker,
        (owner, name): (&str, &str),
        rest: &[&str],
    ) -> Result<Reply, Reply> {
        if let Some(repo) = self.repos.iter().find(|repo| repo.was == Some((owner, name))) {
            return Ok(self.moved(request, repo, rest));
        }
        let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        let known = self
            .repos
            .iter()
            .find(|repo| same(repo.owner, owner) && same(repo.name, name));
        let repo = known
            .filter(|repo| asker.sees(repo))
            .ok_or_else(|| self.not_found())?;
        match rest {
            [] => Ok(ok(&repo.told(self.setup.root_url))),
            ["actions", below @ ..] => runs::answer(self, request, asker, repo, below),
            ["commits", branch, "status"] => statuses::answer(self, request, repo, branch),
            _ => Err(self.not_found()),
        }
    }

    fn list(&self, request: &Request, asker: &Asker) -> Reply {
        let mut way = Way::of(request);
        let shown: Vec<Value> = way
            .through(&self.repos)
            .filter(|repo| asker.sees(repo))
            .map(|repo| repo.told(self.setup.root_url))
            .collect();
        paging::page(self, request, &shown, |rows| json!({"ok": true, "data": rows}))
    }

    /// Renamed: the answer is a path of this server, with the path below which it is served.
    fn moved(&self, request: &Request, repo: &Repo, rest: &[&str]) -> Reply {
        let tail = rest.iter().fold(String::new(), |tail, each| tail + "/" + each);
        let query = if request.query.is_empty() {
            String::new()
        } else {
            format!("?{}", request.query)
        };
        let to = format!(
            "{}/api/v1/repos/{}/{}{tail}{query}",
            self.setup.sub_path, repo.owner, repo.name
        );
        Reply::bytes(307, "").with("location", &to)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn no(&self, status: u16, message: &str) -> Reply {
        let swagger = format!("{}/api/swagger", self.setup.root_url);
        Reply::json(status, &json!({"message": message, "url": swagger}))
    }

    fn not_found(&self) -> Reply {
        let swagger = format!("{}/api/swagger", self.setup.root_url);
        let body = json!({"errors": null, "message": "The target couldn't be found.", "url": swagger});
        Reply::json(404, &body)
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ok(body: &Value) -> Reply {
    Reply::json(200, body)
}

/// A segment or a value as it was meant.
fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests;
