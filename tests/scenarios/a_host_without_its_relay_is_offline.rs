//! A host whose relay is away answers 503 at once, and the failure is on the record.

use std::time::Duration;

use toolgate_test_support::World;

#[tokio::test]
async fn a_host_without_its_relay_is_offline() {
    let world = World::new().silent_host("web-1").start().await;

    let refusal = world.run("uptime").await.unwrap_err();

    assert_eq!((refusal.status, refusal.reason.as_str()), (503, "RELAY_OFFLINE"));
    assert!(refusal.took < Duration::from_secs(2), "{:?}", refusal.took);
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (rows[0]["result"].as_str(), rows[0]["reason"].as_str()),
        (Some("failure"), Some("RELAY_OFFLINE"))
    );
}
