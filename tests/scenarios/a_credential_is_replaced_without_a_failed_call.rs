//! A target's credential is replaced while calls go on: none of them fails, and the old one can be revoked afterwards.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::json;
use toolgate_test_support::{Lab, World, until};
use toolgate_upstream_sim::github::Token;

const NEW: &str = "github_pat_11NEW000_takesTheOldOnesPlace";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_is_replaced_without_a_failed_call() {
    let (world, lab) = (World::new().unlimited().start().await, Lab::start().await);
    let added = lab.add_all(world.admin()).await.unwrap();
    let id = added.iter().find(|(adapter, _)| *adapter == "github").unwrap().1["id"].clone();
    let path = format!("/api/mcp/adapter/{}", id.as_str().unwrap());
    let (done, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let calling = async {
        while !done.load(Ordering::Relaxed) {
            world
                .call(
                    "github.get_recent_ci_runs",
                    json!({"owner": "acme", "repo": "shop", "limit": 1}),
                )
                .await
                .unwrap();
            calls.fetch_add(1, Ordering::Relaxed);
        }
    };
    let more_calls = async |more: usize| {
        let wanted = calls.load(Ordering::Relaxed) + more;
        until(Duration::from_secs(20), || async {
            (calls.load(Ordering::Relaxed) >= wanted).then_some(())
        })
        .await
        .expect("calls go on");
    };
    let replacing = async {
        more_calls(3).await;
        lab.github.token(NEW, Token::least());
        let changed = world
            .admin()
            .patch(&path, json!({"credential": {"token": NEW}}))
            .await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        // The one that was under way may still hold the old credential.
        more_calls(2).await;
        lab.github.revoke(Lab::canaries()[1].1);
        more_calls(5).await;
        done.store(true, Ordering::Relaxed);
    };

    tokio::join!(calling, replacing);

    let last = lab.github.seen().all().pop().unwrap();
    assert!(last.header("authorization").ends_with(NEW));
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert!(rows.iter().all(|row| row["result"] == "success"), "{rows:?}");
}
