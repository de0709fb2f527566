//! Runs that begin, wait, go on and end while one looks, and the jobs that they are made of.

use std::ops::Range;

use serde_json::{Value, json};

use super::{
    State,
    access::Asker,
    ok, paging,
    repos::{Ci, Repo},
};
use crate::{Reply, Request, wall};

/// A new run begins every so many seconds, waits, and has ended at this age.
const EVERY: u64 = 30;
const WAITS: u64 = 5;
const DONE: u64 = 75;
/// Runs there were before the start.
const BEFORE: u64 = 45;
/// Beyond what a double holds exactly.
const FIRST_ID: u64 = (1 << 53) + 1;
const JOBS: [&str; 3] = ["build", "test", "deploy"];
const NEVER: &str = "0001-01-01T00:00:00Z";

/// How far a run is, in the server's own words.
struct Run {
    number: u64,
    status: &'static str,
    began: u64,
    ended: Option<u64>,
    branch: &'static str,
    event: &'static str,
}

pub(super) fn answer(
    state: &State,
    request: &Request,
    asker: &Asker,
    repo: &Repo,
    below: &[&str],
) -> Result<Reply, Reply> {
    let version = state.setup.version;
    let known = match below {
        ["tasks"] => version.tells_jobs(),
        ["runs", ..] => version.tells_runs(),
        _ => false,
    };
    if !known {
        return Err(state.not_found());
    }
    if asker.is_nobody() {
        return Err(state.no(401, "token is required"));
    }
    if repo.ci != Ci::Actions {
        let text = "user should have specific read permission or be a repo admin or a site admin";
        return Err(state.no(403, text));
    }
    match below {
        ["tasks"] => Ok(tasks(state, request, repo)),
        ["runs"] => runs(state, request, repo),
        ["runs", id] => {
            let mut all = all(state);
            let run = all.find(|run| (FIRST_ID + run.number).to_string() == *id);
            run.map(|run| ok(&run.told(state, repo)))
                .ok_or_else(|| state.not_found())
        }
        _ => Err(state.not_found()),
    }
}

fn runs(state: &State, request: &Request, repo: &Repo) -> Result<Reply, Reply> {
    let wanted = |name: &str| request.query(name).map(super::decoded);
    let (branch, event, status) = (wanted("branch"), wanted("event"), wanted("status"));
    let statuses = match status.as_deref() {
        None => None,
        Some(word) => Some(native(state, word).ok_or_else(|| state.no(400, "Invalid status"))?),
    };
    // Forgejo knows no filter by branch.
    let branch = branch.filter(|_| !state.setup.version.is_forgejo());
    let rows: Vec<Value> = all(state)
        .filter(|run| {
            branch
                .as_deref()
                .is_none_or(|branch| run.branch == branch && run.event == "push")
        })
        .filter(|run| event.as_deref().is_none_or(|event| run.event == event))
        .filter(|run| statuses.as_ref().is_none_or(|known| known.contains(&run.status)))
        .map(|run| run.told(state, repo))
        .collect();
    let total = rows.len();
    Ok(paging::page(
        state,
        request,
        &rows,
        |rows| json!({"workflow_runs": rows, "total_count": total}),
    ))
}

/// The server's own words for a word of a filter.
fn native(state: &State, word: &str) -> Option<Vec<&'static str>> {
    let own = [
        "waiting",
        "running",
        "success",
        "failure",
        "cancelled",
        "skipped",
        "blocked",
    ];
    if state.setup.version.is_forgejo() {
        return own.iter().find(|own| **own == word).map(|own| vec![*own]);
    }
    match word {
        "queued" => Some(vec!["waiting"]),
        "pending" | "waiting" | "requested" | "action_required" => Some(vec!["blocked"]),
        "in_progress" => Some(vec!["running"]),
        "completed" => Some(vec!["success", "failure", "cancelled", "skipped"]),
        "success" => Some(vec!["success"]),
        "failure" => Some(vec!["failure"]),
        "cancelled" | "timed_out" => Some(vec!["cancelled"]),
        "skipped" | "neutral" => Some(vec!["skipped"]),
        _ => None,
    }
}

/// Jobs that a runner has taken: none of a run that waits, and none that others have to end before.
fn tasks(state: &State, request: &Request, repo: &Repo) -> Reply {
    let rows: Vec<Value> = all(state).flat_map(|run| run.jobs(state, repo)).collect();
    let total = rows.len();
    paging::page(
        state,
        request,
        &rows,
        |rows| json!({"workflow_runs": rows, "total_count": total}),
    )
}

/// Newest first.
fn all(state: &State) -> impl Iterator<Item = Run> {
    let now = state.now().as_secs();
    let numbers: Range<u64> = 0..BEFORE + 1 + now / EVERY;
    numbers.rev().map(move |number| Run::at(number, now))
}

impl Run {
    fn at(number: u64, now: u64) -> Self {
        let is_old = number < BEFORE;
        // Seconds since the start; those of before lie behind it, ten minutes apart.
        let age = if is_old {
            (BEFORE - number) * 600
        } else {
            now - (number - BEFORE) * EVERY
        };
        let status = match age {
            0..WAITS => "waiting",
            WAITS..DONE => "running",
            _ if number % 7 == 3 => "failure",
            _ if number % 17 == 5 => "cancelled",
            _ => "success",
        };
        let began = (1_000_000 + now).saturating_sub(age);
        Self {
            number: number + 1,
            status,
            began,
            ended: (age >= DONE).then_some(began + DONE),
            branch: if number % 5 == 2 { "dev" } else { "main" },
            event: if number % 9 == 4 { "pull_request" } else { "push" },
        }
    }

    fn told(&self, state: &State, repo: &Repo) -> Value {
        match state.setup.version.is_forgejo() {
            true => self.of_forgejo(state, repo),
            false => self.of_gitea(state, repo),
        }
    }

    /// What is empty is not written, and what never was is 1970.
    fn of_gitea(&self, state: &State, repo: &Repo) -> Value {
        let status = match self.status {
            "waiting" => "queued",
            "running" => "in_progress",
            _ => "completed",
        };
        let mut told = json!({
            "id": FIRST_ID + self.number,
            "url": format!("{}/api/v1/repos/{}/actions/runs/{}", state.setup.root_url, repo.full_name(), FIRST_ID + self.number),
            "html_url": self.page(state, repo),
            "display_title": self.title(),
            "path": format!("ci.yml@refs/heads/{}", self.branch),
            "event": self.event,
            "run_attempt": 0,
            "run_number": self.number,
            "head_sha": self.sha(repo),
            "status": status,
            "started_at": if self.status == "waiting" { "1970-01-01T00:00:00Z".into() } else { at(state, self.began + WAITS) },
            "completed_at": self.ended.map_or_else(|| "1970-01-01T00:00:00Z".into(), |ended| at(state, ended)),
            "actor": {"id": 3, "login": "sim-user"},
            "trigger_actor": {"id": 3, "login": "sim-user"},
            "repository": repo.told(state.setup.root_url),
        });
        if self.ended.is_some() {
            told["conclusion"] = self.status.into();
        }
        // A pull request has no branch of its own here.
        if self.event == "push" {
            told["head_branch"] = self.branch.into();
        }
        told
    }

    fn of_forgejo(&self, state: &State, repo: &Repo) -> Value {
        json!({
            "id": FIRST_ID + self.number,
            "index_in_repo": self.number,
            "title": self.title(),
            "workflow_id": "ci.yml",
            "status": self.status,
            "event": self.event,
            "commit_sha": self.sha(repo),
            "prettyref": self.branch,
            "trigger_user": {"id": 3, "login": "sim-user"},
            "html_url": self.page(state, repo),
            "created": at(state, self.began),
            "started": if self.status == "waiting" { NEVER.to_owned() } else { at(state, self.began + WAITS) },
            "stopped": self.ended.map_or_else(|| NEVER.to_owned(), |ended| at(state, ended)),
            "updated": at(state, self.ended.unwrap_or(self.began)),
            "duration": 0,
        })
    }

    /// Newest first. The later ones begin when the former have ended.
    fn jobs(&self, state: &State, repo: &Repo) -> Vec<Value> {
        let taken = match self.status {
            "waiting" => 0,
            "running" => 2,
            _ => JOBS.len(),
        };
        let job = |n: usize| {
            let status = match self.status {
                "running" if n == 0 => "success",
                "failure" if n == 0 => "success",
                "failure" if n == 2 => "skipped",
                status => status,
            };
            json!({
                "id": self.number * 10 + n as u64,
                "name": JOBS[n],
                "head_branch": self.branch,
                "head_sha": self.sha(repo),
                "run_number": self.number,
                "event": self.event,
                "display_title": self.title(),
                "status": status,
                "workflow_id": "ci.yml",
                "url": self.page(state, repo),
                "created_at": at(state, self.began),
                "updated_at": at(state, self.ended.unwrap_or(self.began + WAITS)),
                "run_started_at": if status == "skipped" { NEVER.to_owned() } else { at(state, self.began + WAITS + n as u64) },
            })
        };
        (0..taken).rev().map(job).collect()
    }

    fn title(&self) -> String {
        format!("Change {}", self.number)
    }

    fn sha(&self, repo: &Repo) -> String {
        let part = |odd: u64| (self.number << 20 | repo.id).wrapping_mul(odd);
        format!(
            "{:016x}{:016x}{:08x}",
            part(0x9e37_79b9_7f4a_7c15),
            part(0xd6e8_feb8_6659_fd93),
            repo.id
        )
    }

    fn page(&self, state: &State, repo: &Repo) -> String {
        format!(
            "{}/{}/actions/runs/{}",
            state.setup.root_url,
            repo.full_name(),
            self.number
        )
    }
}

/// A second of this world, which began at its second 1,000,000.
fn at(state: &State, second: u64) -> String {
    wall::text((state.began_at + second).saturating_sub(1_000_000))
}
