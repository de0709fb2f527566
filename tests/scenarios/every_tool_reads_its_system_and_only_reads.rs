//! Gate 018, 020-023, J2-1. Each of the eight tools brings what its system knows, as text and in the form of its schema;
//! whatever is asked, the systems see GETs and nothing else.

use serde_json::{Value, json};
use toolgate_test_support::{Ground, Lab, World, on_each_store};

on_each_store!(every_tool_reads_its_system_and_only_reads);

async fn every_tool_reads_its_system_and_only_reads(ground: Ground) {
    let (world, lab) = (ground.world().start().await, Lab::start().await);
    lab.add_all(world.admin()).await.unwrap();

    let repos = call(&world, "github.list_repos", json!({"org": "acme", "limit": 5})).await;
    assert_eq!(repos["repos"].as_array().unwrap().len(), 5);
    assert_eq!(repos["more"], true);
    let next = json!({"org": "acme", "limit": 5, "cursor": repos["next_cursor"]});
    let second = call(&world, "github.list_repos", next).await;
    assert_ne!(second["repos"][0]["id"], repos["repos"][0]["id"]);
    let shop = json!({"owner": "acme", "repo": "shop", "limit": 3});
    let runs = call(&world, "github.get_recent_ci_runs", shop).await;
    let id = runs["runs"][0]["id"].as_u64().unwrap();
    assert!(id > 1 << 53, "{runs}");
    let one = json!({"owner": "acme", "repo": "shop", "run_id": id});
    let run = call(&world, "github.get_workflow_run", one).await;
    assert_eq!(run["run"]["id"].as_u64(), Some(id));
    let renamed = json!({"owner": "acme", "repo": "old-deploy"});
    let moved = call(&world, "github.get_recent_ci_runs", renamed).await;
    assert_eq!(moved["repository"], "acme/deploy", "{moved}");

    let repos = call(&world, "gitea.list_repos", json!({})).await;
    let name = repos["repos"][0]["full_name"].as_str().unwrap();
    let (owner, repo) = name.split_once('/').unwrap();
    let runs = call(
        &world,
        "gitea.get_recent_ci_runs",
        json!({"owner": owner, "repo": repo}),
    )
    .await;
    assert!(runs["source"].is_string(), "{runs}");

    if lab.proxmox().is_some() {
        let guests = call(&world, "proxmox.list_vms", json!({})).await;
        assert_eq!(guests["vms"].as_array().unwrap().len(), 10, "{guests}");
        let guest = call(&world, "proxmox.get_vm_status", json!({"vmid": 102})).await;
        assert_eq!(
            (&guest["name"], &guest["status"]),
            (&json!("db-1"), &json!("running"))
        );
        let node = call(&world, "proxmox.get_node_metrics", json!({"node": "pve1"})).await;
        assert!(node["samples"].as_array().unwrap().len() > 10, "{node}");
    }

    for (adapter, seen) in lab.seen() {
        assert!(seen.count() > 0, "{adapter}");
        assert_eq!(seen.writes(), [""; 0], "{adapter}");
    }
    let rows = world.audit_of("adapter.capability_invoked").await;
    assert!(rows.iter().all(|row| row["result"] == "success"), "{rows:?}");
}

async fn call(world: &World, tool: &str, arguments: Value) -> Value {
    let outcome = world.call(tool, arguments).await.unwrap();
    assert_ne!(outcome.result["isError"], true, "{tool}: {}", outcome.text());
    assert!(!outcome.text().is_empty(), "{tool}");
    outcome.structured().clone()
}
