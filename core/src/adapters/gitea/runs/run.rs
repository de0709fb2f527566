//! One run, out of a row of any version. Pure.

use serde::Serialize;
use serde_json::Value;

use super::tasks::Job;
use crate::adapters::gitea::{row, said};

/// Words for a run that has ended; they say how.
const ENDS: [&str; 4] = ["success", "failure", "cancelled", "skipped"];

/// One run; what the server does not tell is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(in crate::adapters::gitea) struct Run {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_number: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_attempt: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) display_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workflow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) conclusion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) head_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) head_sha: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) html_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) completed_at: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) jobs: Vec<Job>,
}

impl Run {
    /// Out of a row of a list of runs. Gitea and Forgejo name the same things differently.
    pub(in crate::adapters::gitea) fn read(row: &Value) -> Option<Self> {
        if !row.is_object() {
            return None;
        }
        let status = row::text(row, "status");
        let ended = status.clone().filter(|status| ENDS.contains(&status.as_str()));
        Some(Self {
            id: row::ordinal(row, "id"),
            run_number: row::first(row, &["run_number", "index_in_repo"], row::ordinal),
            run_attempt: row::ordinal(row, "run_attempt"),
            display_title: row::first(row, &["display_title", "title"], row::text),
            workflow: workflow(row),
            event: row::first(row, &["event", "trigger_event"], row::text),
            conclusion: row::text(row, "conclusion").or(ended),
            status,
            head_branch: row::first(row, &["head_branch", "prettyref"], row::text),
            head_sha: row::first(row, &["head_sha", "commit_sha"], row::text),
            actor: row::first(row, &["actor", "trigger_actor", "trigger_user"], row::login),
            html_url: row::page(row, "html_url"),
            created_at: row::first(row, &["created_at", "created"], row::time),
            updated_at: row::first(row, &["updated_at", "updated"], row::time),
            started_at: row::first(row, &["started_at", "run_started_at", "started"], row::time),
            completed_at: row::first(row, &["completed_at", "stopped"], row::time),
            jobs: vec![],
        })
    }

    /// Whether a filter's word is true of it.
    pub(super) fn is(&self, word: &str) -> bool {
        let is = |own: &Option<String>| own.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(word));
        is(&self.status) || is(&self.conclusion)
    }

    /// One line for reading.
    pub(super) fn line(&self) -> String {
        let number = self.run_number.map(|number| format!("#{number}"));
        let id = self.id.map(|id| format!("(id {id})"));
        let end = self
            .conclusion
            .clone()
            .filter(|end| Some(end) != self.status.as_ref());
        let sha = self.head_sha.as_ref().map(|sha| sha.chars().take(10).collect());
        let jobs = (!self.jobs.is_empty()).then(|| format!("jobs: {}", Job::words(&self.jobs)));
        let at = self.started_at.clone().or_else(|| self.created_at.clone());
        let parts = [
            number,
            id,
            self.status.clone(),
            end,
            self.workflow.clone(),
            self.event.clone(),
            self.head_branch.clone(),
            sha,
            at,
            self.display_title.as_ref().map(|title| format!("\"{title}\"")),
            jobs,
        ];
        let shown: Vec<String> = parts
            .iter()
            .flatten()
            .map(|part: &String| said::shown(part))
            .collect();
        shown.join(" ")
    }
}

/// `ci.yml` of `ci.yml@refs/heads/main`.
fn workflow(row: &Value) -> Option<String> {
    let path = row::first(row, &["path", "workflow_id"], row::text)?;
    let file = path.split_once('@').map_or(path.as_str(), |(file, _)| file);
    (!file.is_empty()).then(|| file.to_owned())
}
