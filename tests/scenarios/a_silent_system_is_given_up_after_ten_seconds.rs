//! Gate E2. A system that is dialled and says nothing is given up between 10.0 and 10.3 seconds, and the failure is on
//! the record.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Lab, World};

#[tokio::test]
async fn a_silent_system_is_given_up_after_ten_seconds() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();
    lab.github.pace(Duration::from_secs(60));

    let refusal = world
        .call(
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        )
        .await
        .unwrap_err();

    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (504, "UPSTREAM_TIMEOUT")
    );
    let window = Duration::from_secs(10)..=Duration::from_millis(10_300);
    assert!(window.contains(&refusal.took), "{:?}", refusal.took);
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(
        (rows[0]["result"].as_str(), rows[0]["reason"].as_str()),
        (Some("failure"), Some("UPSTREAM_TIMEOUT"))
    );
}
