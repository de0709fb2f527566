//! Gate E2. A host that says nothing is given up between 10.0 and 10.3 seconds, and the failure is on the record.

use std::time::Duration;

use toolgate_test_support::{Reply, World};

#[tokio::test]
async fn a_silent_host_is_given_up_after_ten_seconds() {
    let world = World::new().host("web-1").start().await;
    world.host("web-1").replies(Reply::Hang);

    let refusal = world.run("uptime").await.unwrap_err();

    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (504, "UPSTREAM_TIMEOUT")
    );
    let window = Duration::from_secs(10)..=Duration::from_millis(10_300);
    assert!(window.contains(&refusal.took), "{:?}", refusal.took);
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (rows[0]["result"].as_str(), rows[0]["reason"].as_str()),
        (Some("failure"), Some("UPSTREAM_TIMEOUT"))
    );
    let seen = world
        .host("web-1")
        .wait(Duration::from_secs(1), |seen| !seen.cancelled_at.is_empty())
        .await;
    assert_eq!(seen.cancelled_at.len(), 1, "the host is told that nobody waits");
}
