//! One run of a workflow, as GitHub tells it and as the tools do.
//!
//! Status and conclusion are open words: GitHub uses some that its own schema does not know.

use serde::{Deserialize, Serialize};

use super::{lenient, repos::Login, said::plain};

/// A run as GitHub tells it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    #[serde(deserialize_with = "lenient::whole")]
    id: Option<u64>,
    #[serde(deserialize_with = "lenient::whole")]
    run_number: Option<u64>,
    #[serde(deserialize_with = "lenient::whole")]
    run_attempt: Option<u64>,
    #[serde(deserialize_with = "lenient::text")]
    name: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    display_title: Option<String>,
    #[serde(deserialize_with = "lenient::whole")]
    workflow_id: Option<u64>,
    #[serde(deserialize_with = "lenient::text")]
    path: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    event: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    status: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    conclusion: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    head_branch: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    head_sha: Option<String>,
    #[serde(deserialize_with = "lenient::part")]
    head_commit: Option<Commit>,
    #[serde(deserialize_with = "lenient::part")]
    head_repository: Option<Repository>,
    #[serde(deserialize_with = "lenient::part")]
    repository: Option<Repository>,
    #[serde(deserialize_with = "lenient::part")]
    actor: Option<Login>,
    #[serde(deserialize_with = "lenient::part")]
    triggering_actor: Option<Login>,
    #[serde(deserialize_with = "lenient::parts")]
    pull_requests: Vec<PullRequest>,
    #[serde(deserialize_with = "lenient::text")]
    html_url: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    created_at: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    updated_at: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    run_started_at: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Commit {
    #[serde(deserialize_with = "lenient::text")]
    message: Option<String>,
}

/// A repository as others mention it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Repository {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) full_name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PullRequest {
    #[serde(deserialize_with = "lenient::whole")]
    number: Option<u64>,
}

/// A run as the tools tell it.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_attempt: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) display_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workflow_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
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
    pub(super) commit_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) head_repository: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) triggering_actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) html_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run_started_at: Option<String>,
}

impl Told {
    /// `owner/name` of the repository that the run is of.
    pub(super) fn repository(&self) -> Option<&str> {
        self.repository.as_ref()?.full_name.as_deref()
    }

    /// Numbers of the pull requests that the run belongs to.
    pub(super) fn pull_requests(&self) -> Vec<u64> {
        self.pull_requests
            .iter()
            .filter_map(|request| request.number)
            .collect()
    }
}

impl Run {
    /// What the tools tell of it; nothing of one without an id, which nobody could ask for.
    pub(super) fn of(told: Told) -> Option<Self> {
        let first_line = |message: String| message.trim_start().lines().next().map(str::to_owned);
        Some(Self {
            id: told.id?,
            run_number: told.run_number,
            run_attempt: told.run_attempt,
            name: told.name,
            display_title: told.display_title,
            workflow_id: told.workflow_id,
            path: told.path,
            event: told.event,
            status: told.status,
            conclusion: told.conclusion,
            head_branch: told.head_branch,
            head_sha: told.head_sha,
            commit_title: told
                .head_commit
                .and_then(|commit| commit.message)
                .and_then(first_line),
            head_repository: told.head_repository.and_then(|repository| repository.full_name),
            actor: told.actor.and_then(|actor| actor.login),
            triggering_actor: told.triggering_actor.and_then(|actor| actor.login),
            html_url: told.html_url,
            created_at: told.created_at,
            updated_at: told.updated_at,
            run_started_at: told.run_started_at,
        })
    }

    /// How far it is, or how it ended.
    pub(super) fn state(&self) -> String {
        let word = self.conclusion.as_deref().or(self.status.as_deref());
        word.map_or_else(|| "unknown".into(), |word| plain(word, 30))
    }

    /// On one line.
    pub(super) fn line(&self) -> String {
        let mut parts = vec![self.id.to_string(), self.state()];
        let of = |text: &Option<String>, most| text.as_deref().map(|text| plain(text, most));
        parts.extend(self.run_number.map(|number| format!("#{number}")));
        parts.extend(of(&self.name, 40));
        parts.extend(of(&self.event, 30));
        parts.extend(of(&self.head_branch, 60));
        parts.extend(of(&self.created_at, 30));
        parts.extend(of(&self.display_title, 80));
        parts.join(" | ")
    }
}
