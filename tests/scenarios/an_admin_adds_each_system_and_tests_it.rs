//! Gate J1-1, J1-2, 025-027. A valid configuration is stored with what was proven of its credential, is on the record,
//! and its connection test passes stage by stage within five seconds.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ground, Lab, on_each_store};

on_each_store!(an_admin_adds_each_system_and_tests_it);

async fn an_admin_adds_each_system_and_tests_it(ground: Ground) {
    let (world, lab) = (ground.world().start().await, Lab::start().await);

    let added = lab.add_all(world.admin()).await.unwrap();

    for (adapter, target) in &added {
        assert_eq!(target["status"], "ready", "{target}");
        assert_eq!(target["validation"]["verdict"], "passed", "{target}");
        let stages = target["validation"]["stages"].as_array().unwrap();
        assert!(
            stages.len() >= 3 && stages.iter().all(|stage| stage["ok"] == true),
            "{target}"
        );
        let id = target["id"].as_str().unwrap();
        let test = world
            .admin()
            .post(&format!("/api/mcp/adapter/{id}/test"), json!({}))
            .await;
        assert!(test.took < Duration::from_secs(5), "{adapter}: {:?}", test.took);
        assert_eq!(test.json()["ok"], true, "{adapter}: {}", test.text);
    }
    let configured = world.audit_of("adapter.configured").await;
    assert_eq!(configured.len(), added.len(), "{configured:?}");
    assert_eq!(
        world.audit_of("adapter.test_connection.succeeded").await.len(),
        added.len()
    );
    for (adapter, seen) in lab.seen() {
        assert_eq!(seen.writes(), [""; 0], "{adapter}");
    }
}
