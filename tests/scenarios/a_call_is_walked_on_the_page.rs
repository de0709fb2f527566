//! Journey 2 and edges 1 to 8 of the gate, in a real browser at the real binary with simulated systems behind it.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{Browser, Gateway, Lab, Walked, until};

const SCRIPT: &str = "calling.mjs";

/// A gateway with the systems behind it and its own host connected.
struct Stage {
    browser: Browser,
    gateway: Gateway,
    lab: Lab,
}

impl Stage {
    async fn of(test: &str, limits: &[&str]) -> Option<Self> {
        let browser = Browser::here(test)?;
        let (gateway, lab) = (Gateway::start(limits).await.unwrap(), Lab::start().await);
        let admin = gateway.admin();
        lab.add_all(&admin).await.unwrap();
        until(Duration::from_secs(20), || async {
            let hosts = admin.get("/api/mcp/adapter?type=ssh").await;
            (hosts.json()["targets"][0]["status"] == "ready").then_some(())
        })
        .await
        .expect("this host is there");
        Some(Self {
            browser,
            gateway,
            lab,
        })
    }

    async fn walk(&self, walk: &str, more: Value) -> Walked {
        let mut told = json!({"walk": walk});
        told.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap_or_default());
        let token = self.gateway.token();
        let walked = self.browser.walk(SCRIPT, self.gateway.url(), &token, told).await;
        walked.unwrap_or_else(|complaint| panic!("{complaint}\n{}", self.gateway.log()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_walked_on_the_page() {
    let Some(stage) = Stage::of("a_call_is_walked_on_the_page", &[]).await else {
        return;
    };
    let node = stage.lab.proxmox().map(|_| json!({"node": "pve1"}));

    let walked = stage.walk("answers", json!({"proxmox": node})).await;

    assert_eq!(walked.steps.len(), 9, "{walked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_is_told_on_the_page() {
    let Some(stage) = Stage::of("what_is_refused_is_told_on_the_page", &[]).await else {
        return;
    };
    let admin = stage.gateway.admin();
    for (adapter, settings, credential) in stage.lab.targets() {
        if adapter == "gitea" {
            admin
                .add_target(adapter, "second", settings, credential)
                .await
                .unwrap();
        }
    }
    let before: usize = stage.lab.contacts();

    let walked = stage.walk("refusals", json!({})).await;

    assert_eq!(walked.steps.len(), 4, "{walked:?}");
    assert!(stage.lab.contacts() > before, "the chosen one was asked");
    for (adapter, seen) in stage.lab.seen() {
        assert_eq!(seen.writes(), [""; 0], "{adapter}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_target_and_a_call_taken_back_are_told_on_the_page() {
    let Some(stage) = Stage::of("a_silent_target_and_a_call_taken_back_are_told_on_the_page", &[]).await
    else {
        return;
    };
    stage.lab.github.pace(Duration::from_secs(60));

    let walked = stage.walk("silence", json!({})).await;

    assert_eq!(walked.steps.len(), 3, "{walked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_that_is_gone_is_told_on_the_page() {
    let Some(stage) = Stage::of("a_credential_that_is_gone_is_told_on_the_page", &[]).await else {
        return;
    };
    let store = rusqlite::Connection::open(stage.gateway.data_dir().join("toolgate.db")).unwrap();
    store.execute("delete from secret", []).unwrap();
    drop(store);

    let walked = stage.walk("secret", json!({})).await;

    assert_eq!(walked.steps.len(), 2, "{walked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_over_its_limit_is_told_when_to_go_on_on_the_page() {
    let test = "a_tenant_over_its_limit_is_told_when_to_go_on_on_the_page";
    let Some(stage) = Stage::of(test, &["--limits-tenant-per-minute", "12"]).await else {
        return;
    };
    let admin = stage.gateway.admin();
    while admin.run("uptime").await.is_ok() {}

    let walked = stage.walk("limit", json!({})).await;

    assert_eq!(walked.steps.len(), 2, "{walked:?}");
}
