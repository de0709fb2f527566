//! Workflow runs that begin, go on and end while one looks.

use std::time::Duration;

use serde_json::{Value, json};

use super::{not_found, ok, page, repos::Repo};
use crate::{Reply, Request};

/// A new run begins every so many seconds.
const EVERY: u64 = 30;
/// It waits this long, then runs until it is this old.
const QUEUED: u64 = 5;
const DONE: u64 = 75;
/// Runs there were before the start.
const BEFORE: u64 = 45;
/// Beyond what a double holds exactly.
const FIRST_ID: u64 = (1 << 53) + 1;

pub(super) fn list(request: &Request, repo: &Repo, now: Duration) -> Reply {
    let fits = |run: &Value, name: &str, key: &str| match request.query(name) {
        None => true,
        Some(wanted) => run[key] == wanted || (name == "status" && run["conclusion"] == wanted),
    };
    let all: Vec<Value> = numbers(now)
        .rev()
        .map(|number| run(number, repo, now))
        .filter(|run| {
            fits(run, "branch", "head_branch") && fits(run, "event", "event") && fits(run, "status", "status")
        })
        .collect();
    page(
        request,
        &all,
        |shown| json!({"total_count": all.len(), "workflow_runs": shown}),
    )
}

pub(super) fn one(id: &str, repo: &Repo, now: Duration) -> Reply {
    let found = numbers(now).find(|number| (FIRST_ID + number).to_string() == id);
    found.map_or_else(not_found, |number| ok(&run(number, repo, now)))
}

fn numbers(now: Duration) -> std::ops::Range<u64> {
    0..BEFORE + 1 + now.as_secs() / EVERY
}

fn run(number: u64, repo: &Repo, now: Duration) -> Value {
    let began = number.saturating_sub(BEFORE) * EVERY;
    let age = match number < BEFORE {
        true => DONE + 1,
        false => now.as_secs().saturating_sub(began),
    };
    let (status, conclusion) = match age {
        0..QUEUED => ("queued", Value::Null),
        QUEUED..DONE => ("in_progress", Value::Null),
        _ if number % 7 == 3 => ("completed", json!("failure")),
        _ if number % 17 == 5 => ("completed", json!("startup_failure")),
        _ => ("completed", json!("success")),
    };
    let by_hand = number % 9 == 4;
    json!({
        "id": FIRST_ID + number,
        "name": if by_hand { Value::Null } else { json!("CI") },
        "head_branch": if by_hand { Value::Null } else { json!("main") },
        "head_sha": format!("{:040x}", number * 0x9e37_79b9 + repo.id),
        "path": ".github/workflows/ci.yml",
        "display_title": format!("Change {number} of {}", repo.name),
        "run_number": number + 1,
        "run_attempt": 1,
        "event": if by_hand { "workflow_dispatch" } else { "push" },
        "status": status,
        "conclusion": conclusion,
        "workflow_id": 159_038,
        "html_url": format!("https://github.com/{}/actions/runs/{}", repo.full_name(), FIRST_ID + number),
        "pull_requests": [],
        "created_at": "2026-11-30T06:00:00Z",
        "updated_at": "2026-11-30T06:01:15Z",
        "run_started_at": "2026-11-30T06:00:00Z",
        "actor": if number.is_multiple_of(11) { Value::Null } else { json!({"login": "octo", "id": 1}) },
        "triggering_actor": {"login": "octo", "id": 1},
        "head_commit": null,
        "head_repository": if number % 10 == 7 { Value::Null } else { json!({"id": repo.id, "full_name": repo.full_name()}) },
        "repository": {"id": repo.id, "name": repo.name, "full_name": repo.full_name(), "private": repo.private},
    })
}
