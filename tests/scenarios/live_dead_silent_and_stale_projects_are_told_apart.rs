//! Gate C10. `gateway_health` tells apart a project that lives, one whose server is down, one that says nothing any more, one
//! that is gone and one that never came, and how long ago each told an event.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_contract::frame::Frame;
use toolgate_test_support::{World, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_dead_silent_and_stale_projects_are_told_apart() {
    let world = World::new()
        .unlimited()
        .project("live")
        .project("down")
        .project("gone")
        .project("talks")
        .silent_project("never")
        .start()
        .await;
    let down = r#"{"state":"down","why":"exit status: 3"}"#;
    world
        .project("down")
        .send(Frame::notify("toolgate/server", down))
        .await;
    world.project("gone").hang_up();
    let event = r#"{"level":"info","data":"a story moved"}"#;
    world
        .project("talks")
        .notify("notifications/message", event)
        .await;

    let told = until(Duration::from_secs(5), || async {
        let told = health(&world).await;
        let settled = told[0]["state"] == "server_down"
            && told[1]["state"] == "offline"
            && told[4]["last_event"].is_string();
        settled.then_some(told)
    });
    let Some(told) = told.await else {
        panic!("{}", health(&world).await);
    };
    let states: Vec<(&str, &str)> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    let expected = [
        ("down", "server_down"),
        ("gone", "offline"),
        ("live", "live"),
        ("never", "waiting"),
        ("talks", "live"),
    ];
    assert_eq!(states, expected);
    assert!(
        told[0]["why"]
            .as_str()
            .unwrap_or_default()
            .contains("exit status: 3"),
        "{told}"
    );
    assert!(
        told[2]["last_seen"].is_string() && told[2]["tools"] == 2,
        "{told}"
    );
    assert!(told[2]["last_event"].is_null(), "it told none: {told}");
    assert!(told[3]["last_seen"].is_null(), "{told}");
    assert!(
        told[4]["event_age_seconds"].as_i64().is_some_and(|age| age < 10),
        "{told}"
    );
    // The same event, and the bounded tail of them, on the project's page.
    let page = world.admin().told_of_project("talks").await;
    assert_eq!(page["events"][0]["method"], "notifications/message", "{page}");
    assert!(
        page["events"][0]["params"]
            .as_str()
            .unwrap()
            .contains("a story moved"),
        "{page}"
    );
}

async fn health(world: &World) -> Value {
    let outcome = world.call("gateway_health", json!({})).await.unwrap();
    outcome.structured()["projects"].clone()
}
