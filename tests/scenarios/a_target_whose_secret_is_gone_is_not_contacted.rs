//! Gate E6. Where the credential of a target cannot be had, the call is answered within five seconds, the system is not
//! contacted, and the failure is on the record.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Lab, World};

#[tokio::test]
async fn a_target_whose_secret_is_gone_is_not_contacted() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();
    let dir = world.data_dir().join("toolgate.db");
    let store = rusqlite::Connection::open(dir).unwrap();
    store.execute("delete from secret", []).unwrap();
    drop(store);
    let before = lab.contacts();

    let refusal = world
        .call(
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        )
        .await
        .unwrap_err();

    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "SECRET_UNAVAILABLE")
    );
    assert!(refusal.took < Duration::from_secs(5), "{:?}", refusal.took);
    assert_eq!(lab.contacts(), before);
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert_eq!(
        (rows[0]["result"].as_str(), rows[0]["reason"].as_str()),
        (Some("failure"), Some("SECRET_UNAVAILABLE"))
    );
}
