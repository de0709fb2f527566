use toolgate_contract::v1::ErrorReason;

use super::*;
use crate::changes::tests::ground::{FIRST_ROWS, Ground, detail};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_hidden_at_once_and_the_change_is_on_the_record() {
    let ground = Ground::new().await;
    let policies = Policies::new(ground.changes.clone());
    let uptime = registry::tool("ssh.run_whitelisted_command").unwrap();
    assert!(ground.snapshot().await.shows(uptime, None));

    let asked = names(&[
        "ssh_run_whitelisted_command",
        "github.list_repos",
        "github.list_repos",
    ]);
    let told = policies.update(ground.admin(), &asked).await.unwrap();
    assert_eq!(told, ["github.list_repos", "ssh.run_whitelisted_command"]);
    assert!(!ground.snapshot().await.shows(uptime, None));

    policies
        .update(ground.admin(), &names(&["github.list_repos"]))
        .await
        .unwrap();
    assert!(ground.snapshot().await.shows(uptime, None));
    assert_eq!(
        policies.get(ground.tenant()).await.unwrap(),
        ["github.list_repos"]
    );

    let record = ground.record().await;
    let details: Vec<_> = record[FIRST_ROWS..].iter().map(detail).collect();
    let both = json!(["github.list_repos", "ssh.run_whitelisted_command"]);
    let expected = [
        json!({"before": [], "after": both}),
        json!({"before": both, "after": ["github.list_repos"]}),
    ];
    assert_eq!(details, expected);
}

#[tokio::test]
async fn unknown_names_are_refused_with_the_nearest_known_one() {
    let ground = Ground::new().await;
    let policies = Policies::new(ground.changes.clone());
    let asked = names(&["proxmox.list_vm", "github.list_repos", "zzz\n"]);
    let told = policies.update(ground.admin(), &asked).await.unwrap_err();
    assert_eq!(told.reason(), ErrorReason::ArgumentsInvalid);
    let expected = "disabled_tools: no tool named proxmox.list_vm (the nearest is proxmox.list_vms), zzz\\n";
    assert_eq!(told.to_string(), expected);
    assert_eq!(policies.get(ground.tenant()).await.unwrap(), [] as [&str; 0]);
}

#[tokio::test]
async fn an_update_that_changes_nothing_leaves_no_row() {
    let ground = Ground::new().await;
    let policies = Policies::new(ground.changes.clone());
    policies
        .update(ground.admin(), &names(&["github.list_repos"]))
        .await
        .unwrap();
    policies
        .update(ground.admin(), &names(&["github_list_repos"]))
        .await
        .unwrap();
    assert_eq!(ground.since_start().await, ["policy.changed"]);
}

#[tokio::test]
async fn a_policy_is_its_tenants_own() {
    let ground = Ground::new().await;
    let policies = Policies::new(ground.changes.clone());
    let stranger = ground.stranger().await;
    policies
        .update(stranger.clone(), &names(&["github.list_repos"]))
        .await
        .unwrap();
    assert_eq!(policies.get(ground.tenant()).await.unwrap(), [] as [&str; 0]);
    assert_eq!(
        policies.get(&stranger.tenant).await.unwrap(),
        ["github.list_repos"]
    );
}
