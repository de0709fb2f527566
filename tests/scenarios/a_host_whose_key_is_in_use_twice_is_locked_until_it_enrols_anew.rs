//! Two holders of one relay key take turns: the host is locked, everyone is told so, and only a relay that enrols anew
//! lifts that. Neither a printed token nor a restart does, and the copied key is dead afterwards.

use std::time::Duration;

use serde_json::Value;
use toolgate_test_support::{Ground, Relay, World, on_each_store, until};

on_each_store!(a_host_whose_key_is_in_use_twice_is_locked_until_it_enrols_anew);

async fn a_host_whose_key_is_in_use_twice_is_locked_until_it_enrols_anew(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let (admin, host) = (world.admin(), world.host("web-1"));
    let mut turns = 0;
    while host.dial(world.url()).await.is_ok() {
        turns += 1;
        assert!(turns < 10, "taking turns raises no alarm");
    }
    // The alarm is on the record, and with it the lock in the row, a moment after the last holder was sent away.
    let locked = until(Duration::from_secs(5), || async {
        (told(&world, host.target()).await["status"] == "locked").then_some(())
    });
    locked.await.expect("the target is told to be locked");
    // Whoever reads the row may be a moment ahead of the snapshot that calls are carried by.
    let refused = until(Duration::from_secs(5), || async {
        let refused = world.run("uptime").await.unwrap_err();
        assert_eq!(refused.reason, "RELAY_OFFLINE");
        let detail = refused.problem["detail"].as_str().unwrap_or_default();
        detail.contains("locked").then_some(())
    });
    refused.await.expect("calls are told why");

    let again = admin
        .post(
            &format!("/api/mcp/adapter/{}/enrolment", host.target()),
            serde_json::json!({}),
        )
        .await;
    let token = again.json()["enrolment"]["token"].as_str().unwrap().to_owned();
    host.dial(world.url())
        .await
        .expect_err("a printed token lifts nothing");

    let new = Relay::enrol(world.url(), host.target(), &token)
        .await
        .expect("a new enrolment is welcome");
    world.run("uptime").await.expect("the new relay serves");
    assert_eq!(new.received(), ["uptime"]);
    assert_eq!(
        host.dial(world.url()).await.unwrap_err(),
        "ReEnrol",
        "the copied key is dead"
    );
    assert_eq!(told(&world, host.target()).await["status"], "ready");
    assert_eq!(world.audit_of("relay.clone_suspected").await.len(), 1);
}

async fn told(world: &World, target: &str) -> Value {
    world
        .admin()
        .get(&format!("/api/mcp/adapter/{target}"))
        .await
        .json()["target"]
        .clone()
}
