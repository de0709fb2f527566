//! `github.list_repos`.

use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Github, lenient,
    no::Wanted,
    page::FOREIGN,
    result,
    route::Route,
    said::{plain, table},
};
use crate::{
    journal::Contact,
    upstream::{ToolResult, UpstreamError},
};

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Question {
    org: Option<String>,
    visibility: Option<String>,
    #[serde(default = "thirty", deserialize_with = "lenient::argument")]
    limit: u64,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

fn thirty() -> u64 {
    30
}

/// A repository as GitHub tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    #[serde(deserialize_with = "lenient::whole")]
    id: Option<u64>,
    #[serde(deserialize_with = "lenient::text")]
    name: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) full_name: Option<String>,
    #[serde(deserialize_with = "lenient::part")]
    pub(super) owner: Option<Login>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) private: Option<bool>,
    #[serde(deserialize_with = "lenient::text")]
    visibility: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    description: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    html_url: Option<String>,
    #[serde(deserialize_with = "lenient::flag")]
    fork: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) archived: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) disabled: Option<bool>,
    #[serde(deserialize_with = "lenient::flag")]
    is_template: Option<bool>,
    #[serde(deserialize_with = "lenient::text")]
    language: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) default_branch: Option<String>,
    #[serde(deserialize_with = "lenient::texts")]
    topics: Vec<String>,
    #[serde(deserialize_with = "lenient::whole")]
    stargazers_count: Option<u64>,
    #[serde(deserialize_with = "lenient::whole")]
    forks_count: Option<u64>,
    #[serde(deserialize_with = "lenient::whole")]
    open_issues_count: Option<u64>,
    #[serde(deserialize_with = "lenient::whole")]
    pub(super) size: Option<u64>,
    #[serde(deserialize_with = "lenient::part")]
    license: Option<License>,
    #[serde(deserialize_with = "lenient::part")]
    permissions: Option<Permissions>,
    #[serde(deserialize_with = "lenient::text")]
    created_at: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    updated_at: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pushed_at: Option<String>,
}

/// Somebody, by login.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Login {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) login: Option<String>,
}

/// What the person behind the token may do there, which is not what the token may.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Permissions {
    #[serde(deserialize_with = "lenient::flag")]
    admin: Option<bool>,
}

impl Told {
    /// Whether the person behind the token administers it.
    pub(super) fn is_administered(&self) -> bool {
        let permissions = self.permissions.as_ref();
        permissions.and_then(|permissions| permissions.admin) == Some(true)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct License {
    #[serde(deserialize_with = "lenient::text")]
    spdx_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    key: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Page {
    repos: Vec<Repo>,
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<bool>,
}

/// A repository as the tool tells it.
#[derive(Debug, Serialize)]
struct Repo {
    id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fork: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_template: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default_branch: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    topics: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stargazers_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forks_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open_issues_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed_at: Option<String>,
}

impl Github {
    pub(super) async fn list_repos(
        &self,
        contact: &Contact,
        arguments: &[u8],
    ) -> Result<ToolResult, UpstreamError> {
        let question: Question = serde_json::from_slice(arguments).map_err(|_| UpstreamError::Invalid)?;
        let name = format!(
            "github.list_repos {}",
            serde_json::to_string(&question).unwrap_or_default()
        );
        let Ok(route) = self.page(question.route(), &name, question.cursor.as_deref()) else {
            return result::no(FOREIGN);
        };
        let wanted = question.org.as_deref().map_or(Wanted::Mine, Wanted::Org);
        let answer = match self.ask_for_page(contact, &route).await {
            Ok(answer) => answer,
            Err(miss) => return result::missed(miss, wanted),
        };
        let rows = rows(&answer.json()?)?;
        let withheld = withheld(&answer.headers);
        let behind = self.behind(&name, &answer.headers);
        // Who asked for so many gets no more, whatever came.
        let most = usize::try_from(question.limit).unwrap_or(1);
        let is_cut = rows.len() > most;
        let page = Page {
            repos: rows.into_iter().take(most).filter_map(Repo::of).collect(),
            more: behind.more || is_cut,
            next_cursor: behind.next_cursor,
            partial: withheld.map(|_| true),
        };
        let notes: Vec<String> = withheld.map(sign_on).into_iter().chain(behind.note).collect();
        let heading = heading(page.repos.len(), question.org.as_deref());
        let text = table(&heading, page.repos.iter().map(Repo::line), &notes);
        result::told(&text, &page)
    }
}

/// The rows of a page. A row that cannot be read is left out; an answer that is no list cannot be read at all.
pub(super) fn rows(answer: &Value) -> Result<Vec<Told>, UpstreamError> {
    let rows = answer
        .as_array()
        .or_else(|| answer.get("repositories")?.as_array());
    rows.map(|rows| lenient::rows(rows.clone()))
        .ok_or(UpstreamError::Invalid)
}

impl Question {
    // `type` and `visibility` are never sent together: GitHub refuses that.
    fn route(&self) -> Route {
        let visibility = self.visibility.as_deref();
        let route = match &self.org {
            Some(org) => Route::of(["orgs", org, "repos"]).with_some("type", visibility),
            None => Route::of(["user", "repos"]).with_some("visibility", visibility),
        };
        route.with("per_page", self.limit.to_string())
    }
}

impl Repo {
    fn of(told: Told) -> Option<Self> {
        let license = told.license.and_then(|license| license.spdx_id.or(license.key));
        Some(Self {
            id: told.id?,
            name: told.name,
            full_name: told.full_name,
            owner: told.owner.and_then(|owner| owner.login),
            private: told.private,
            visibility: told.visibility,
            description: told.description,
            html_url: told.html_url,
            fork: told.fork,
            archived: told.archived,
            disabled: told.disabled,
            is_template: told.is_template,
            language: told.language,
            default_branch: told.default_branch,
            topics: told.topics,
            stargazers_count: told.stargazers_count,
            forks_count: told.forks_count,
            open_issues_count: told.open_issues_count,
            size: told.size,
            license,
            created_at: told.created_at,
            updated_at: told.updated_at,
            pushed_at: told.pushed_at,
        })
    }

    fn line(&self) -> String {
        let name = self.full_name.as_deref().or(self.name.as_deref());
        let mut parts = vec![name.map_or_else(|| self.id.to_string(), |name| plain(name, 140))];
        let seen = match (&self.visibility, self.private) {
            (Some(visibility), _) => Some(plain(visibility, 20)),
            (None, Some(true)) => Some("private".into()),
            (None, Some(false)) => Some("public".into()),
            (None, None) => None,
        };
        parts.extend(seen);
        let flags = [
            (self.archived, "archived"),
            (self.disabled, "disabled"),
            (self.fork, "fork"),
        ];
        parts.extend(
            flags
                .iter()
                .filter(|(is, _)| *is == Some(true))
                .map(|(_, word)| (*word).to_owned()),
        );
        parts.extend(self.language.as_deref().map(|language| plain(language, 30)));
        parts.extend(
            self.pushed_at
                .as_deref()
                .map(|at| format!("pushed {}", plain(at, 30))),
        );
        parts.extend(self.description.as_deref().map(|text| plain(text, 80)));
        parts.join(" | ")
    }
}

fn heading(count: usize, org: Option<&str>) -> String {
    let whose = org.map_or_else(
        || "that the token can read".into(),
        |org| format!("of {}", plain(org, 100)),
    );
    match count {
        0 => format!("No repositories {whose} on this page."),
        1 => format!("1 repository {whose}:"),
        count => format!("{count} repositories {whose}:"),
    }
}

/// How many organisations' repositories GitHub left out, if it says so.
fn withheld(headers: &HeaderMap) -> Option<usize> {
    let sso = headers.get("x-github-sso")?.to_str().ok()?;
    let rest = sso.trim_start().strip_prefix("partial-results")?;
    let ids = rest.split_once("organizations=").map_or("", |(_, ids)| ids);
    Some(ids.split(',').filter(|id| !id.trim().is_empty()).count())
}

fn sign_on(organisations: usize) -> String {
    let whose = match organisations {
        0 => "some organisations".to_owned(),
        1 => "1 organisation".to_owned(),
        count => format!("{count} organisations"),
    };
    format!(
        "This list is not whole: GitHub left out repositories of {whose} whose single sign-on the token is not authorised for."
    )
}
