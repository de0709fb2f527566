//! The way through one adapter: added, tested, each of its tools called, and the record read.

use std::time::Instant;

use reqwest::Method;
use serde_json::{Value, json};

use super::account::Account;
use crate::{
    args::SmokeAdapter,
    client::Gateway,
    commands::{list, text},
    failure::Failure,
};

/// One step.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) step: &'static str,
    pub(super) ms: u128,
    /// What came of it, for people.
    pub(super) told: String,
    pub(super) failed: Option<String>,
}

/// Walks it. What does not work is in the steps; only a gateway that cannot be asked is a failure.
pub(super) async fn walk(gateway: &Gateway, account: &Account) -> Result<Vec<Seen>, Failure> {
    let mut walk = Walk {
        gateway,
        seen: vec![],
    };
    let Some(added) = walk.add(account).await else {
        return Ok(walk.seen);
    };
    walk.test(text(&added, "id")).await;
    match account.adapter {
        SmokeAdapter::Github => walk.github().await,
        SmokeAdapter::Gitea => walk.gitea().await,
        SmokeAdapter::Proxmox => walk.proxmox().await,
    }
    walk.refused(account.adapter).await;
    walk.record().await?;
    Ok(walk.seen)
}

struct Walk<'a> {
    gateway: &'a Gateway,
    seen: Vec<Seen>,
}

impl Walk<'_> {
    async fn add(&mut self, account: &Account) -> Option<Value> {
        let body = account.submission();
        let began = Instant::now();
        let added = self.gateway.send(Method::POST, "/api/mcp/adapter", &body).await;
        self.note("target add", began, added, |added| {
            let open = list(&added["validation"], "notProvable");
            let open: Vec<_> = open.iter().filter_map(Value::as_str).collect();
            match open.is_empty() {
                true => "validated".to_owned(),
                false => format!("validated; reading alone cannot prove: {}", open.join(", ")),
            }
        })
    }

    async fn test(&mut self, id: &str) {
        let (began, path) = (Instant::now(), format!("/api/mcp/adapter/{id}/test"));
        let tested = self.gateway.send(Method::POST, &path, &json!({})).await;
        let tested = tested.and_then(|answer| match answer["ok"] == true {
            true => Ok(answer),
            false => Err(Failure::failed(answer["stages"].to_string())),
        });
        self.note("target test", began, tested, |answer| {
            let stages: Vec<_> = list(answer, "stages")
                .iter()
                .map(|stage| text(stage, "name"))
                .collect();
            stages.join(", ")
        });
    }

    async fn github(&mut self) {
        let Some(repos) = self.call("github.list_repos", json!({"limit": 20})).await else {
            return;
        };
        let mut found = None;
        for repo in list(&repos, "repos") {
            let Some((owner, name)) = text(repo, "full_name").split_once('/') else {
                continue;
            };
            let arguments = json!({"owner": owner, "repo": name, "limit": 5});
            let Some(runs) = self.quietly("github.get_recent_ci_runs", &arguments).await else {
                continue;
            };
            if let Some(run) = list(&runs, "runs").first() {
                found = Some((arguments, owner.to_owned(), name.to_owned(), run["id"].clone()));
                break;
            }
        }
        match found {
            None => self.unseen(
                "github.get_recent_ci_runs",
                "none of the first 20 repositories has a run to show",
            ),
            Some((arguments, owner, repo, id)) => {
                self.call("github.get_recent_ci_runs", arguments).await;
                let arguments = json!({"owner": owner, "repo": repo, "run_id": id});
                self.call("github.get_workflow_run", arguments).await;
            }
        }
    }

    async fn gitea(&mut self) {
        let Some(repos) = self.call("gitea.list_repos", json!({"limit": 20})).await else {
            return;
        };
        let first = list(&repos, "repos")
            .iter()
            .find_map(|repo| text(repo, "full_name").split_once('/'));
        match first {
            None => self.unseen("gitea.get_recent_ci_runs", "the token sees no repository"),
            Some((owner, repo)) => {
                let arguments = json!({"owner": owner, "repo": repo, "limit": 5});
                self.call("gitea.get_recent_ci_runs", arguments).await;
            }
        }
    }

    async fn proxmox(&mut self) {
        let Some(guests) = self.call("proxmox.list_vms", json!({})).await else {
            return;
        };
        let running = list(&guests, "vms")
            .iter()
            .find(|guest| guest["status"] == "running");
        let Some(guest) = running.or(list(&guests, "vms").first()) else {
            return self.unseen("proxmox.get_vm_status", "the token sees no guest");
        };
        self.call("proxmox.get_vm_status", json!({"vmid": guest["vmid"]}))
            .await;
        self.call("proxmox.get_node_metrics", json!({"node": guest["node"]}))
            .await;
    }

    // What may not be must not be: one write of the adapter's own name space.
    async fn refused(&mut self, adapter: SmokeAdapter) {
        let (began, name) = (Instant::now(), format!("{}.delete_everything", adapter.name()));
        let body = json!({"name": name, "arguments": {}});
        let answer = self.gateway.send(Method::POST, "/api/mcp/invoke", &body).await;
        let reason = answer
            .err()
            .and_then(|error| Some(error.problem?.get("reason")?.as_str()?.to_owned()));
        let refused = match reason.as_deref() {
            Some("WRITE_REJECTED") => Ok(Value::Null),
            other => Err(Failure::failed(format!(
                "answered {}",
                other.unwrap_or("with a result")
            ))),
        };
        self.note("write refused", began, refused, |_| name.clone());
    }

    async fn record(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        let verified = self
            .gateway
            .send(Method::POST, "/api/audit/verify", &json!({}))
            .await?;
        let intact = match text(&verified, "verdict") == "intact" {
            true => Ok(verified),
            false => Err(Failure::failed(verified.to_string())),
        };
        self.note("record verified", began, intact, |answer| {
            format!("{} rows", answer["rows"])
        });
        Ok(())
    }

    async fn call(&mut self, tool: &'static str, arguments: Value) -> Option<Value> {
        let began = Instant::now();
        let answered = self.ask(tool, &arguments).await;
        let told = self.note(tool, began, answered, |answer| {
            let first = text(&answer["content"][0], "text")
                .lines()
                .next()
                .unwrap_or_default();
            first.to_owned()
        })?;
        Some(told["structuredContent"].clone())
    }

    async fn quietly(&self, tool: &str, arguments: &Value) -> Option<Value> {
        let answer = self.ask(tool, arguments).await.ok()?;
        Some(answer["structuredContent"].clone())
    }

    async fn ask(&self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        let body = json!({"name": tool, "arguments": arguments});
        let answer = self.gateway.send_waiting("/api/mcp/invoke", &body).await?;
        match answer["isError"] == true {
            true => Err(Failure::failed(text(&answer["content"][0], "text"))),
            false => Ok(answer),
        }
    }

    fn unseen(&mut self, step: &'static str, why: &str) {
        self.seen.push(Seen {
            step,
            ms: 0,
            told: String::new(),
            failed: Some(format!("not shown: {why}")),
        });
    }

    fn note(
        &mut self,
        step: &'static str,
        began: Instant,
        answer: Result<Value, Failure>,
        told: impl Fn(&Value) -> String,
    ) -> Option<Value> {
        let (answer, told, failed) = match answer {
            Ok(answer) => {
                let told = told(&answer);
                (Some(answer), told, None)
            }
            Err(failure) => (None, String::new(), Some(failure.message)),
        };
        let ms = began.elapsed().as_millis();
        self.seen.push(Seen {
            step,
            ms,
            told,
            failed,
        });
        answer
    }
}
