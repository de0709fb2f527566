//! Gate J2-4, E3, E4, 024. Over the limit, without the target that must be named, with the target of another type and
//! with arguments that do not fit, no system is asked anything.

use serde_json::json;
use toolgate_test_support::{Lab, World};

#[tokio::test]
async fn over_the_limit_no_system_is_asked() {
    let (world, lab) = (World::new().user_limit(2).start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();
    let runs = || {
        world.call(
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        )
    };
    for _ in 0..2 {
        runs().await.unwrap();
    }
    let before = lab.contacts();

    let refusal = runs().await.unwrap_err();

    assert_eq!((refusal.status, refusal.reason.as_str()), (429, "RATE_LIMITED"));
    assert!(refusal.retry_after >= Some(1));
    assert_eq!(lab.contacts(), before);
}

#[tokio::test]
async fn of_two_targets_one_must_be_named_and_of_the_right_type() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    let added = lab.add_all(world.admin()).await.unwrap();
    let (adapter, settings, credential) = lab.targets().pop().unwrap();
    let second = world
        .admin()
        .add_target(adapter, "second", settings, credential)
        .await
        .unwrap();
    let tool = match adapter {
        "proxmox" => "proxmox.list_vms",
        _ => "gitea.list_repos",
    };
    let before = lab.contacts();

    let refusal = world.call(tool, json!({})).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (400, "TARGET_REQUIRED")
    );
    assert_eq!(
        refusal.problem["targets"].as_array().unwrap().len(),
        2,
        "{:?}",
        refusal.problem
    );
    let foreign = added.iter().find(|(other, _)| *other != adapter).unwrap().1["id"].clone();
    let refusal = world.call(tool, json!({"target_id": foreign})).await.unwrap_err();
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (404, "TARGET_NOT_FOUND")
    );
    assert_eq!(lab.contacts(), before);

    let outcome = world
        .call(tool, json!({"target_id": second["id"]}))
        .await
        .unwrap();
    assert_eq!(outcome.result["_meta"]["toolgate/target"]["name"], "second");
}

#[tokio::test]
async fn arguments_that_do_not_fit_reach_no_system() {
    let (world, lab) = (World::new().start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();
    let before = lab.contacts();

    for (tool, arguments) in [
        ("proxmox.get_vm_status", json!({})),
        ("proxmox.get_vm_status", json!({"vmid": 0})),
        ("proxmox.get_vm_status", json!({"vmid": "100"})),
        ("proxmox.get_node_metrics", json!({"node": "../access/users"})),
        (
            "github.get_workflow_run",
            json!({"owner": "acme", "repo": "shop"}),
        ),
        (
            "github.get_recent_ci_runs",
            json!({"owner": "a/b", "repo": "shop"}),
        ),
        ("github.get_recent_ci_runs", json!({"owner": "..", "repo": ".."})),
        (
            "gitea.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop?token=x"}),
        ),
        ("gitea.list_repos", json!({"limit": 51})),
    ] {
        let refusal = world.call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (400, "ARGUMENTS_INVALID"),
            "{tool} {arguments}"
        );
    }

    assert_eq!(lab.contacts(), before);
}
