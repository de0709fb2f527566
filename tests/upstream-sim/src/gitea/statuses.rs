//! What an outside CI has reported for the newest commit.

use serde_json::{Value, json};

use super::{
    State, paging,
    repos::{Ci, Repo},
};
use crate::{Reply, Request};

/// Another commit comes after so many seconds; its checks end after these.
const EVERY: u64 = 120;
const CHECKS: [(&str, u64); 3] = [("ci/build", 20), ("ci/test", 60), ("ci/lint", 10)];

pub(super) fn answer(state: &State, request: &Request, repo: &Repo, branch: &str) -> Result<Reply, Reply> {
    if repo.ci == Ci::Empty || !["main", "dev"].contains(&branch) {
        return Err(state.not_found());
    }
    let age = state.now().as_secs() % EVERY;
    let rows: Vec<Value> = match repo.ci {
        Ci::Without => vec![],
        _ => CHECKS
            .iter()
            .map(|(name, ends)| row(state, name, age >= *ends))
            .collect(),
    };
    let all = age >= 60;
    // Nothing at all is told as pending by some versions, and as nothing by others.
    let none = if state.setup.version.tells_runs() {
        ""
    } else {
        "pending"
    };
    let word = match (rows.is_empty(), all) {
        (true, _) => none,
        (false, true) => "success",
        (false, false) => "pending",
    };
    let total = rows.len();
    Ok(paging::page(state, request, &rows, |rows| {
        json!({
            "state": word,
            "sha": format!("{:040x}", state.now().as_secs() / EVERY + repo.id),
            "total_count": total,
            "statuses": if rows.is_empty() { Value::Null } else { json!(rows) },
            "commit_url": "",
        })
    }))
}

fn row(state: &State, name: &str, ended: bool) -> Value {
    json!({
        "id": 1,
        "status": if ended { "success" } else { "pending" },
        "context": name,
        "description": if ended { "ended well" } else { "on its way" },
        "target_url": format!("https://ci.acme.example/{name}"),
        "created_at": crate::wall::text(state.began_at),
        "updated_at": crate::wall::text(state.began_at),
        "creator": null,
    })
}
