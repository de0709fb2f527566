//! A secondary limit without a word of when to come back cools the credential down for a minute: calls meanwhile are
//! answered with the wait and without a contact.

use serde_json::json;
use toolgate_test_support::{Lab, World};
use toolgate_upstream_sim::github::Limit;

#[tokio::test]
async fn a_system_that_limits_us_is_left_alone_for_as_long_as_it_asks() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();
    lab.github.limit(Some(Limit::Secondary));
    let runs = || {
        world.call(
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        )
    };

    let refusal = runs().await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (429, "UPSTREAM_RATE_LIMITED")
    );
    assert!(refusal.retry_after >= Some(59), "{:?}", refusal.retry_after);

    lab.github.limit(None);
    let before = lab.github.seen().count();
    let refusal = world.call("github.list_repos", json!({})).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (429, "UPSTREAM_RATE_LIMITED")
    );
    assert_eq!(
        lab.github.seen().count(),
        before,
        "the credential cools down, not the route"
    );
}
