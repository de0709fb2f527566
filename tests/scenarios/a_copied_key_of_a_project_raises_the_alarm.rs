//! Two holders of the key of a project's relay take turns: the project is locked, it says so wherever it is told of, the alarm is
//! on the record, and only a new enrolment lifts it.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ground, Project, on_each_store, until};

on_each_store!(a_copied_key_of_a_project_raises_the_alarm);

async fn a_copied_key_of_a_project_raises_the_alarm(ground: Ground) {
    let world = ground
        .world()
        .unlimited()
        .project("alpha")
        .project("beta")
        .start()
        .await;
    let (admin, alpha) = (world.admin(), world.project("alpha"));
    let mut turns = 0;
    while alpha.dial(world.url()).await.is_ok() {
        turns += 1;
        assert!(turns < 10, "taking turns raises no alarm");
    }
    let locked = until(Duration::from_secs(5), || async {
        (admin.told_of_project("alpha").await["project"]["state"] == "locked").then_some(())
    });
    locked.await.expect("the project is told to be locked");
    let identity = world.call("fleet_identity", json!({})).await.unwrap();
    let row = &identity.structured()["relays"][0];
    assert_eq!(
        (row["project"].as_str(), row["state"].as_str()),
        (Some("alpha"), Some("locked")),
        "{row}"
    );
    let refusal = world
        .call("who_are_you", json!({"project": "alpha"}))
        .await
        .unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "PROJECT_OFFLINE")
    );
    let beta = world
        .call("who_are_you", json!({"project": "beta"}))
        .await
        .unwrap();
    assert_eq!(beta.text(), "beta", "the others are not concerned");

    let again = admin
        .post(
            &format!("/api/mcp/adapter/{}/enrolment", alpha.target()),
            json!({}),
        )
        .await;
    let token = again.json()["enrolment"]["token"].as_str().unwrap().to_owned();
    let new = Project::enrol(world.url(), "alpha", alpha.target(), &token)
        .await
        .unwrap();
    admin.project_is_up("alpha", 2).await;
    world
        .call("who_are_you", json!({"project": "alpha"}))
        .await
        .expect("the new relay serves");
    assert_eq!(new.calls().len(), 1);
    assert_eq!(
        alpha.dial(world.url()).await.unwrap_err(),
        "ReEnrol",
        "the copied key is dead"
    );
    assert_eq!(world.audit_of("relay.clone_suspected").await.len(), 1);
}
