//! A gateway with another identity at the address of the old one gets nothing: the real relay of a project leaves it before it
//! has said anything that a stranger could use, says why, and serves its own gateway again as soon as that is back.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Beside, Clients, HostileGateway, RealProject, Server, World, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_believes_its_own_gateway_alone() {
    let Some(clients) = Clients::here("a_project_believes_its_own_gateway_alone") else {
        return;
    };
    let world = World::new().unlimited().start().await;
    let folder = tempfile::tempdir().unwrap();
    let (_, token) = world.admin().add_project("workshop", "read_write").await.unwrap();
    let command = clients.server(Server::FastMcp, folder.path());
    let beside = Beside::Command(&command);
    let mut relay = RealProject::start(world.url(), "workshop", Some(&token), folder.path(), beside).unwrap();
    relay.up(world.admin(), "workshop").await.unwrap();
    // Its directory is free once it has ended, and not before.
    relay.kill9().await;

    let swapped = HostileGateway::listen().await.unwrap();
    let mut relay = RealProject::start(&swapped.url(), "workshop", None, folder.path(), beside).unwrap();
    let left = tokio::time::timeout(Duration::from_secs(15), swapped.accept())
        .await
        .expect("it dials");
    assert!(left.is_err(), "the relay proved itself to a stranger: {left:?}");
    let said = until(Duration::from_secs(10), || async {
        relay.log().contains("not the pinned one").then_some(())
    });
    said.await
        .unwrap_or_else(|| panic!("it does not say why: {}", relay.log()));
    relay.kill9().await;

    let relay = RealProject::start(world.url(), "workshop", None, folder.path(), beside).unwrap();
    relay.up(world.admin(), "workshop").await.unwrap();
    world.admin().project_is_up("workshop", 6).await;
    let told = world
        .call("add", json!({"a": 1, "b": 2, "project": "workshop"}))
        .await
        .unwrap();
    assert_eq!(told.structured()["result"], 3);
}
