//! The repositories there are.

use serde_json::{Value, json};

/// One repository.
#[derive(Debug)]
pub(super) struct Repo {
    pub(super) id: u64,
    pub(super) owner: &'static str,
    pub(super) name: &'static str,
    pub(super) private: bool,
    /// Owner and name it had before.
    pub(super) was: Option<(&'static str, &'static str)>,
}

/// All of them: a few with names, and as many more as two pages need.
pub(super) fn all() -> Vec<Repo> {
    const MORE: [&str; 40] = [
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
        "helm-charts",
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
    ];
    let repo = |id, name, private, was| Repo {
        id,
        owner: "acme",
        name,
        private,
        was,
    };
    let mut all = vec![
        repo(1_296_269, "shop", true, None),
        repo(1_296_270, "website", false, None),
        repo(1_296_271, "deploy", true, Some(("acme", "old-deploy"))),
    ];
    let more = MORE.iter().zip(2_000_000_u64..);
    all.extend(more.map(|(name, id)| repo(id, *name, id % 3 == 0, None)));
    all
}

impl Repo {
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    pub(super) fn told(&self) -> Value {
        json!({
            "id": self.id,
            "node_id": format!("R_{}", self.id),
            "name": self.name,
            "full_name": self.full_name(),
            "owner": {"login": self.owner, "id": 1, "type": "Organization"},
            "private": self.private,
            "visibility": if self.private { "private" } else { "public" },
            "html_url": format!("https://github.com/{}", self.full_name()),
            "description": if self.id.is_multiple_of(2) { Value::Null } else { json!(format!("The {} of acme", self.name)) },
            "fork": false,
            "homepage": null,
            "language": if self.id.is_multiple_of(5) { Value::Null } else { json!("Rust") },
            "license": null,
            "mirror_url": null,
            "archived": self.name == "blog",
            "disabled": false,
            "default_branch": "main",
            "stargazers_count": self.id % 97,
            "forks_count": self.id % 7,
            "open_issues_count": self.id % 11,
            "size": 108,
            "topics": [],
            "permissions": {"admin": false, "push": false, "pull": true},
            "pushed_at": if self.id.is_multiple_of(13) { Value::Null } else { json!("2026-11-29T08:00:00Z") },
            "created_at": "2024-01-26T19:01:12Z",
            "updated_at": "2026-11-29T08:14:43Z",
        })
    }
}
