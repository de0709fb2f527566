//! The repositories there are, and the search through them.

use serde_json::{Value, json};

use super::decoded;
use crate::Request;

/// Owners and their ids.
const OWNERS: [(&str, u64); 3] = [("acme", 7), ("acme-labs", 8), ("ops", 9)];

/// One repository.
#[derive(Debug, Clone)]
pub(super) struct Repo {
    pub(super) id: u64,
    pub(super) owner: &'static str,
    pub(super) name: &'static str,
    pub(super) private: bool,
    /// Owner and name it had before.
    pub(super) was: Option<(&'static str, &'static str)>,
    /// How its CI is.
    pub(super) ci: Ci,
}

/// How the CI of a repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ci {
    /// By the server's own Actions; states are reported as well.
    Actions,
    /// By somebody else, who reports states. Actions are switched off.
    Outside,
    /// There is none.
    Without,
    /// Nothing was pushed yet.
    Empty,
}

/// All of them: a few with a story, and as many more as two pages need.
pub(super) fn all() -> Vec<Repo> {
    const MORE: [&str; 56] = [
        "api",
        "auth",
        "billing",
        "blog",
        "cache",
        "catalog",
        "chat",
        "cli",
        "crawler",
        "dashboard",
        "docs",
        "edge",
        "events",
        "export",
        "feed",
        "files",
        "forms",
        "gateway",
        "geo",
        "graph",
        "helm",
        "images",
        "import",
        "infra",
        "jobs",
        "keys",
        "ledger",
        "links",
        "logs",
        "mail",
        "maps",
        "media",
        "metrics",
        "mobile",
        "notify",
        "orders",
        "parser",
        "queue",
        "reports",
        "search",
        "shelf",
        "sites",
        "stats",
        "stock",
        "sync",
        "tasks",
        "themes",
        "tools",
        "trace",
        "uploads",
        "users",
        "video",
        "vault",
        "wiki",
        "workers",
        "zones",
    ];
    let repo = |id, owner, name, private, ci| Repo {
        id,
        owner,
        name,
        private,
        was: None,
        ci,
    };
    let mut all = vec![
        repo(11, "acme", "shop", true, Ci::Actions),
        Repo {
            was: Some(("acme", "homepage")),
            ..repo(12, "acme", "website", false, Ci::Actions)
        },
        repo(13, "ops", "deploy", true, Ci::Outside),
        repo(14, "ops", "notes", false, Ci::Without),
        repo(15, "acme-labs", "idea", false, Ci::Empty),
    ];
    all.extend(
        (100_u64..)
            .zip(MORE)
            .map(|(id, name)| repo(id, "acme", name, id % 3 == 0, Ci::Actions)),
    );
    all
}

/// A search: which rows, in which order.
pub(super) struct Way {
    words: Option<String>,
    owner: Option<u64>,
    by_id: bool,
}

impl Way {
    pub(super) fn of(request: &Request) -> Self {
        Self {
            words: request.query("q").map(|words| decoded(words).to_lowercase()),
            owner: request.query("uid").and_then(|id| id.parse().ok()),
            by_id: request.query("sort") == Some("id"),
        }
    }

    pub(super) fn through<'a>(&mut self, all: &'a [Repo]) -> impl Iterator<Item = &'a Repo> {
        let mut found: Vec<&Repo> = all.iter().filter(|repo| self.fits(repo)).collect();
        match self.by_id {
            true => found.sort_by_key(|repo| repo.id),
            false => found.sort_by_key(|repo| repo.name),
        }
        found.into_iter()
    }

    /// Words are looked for in names; with one slash, before it in the owner's and behind it in the repository's.
    fn fits(&self, repo: &Repo) -> bool {
        let named = self
            .words
            .as_deref()
            .is_none_or(|words| match words.split_once('/') {
                Some((owner, name)) => repo.owner.contains(owner) && repo.name.contains(name),
                None => repo.name.contains(words),
            });
        named && self.owner.is_none_or(|owner| repo.owner_id() == owner)
    }
}

impl Repo {
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    fn owner_id(&self) -> u64 {
        OWNERS
            .iter()
            .find(|(name, _)| *name == self.owner)
            .map_or(0, |(_, id)| *id)
    }

    pub(super) fn told(&self, root: &str) -> Value {
        json!({
            "id": self.id,
            "owner": {"id": self.owner_id(), "login": self.owner, "username": self.owner, "email": ""},
            "name": self.name,
            "full_name": self.full_name(),
            "description": if self.id.is_multiple_of(2) { String::new() } else { format!("The {} of {}", self.name, self.owner) },
            "empty": self.ci == Ci::Empty,
            "private": self.private,
            "internal": false,
            "fork": false,
            "template": false,
            "parent": null,
            "mirror": self.name == "infra",
            "archived": self.name == "blog",
            "size": 24 + self.id % 900,
            "language": if self.id.is_multiple_of(5) { "" } else { "Go" },
            "html_url": format!("{root}/{}", self.full_name()),
            "stars_count": self.id % 9,
            "forks_count": self.id % 3,
            "open_issues_count": self.id % 7,
            "open_pr_counter": self.id % 2,
            "default_branch": "main",
            "topics": [],
            "created_at": "2024-03-05T10:11:12+01:00",
            "updated_at": "2026-11-29T08:14:43Z",
            "archived_at": if self.name == "blog" { "2025-02-03T04:05:06Z" } else { "0001-01-01T00:00:00Z" },
            "mirror_updated": "0001-01-01T00:00:00Z",
            "has_actions": self.ci == Ci::Actions,
            "permissions": {"admin": false, "push": false, "pull": true},
        })
    }
}
