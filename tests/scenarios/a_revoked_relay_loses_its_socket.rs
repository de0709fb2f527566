//! Gate 025-027, as far as relays go: an enrolment token works once, a newer connection takes over, and a revoked
//! relay is out within five seconds and stays out.

use std::time::Duration;

use toolgate_contract::frame::GoAwayReason;
use toolgate_test_support::{Ground, Relay, on_each_store};

on_each_store!(a_revoked_relay_loses_its_socket);

async fn a_revoked_relay_loses_its_socket(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let (admin, host) = (world.admin(), world.host("web-1"));
    world.run("uptime").await.unwrap();

    let revoked = admin
        .delete(&format!("/api/mcp/adapter/{}/relay", host.target()))
        .await;
    assert_eq!(revoked.status, 204, "{}", revoked.text);

    let seen = host.wait(Duration::from_secs(5), |seen| !seen.connected).await;
    assert!(!seen.connected, "its socket is still open");
    assert_eq!(seen.goaway, Some(GoAwayReason::Revoked));
    assert_eq!(world.run("uptime").await.unwrap_err().reason, "RELAY_OFFLINE");
    host.dial(world.url())
        .await
        .expect_err("a revoked key opens nothing");
    assert_eq!(world.audit_of("relay.revoked").await.len(), 1);
}

on_each_store!(an_enrolment_token_works_once);

async fn an_enrolment_token_works_once(ground: Ground) {
    let world = ground.world().start().await;
    let (target, token) = world.admin().add_host("web-1").await.unwrap();

    let first = Relay::enrol(world.url(), &target, &token)
        .await
        .expect("the first is welcome");
    let second = Relay::enrol(world.url(), &target, &token)
        .await
        .expect_err("used");

    assert_eq!(second, "TokenRefused");
    world.run("uptime").await.expect("the first is not disturbed");
    assert_eq!(first.received(), ["uptime"]);
    assert_eq!(world.audit_of("relay.enrolled").await.len(), 1);
}

on_each_store!(the_newest_connection_of_a_relay_takes_over);

async fn the_newest_connection_of_a_relay_takes_over(ground: Ground) {
    let world = ground.world().host("web-1").start().await;
    let host = world.host("web-1");

    host.dial(world.url()).await.expect("the same key is welcome");

    let seen = host
        .wait(Duration::from_secs(5), |seen| seen.closed_at.is_some())
        .await;
    assert!(seen.closed_at.is_some(), "the older connection is still open");
    world.run("uptime").await.expect("the newer one serves");
}
