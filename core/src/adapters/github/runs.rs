//! `github.get_recent_ci_runs` and `github.get_workflow_run`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Github, lenient,
    no::Wanted,
    page::FOREIGN,
    result,
    route::Route,
    run::{Repository, Run, Told},
    said::{plain, table},
};
use crate::{
    journal::Contact,
    upstream::{ToolResult, UpstreamError, reader::Answer},
};

#[derive(Debug, Deserialize, Serialize)]
struct Recent {
    owner: String,
    repo: String,
    branch: Option<String>,
    event: Option<String>,
    status: Option<String>,
    #[serde(default = "ten", deserialize_with = "lenient::argument")]
    limit: u64,
    #[serde(skip_serializing)]
    cursor: Option<String>,
}

fn ten() -> u64 {
    10
}

#[derive(Debug, Deserialize)]
struct One {
    owner: String,
    repo: String,
    #[serde(deserialize_with = "lenient::argument")]
    run_id: u64,
}

/// A page of runs as GitHub tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Runs {
    #[serde(deserialize_with = "lenient::whole")]
    total_count: Option<u64>,
    #[serde(deserialize_with = "lenient::parts")]
    workflow_runs: Vec<Told>,
}

#[derive(Debug, Serialize)]
struct Page {
    runs: Vec<Run>,
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
}

#[derive(Debug, Serialize)]
struct Found {
    run: Run,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pull_requests: Vec<u64>,
}

impl Github {
    pub(super) async fn recent_runs(
        &self,
        contact: &Contact,
        arguments: &[u8],
    ) -> Result<ToolResult, UpstreamError> {
        let asked: Recent = serde_json::from_slice(arguments).map_err(|_| UpstreamError::Invalid)?;
        let name = format!(
            "github.get_recent_ci_runs {}",
            serde_json::to_string(&asked).unwrap_or_default()
        );
        let Ok(route) = self.page(asked.route(), &name, asked.cursor.as_deref()) else {
            return result::no(FOREIGN);
        };
        let answer = match self.ask_for_page(contact, &route).await {
            Ok(answer) => answer,
            Err(miss) => return result::missed(miss, Wanted::Runs(&asked.owner, &asked.repo)),
        };
        let read = Runs::read(answer.json()?)?;
        let told = read
            .workflow_runs
            .iter()
            .find_map(Told::repository)
            .map(str::to_owned);
        let repository = match told {
            Some(name) => Some(name),
            None => self.now_called(contact, &answer).await,
        };
        let behind = self.behind(&name, &answer.headers);
        let renamed = renamed(&asked.owner, &asked.repo, repository.as_deref());
        // Who asked for so many gets no more, whatever came.
        let most = usize::try_from(asked.limit).unwrap_or(1);
        let is_cut = read.workflow_runs.len() > most;
        let page = Page {
            runs: read
                .workflow_runs
                .into_iter()
                .take(most)
                .filter_map(Run::of)
                .collect(),
            more: behind.more || is_cut,
            next_cursor: behind.next_cursor,
            total_count: read.total_count,
            repository,
        };
        let notes: Vec<String> = renamed.into_iter().chain(behind.note).collect();
        let text = table(&asked.heading(&page), page.runs.iter().map(Run::line), &notes);
        result::told(&text, &page)
    }

    pub(super) async fn workflow_run(
        &self,
        contact: &Contact,
        arguments: &[u8],
    ) -> Result<ToolResult, UpstreamError> {
        let One { owner, repo, run_id } =
            serde_json::from_slice(arguments).map_err(|_| UpstreamError::Invalid)?;
        let id = run_id.to_string();
        let route = Route::in_repo(&owner, &repo, &["actions", "runs", &id]);
        let answer = match self.ask(contact, &route).await {
            Ok(answer) => answer,
            Err(miss) => return result::missed(miss, Wanted::Run(&owner, &repo, run_id)),
        };
        let told: Told = object(answer.json()?)?;
        let repository = told.repository().map(str::to_owned);
        let pull_requests = told.pull_requests();
        let run = Run::of(told).ok_or(UpstreamError::Invalid)?;
        let renamed = renamed(&owner, &repo, repository.as_deref());
        let found = Found {
            run,
            repository,
            pull_requests,
        };
        result::told(&found.text(&owner, &repo, renamed), &found)
    }

    /// What a repository is called that GitHub pointed to by its id, where no row says it.
    async fn now_called(&self, contact: &Contact, answer: &Answer) -> Option<String> {
        let id = answer
            .moved_to
            .as_deref()?
            .strip_prefix("/repositories/")?
            .split('/')
            .next()?;
        let id = id.parse::<u64>().ok()?.to_string();
        let answer = self.ask(contact, &Route::of(["repositories", &id])).await.ok()?;
        object::<Repository>(answer.json().ok()?).ok()?.full_name
    }
}

impl Runs {
    /// The page; a row that cannot be read is left out, an answer without a list cannot be read at all.
    pub(super) fn read(answer: Value) -> Result<Self, UpstreamError> {
        let is_page = answer
            .get("workflow_runs")
            .is_some_and(|rows| rows.is_array() || rows.is_null());
        if !is_page {
            return Err(UpstreamError::Invalid);
        }
        object(answer)
    }

    /// The rows that the tools would tell.
    pub(super) fn rows(self) -> Vec<Run> {
        self.workflow_runs.into_iter().filter_map(Run::of).collect()
    }
}

/// One object; anything else is not what was asked for.
pub(super) fn object<T: serde::de::DeserializeOwned>(answer: Value) -> Result<T, UpstreamError> {
    if !answer.is_object() {
        return Err(UpstreamError::Invalid);
    }
    serde_json::from_value(answer).map_err(|_| UpstreamError::Invalid)
}

impl Recent {
    fn route(&self) -> Route {
        Route::in_repo(&self.owner, &self.repo, &["actions", "runs"])
            .with_some("branch", self.branch.as_deref())
            .with_some("event", self.event.as_deref())
            .with_some("status", self.status.as_deref())
            // Pull requests make a run ten times as long, and this tool does not tell them.
            .with("exclude_pull_requests", "true")
            .with("per_page", self.limit.to_string())
    }

    fn heading(&self, page: &Page) -> String {
        let of = page
            .repository
            .clone()
            .unwrap_or_else(|| format!("{}/{}", self.owner, self.repo));
        let of = plain(&of, 200);
        match (page.runs.len(), page.total_count) {
            (0, _) => format!("No runs of {of}: nothing has run that fits, or its Actions are off."),
            (count, Some(total)) => format!("{count} of {total} runs of {of}, newest first:"),
            (count, None) => format!("{count} runs of {of}, newest first:"),
        }
    }
}

impl Found {
    fn text(&self, owner: &str, repo: &str, renamed: Option<String>) -> String {
        let of = self
            .repository
            .clone()
            .unwrap_or_else(|| format!("{owner}/{repo}"));
        let run = &self.run;
        let mut lines = vec![format!("Run {} of {}: {}", run.id, plain(&of, 200), run.state())];
        let told = [
            ("workflow", &run.name),
            ("title", &run.display_title),
            ("event", &run.event),
            ("branch", &run.head_branch),
            ("commit", &run.head_sha),
            ("from", &run.head_repository),
            ("by", &run.triggering_actor),
            ("started", &run.run_started_at),
            ("changed", &run.updated_at),
            ("page", &run.html_url),
        ];
        let lines_told = told
            .iter()
            .filter_map(|(what, text)| Some(format!("{what}: {}", plain(text.as_deref()?, 200))));
        lines.extend(lines_told);
        lines.extend(
            run.run_attempt
                .filter(|attempt| *attempt > 1)
                .map(|attempt| format!("attempt: {attempt}")),
        );
        if !self.pull_requests.is_empty() {
            let numbers: Vec<String> = self
                .pull_requests
                .iter()
                .take(20)
                .map(|number| format!("#{number}"))
                .collect();
            lines.push(format!("pull requests: {}", numbers.join(", ")));
        }
        lines.extend(renamed);
        lines.join("\n")
    }
}

fn renamed(owner: &str, repo: &str, now: Option<&str>) -> Option<String> {
    let was = format!("{owner}/{repo}");
    let now = now.filter(|now| !now.eq_ignore_ascii_case(&was))?;
    Some(format!(
        "The repository {} is now called {}.",
        plain(&was, 202),
        plain(now, 202)
    ))
}
