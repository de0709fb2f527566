//! A token that may do more than when it was added is drift: found by the daily check before its next use or by a test,
//! refused with CREDENTIAL_DRIFTED, on the record, and accepted again once it is narrow and tested.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_test_support::{Ground, Lab, World, on_each_store};
use toolgate_upstream_sim::github::Token;

on_each_store!(a_credential_that_grew_is_not_used);

async fn a_credential_that_grew_is_not_used(ground: Ground) {
    let (world, lab) = (ground.world().clock_by_hand().start().await, Lab::start().await);
    let added = lab.add_all(world.admin()).await.unwrap();
    let id = added.iter().find(|(adapter, _)| *adapter == "github").unwrap().1["id"].clone();
    let pat = Lab::canaries()[1].1;
    runs(&world).await.unwrap();

    lab.github
        .token(pat, Token::with(&["metadata", "actions", "contents"]));
    runs(&world).await.expect("checked once a day, not at each call");
    world.clock().advance(Duration::from_secs(25 * 3600));
    let refusal = runs(&world).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (403, "CREDENTIAL_DRIFTED")
    );

    let before = lab.github.seen().count();
    let refusal = runs(&world).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (403, "CREDENTIAL_DRIFTED")
    );
    assert_eq!(
        lab.github.seen().count(),
        before,
        "known to have drifted, it is not contacted"
    );
    let path = format!("/api/mcp/adapter/{}", id.as_str().unwrap());
    assert_eq!(
        world.admin().get(&path).await.json()["target"]["status"],
        "drifted"
    );
    let rejected = world.audit_of("adapter.write_rejected").await;
    assert!(
        rejected.iter().any(|row| row["reason"] == "CREDENTIAL_DRIFTED"),
        "{rejected:?}"
    );

    lab.github.token(pat, Token::least());
    let test = world
        .admin()
        .post(&format!("{path}/test"), json!({}))
        .await
        .json();
    assert_eq!(test["ok"], true, "{test}");
    runs(&world).await.unwrap();
    assert_eq!(world.admin().get(&path).await.json()["target"]["status"], "ready");
}

async fn runs(world: &World) -> Result<Value, toolgate_test_support::Refusal> {
    let outcome = world
        .call(
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        )
        .await?;
    Ok(outcome.structured().clone())
}
