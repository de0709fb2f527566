//! Gate C12. `fleet_identity` compares the key that a project's relay enrolled with against the one it shows now. A relay with
//! another key is kept out and shown; an admin, and nobody else, may pin what it shows, and that is on the record.

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Role, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_identity_is_shown_and_repinned_by_an_admin_only() {
    let world = World::new()
        .unlimited()
        .project("alpha")
        .project("beta")
        .silent_project("gamma")
        .default_project("alpha")
        .principal("engineer", Role::Engineer)
        .start()
        .await;
    let (admin, engineer) = (world.admin(), world.as_principal("engineer"));
    let told = identity(admin, "alpha").await;
    assert_eq!(told["state"], "match", "{told}");
    assert!(
        told["pinned"].is_string() && told["pinned"] == told["live"],
        "{told}"
    );
    assert_eq!(identity(admin, "gamma").await["state"], "waiting");
    let pinned = told["pinned"].clone();

    let anew = world.project("alpha").set_up_anew().unwrap();
    // While the right relay is there, an impostor is shown beside it.
    anew.dial(world.url())
        .await
        .expect_err("an unknown key opens nothing");
    let told = identity(admin, "alpha").await;
    assert_eq!(
        (&told["state"], &told["live"]),
        (&json!("match"), &pinned),
        "{told}"
    );
    assert!(
        told["kept_out"].is_string() && told["kept_out"] != pinned,
        "{told}"
    );
    world.project("alpha").hang_up();
    anew.dial(world.url())
        .await
        .expect_err("an unknown key opens nothing");
    let told = identity(admin, "alpha").await;
    assert_eq!(told["state"], "mismatch", "{told}");
    assert_eq!(told["pinned"], pinned);
    let live = told["live"].as_str().expect("the key that was shown").to_owned();
    assert_ne!(pinned, live.as_str());
    assert_eq!(identity(admin, "beta").await["state"], "match");

    // Not by an engineer, not another key than the one that was shown, and not for a project that nobody knows.
    let refusal = repin(engineer, "alpha", &live).await.unwrap_err();
    assert_eq!((refusal.status, refusal.reason.as_str()), (403, "ROLE_FORBIDDEN"));
    let other = pinned.as_str().unwrap();
    assert!(
        repin(admin, "alpha", &format!("{}x", &other[..other.len() - 1]))
            .await
            .is_err()
    );
    assert!(repin(admin, "nobody", &live).await.is_err());
    anew.dial(world.url()).await.expect_err("nothing was pinned");

    repin(admin, "alpha", &live).await.expect("an admin may");
    anew.dial(world.url())
        .await
        .expect("its key is the pinned one now");
    admin.project_is_up("alpha", 2).await;
    let told = identity(admin, "alpha").await;
    assert_eq!(
        (told["state"].as_str(), told["pinned"].as_str()),
        (Some("match"), Some(&*live)),
        "{told}"
    );
    assert_eq!(
        world.call("who_are_you", json!({})).await.unwrap().text(),
        "alpha"
    );
    world
        .project("alpha")
        .dial(world.url())
        .await
        .expect_err("the former key is dead");

    let rows = world.audit_of("relay.repinned").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = rows[0].to_string();
    assert!(row.contains(&live) && row.contains(other), "both keys: {row}");
}

async fn identity(caller: &Caller, project: &str) -> Value {
    let outcome = caller.call("fleet_identity", json!({})).await.unwrap();
    let rows = outcome.structured()["relays"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    rows.into_iter()
        .find(|row| row["project"] == project)
        .unwrap_or_default()
}

async fn repin(caller: &Caller, project: &str, key: &str) -> Result<(), toolgate_test_support::Refusal> {
    let outcome = caller
        .call("fleet_identity", json!({"repin": project, "key": key}))
        .await?;
    assert_ne!(outcome.result["isError"], true, "{:?}", outcome.result);
    Ok(())
}
