//! Gate J2-2, J2-3. The same list within a minute is not asked for again and tells its age; after a minute, after a
//! change of the target, and for whatever is no inventory, the system is asked.

use std::time::Duration;

use serde_json::json;
use toolgate_test_support::{Ground, Lab, on_each_store};

on_each_store!(an_inventory_is_a_minute_old_at_most_and_says_so);

async fn an_inventory_is_a_minute_old_at_most_and_says_so(ground: Ground) {
    let (world, lab) = (ground.world().clock_by_hand().start().await, Lab::start().await);
    let added = lab.add_all(world.admin()).await.unwrap();
    let github = &added.iter().find(|(adapter, _)| *adapter == "github").unwrap().1;
    lab.github.seen().forget();
    let list = || world.call("github.list_repos", json!({"limit": 2}));

    let first = list().await.unwrap();
    let asked = lab.github.seen().count();
    world.clock().advance(Duration::from_secs(59));
    let second = list().await.unwrap();

    assert!(asked > 0);
    assert_eq!(lab.github.seen().count(), asked, "the list was asked for again");
    assert!(
        first.result["_meta"]["toolgate/cachedAt"].is_null(),
        "{:?}",
        first.result
    );
    assert!(
        second.result["_meta"]["toolgate/cachedAt"].is_string(),
        "{:?}",
        second.result
    );
    assert_eq!(second.result["_meta"]["toolgate/ageSeconds"], 59);
    assert_eq!(second.structured(), first.structured());
    assert_eq!(
        world.audit_of("adapter.capability_invoked").await.len(),
        2,
        "a hit is on the record too"
    );

    let other = world
        .call("github.list_repos", json!({"limit": 3}))
        .await
        .unwrap();
    assert!(
        other.result["_meta"]["toolgate/cachedAt"].is_null(),
        "other arguments, other list"
    );

    let before = lab.github.seen().count();
    world.clock().advance(Duration::from_secs(2));
    let third = list().await.unwrap();
    assert!(
        third.result["_meta"]["toolgate/cachedAt"].is_null(),
        "{:?}",
        third.result
    );
    assert!(lab.github.seen().count() > before);

    let path = format!("/api/mcp/adapter/{}", github["id"].as_str().unwrap());
    let changed = world
        .admin()
        .patch(&path, json!({"credential": {"token": Lab::canaries()[1].1}}))
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let fourth = list().await.unwrap();
    assert!(
        fourth.result["_meta"]["toolgate/cachedAt"].is_null(),
        "{:?}",
        fourth.result
    );

    for _ in 0..2 {
        let before = lab.github.seen().count();
        let live = world
            .call(
                "github.get_recent_ci_runs",
                json!({"owner": "acme", "repo": "shop"}),
            )
            .await
            .unwrap();
        assert!(live.result["_meta"]["toolgate/cachedAt"].is_null());
        assert!(lab.github.seen().count() > before);
    }
}
