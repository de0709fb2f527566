//! One repository, out of a row. Pure.

use serde::Serialize;
use serde_json::Value;

use crate::adapters::gitea::{row, said};

/// One repository; what the server does not tell is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(in crate::adapters::gitea) struct Repo {
    id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    internal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fork: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    empty: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_branch: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    topics: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stars_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forks_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_issues_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_pr_counter: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<String>,
}

impl Repo {
    /// Out of a row; one without an id is none.
    pub(in crate::adapters::gitea) fn read(row: &Value) -> Option<Self> {
        Some(Self {
            id: row::number(row, "id")?,
            name: row::text(row, "name"),
            full_name: row::text(row, "full_name"),
            owner: row::login(row, "owner"),
            description: row::text(row, "description"),
            html_url: row::page(row, "html_url"),
            private: row::flag(row, "private"),
            internal: row::flag(row, "internal"),
            fork: row::flag(row, "fork"),
            archived: row::flag(row, "archived"),
            mirror: row::flag(row, "mirror"),
            template: row::flag(row, "template"),
            empty: row::flag(row, "empty"),
            language: row::text(row, "language"),
            default_branch: row::text(row, "default_branch"),
            topics: row::texts(row, "topics"),
            stars_count: row::number(row, "stars_count"),
            forks_count: row::number(row, "forks_count"),
            open_issues_count: row::number(row, "open_issues_count"),
            open_pr_counter: row::number(row, "open_pr_counter"),
            size: row::number(row, "size"),
            created_at: row::time(row, "created_at"),
            updated_at: row::time(row, "updated_at"),
            archived_at: row::time(row, "archived_at"),
        })
    }

    /// Whether it belongs to this owner. A row that does not tell its owner was found by the owner's id.
    pub(super) fn is_of(&self, owner: Option<&str>) -> bool {
        match (owner, &self.owner) {
            (Some(asked), Some(is)) => asked.eq_ignore_ascii_case(is),
            _ => true,
        }
    }

    /// One line for reading.
    pub(super) fn line(&self) -> String {
        let name = self.full_name.as_ref().or(self.name.as_ref());
        let mut line = name.map_or_else(|| format!("repository {}", self.id), |name| said::shown(name));
        let marks = [
            (self.private, "private"),
            (self.internal, "internal"),
            (self.fork, "fork"),
            (self.mirror, "mirror"),
            (self.archived, "archived"),
            (self.empty, "empty"),
        ];
        let marks: Vec<&str> = marks
            .iter()
            .filter(|(is, _)| *is == Some(true))
            .map(|(_, mark)| *mark)
            .collect();
        if !marks.is_empty() {
            line.push_str(&format!(" ({})", marks.join(", ")));
        }
        if let Some(what) = &self.description {
            line.push_str(&format!(": {}", said::shown(what)));
        }
        line
    }
}
