//! A revoked relay of a project is out within five seconds, what it was asked is answered for, and it stays out; a project that
//! is removed is gone from every list.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_contract::frame::GoAwayReason;
use toolgate_test_support::{Does, Ground, on_each_store};

on_each_store!(a_revoked_project_loses_its_socket);

async fn a_revoked_project_loses_its_socket(ground: Ground) {
    let world = ground
        .world()
        .unlimited()
        .project("alpha")
        .project("beta")
        .default_project("alpha")
        .start()
        .await;
    let (admin, alpha) = (world.admin(), world.project("alpha"));
    alpha.when("who_are_you", Does::Hangs);
    let (refusal, ()) = tokio::join!(world.call("who_are_you", json!({})), async {
        alpha.called("who_are_you").await.expect("it is asked");
        let began = Instant::now();
        let revoked = admin
            .delete(&format!("/api/mcp/adapter/{}/relay", alpha.target()))
            .await;
        assert_eq!(revoked.status, 204, "{}", revoked.text);
        let seen = alpha.wait(Duration::from_secs(5), |seen| !seen.connected).await;
        assert!(
            !seen.connected,
            "its socket is still open after {:?}",
            began.elapsed()
        );
        assert_eq!(seen.goaway, Some(GoAwayReason::Revoked));
    });
    assert_eq!(refusal.unwrap_err().status, 503);
    alpha
        .dial(world.url())
        .await
        .expect_err("a revoked key opens nothing");
    let refusal = world.call("who_are_you", json!({})).await.unwrap_err();
    assert_eq!(refusal.status, 503, "{refusal:?}");
    assert_eq!(
        admin.told_of_project("alpha").await["project"]["state"],
        "revoked"
    );
    assert_eq!(world.audit_of("relay.revoked").await.len(), 1);

    let removed = admin.delete("/api/fleet/projects/beta").await;
    assert_eq!(removed.status, 204, "{}", removed.text);
    let seen = world
        .project("beta")
        .wait(Duration::from_secs(5), |seen| !seen.connected)
        .await;
    assert!(!seen.connected);
    let refusal = world
        .call("who_are_you", json!({"project": "beta"}))
        .await
        .unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (404, "PROJECT_NOT_FOUND")
    );
    let told = world.call("list_projects", json!({})).await.unwrap();
    assert!(!told.text().contains("beta"), "{}", told.text());
}
