//! Gate E4. Wrong arguments are told with every violation and its place, before any target is looked at.

use serde_json::{Value, json};
use toolgate_test_support::World;

#[tokio::test]
async fn arguments_are_held_against_the_schema() {
    let world = World::new().unlimited().host("web-1").start().await;
    let cases = [
        ("proxmox.get_vm_status", json!({}), vec!["required"]),
        ("proxmox.get_vm_status", json!({"vmid": "100"}), vec!["type"]),
        ("proxmox.get_vm_status", json!({"vmid": 0}), vec!["minimum"]),
        (
            "proxmox.get_vm_status",
            json!({"vmid": 1_000_000_000}),
            vec!["maximum"],
        ),
        (
            "proxmox.list_vms",
            json!({"type": "vm", "extra": 1}),
            vec!["additionalProperties", "enum"],
        ),
        ("ssh.run_whitelisted_command", json!({}), vec!["required"]),
        ("ssh.run_whitelisted_command", json!({"command": 5}), vec!["type"]),
        (
            "ssh.run_whitelisted_command",
            json!({"command": "uptime", "sudo": true}),
            vec!["additionalProperties"],
        ),
        (
            "github.get_workflow_run",
            json!({"owner": "a"}),
            vec!["required", "required"],
        ),
    ];
    for (tool, arguments, expected) in cases {
        let refusal = world.call(tool, arguments.clone()).await.unwrap_err();

        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (400, "ARGUMENTS_INVALID"),
            "{tool} {arguments}"
        );
        let violations = refusal.problem["violations"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut keywords: Vec<&str> = violations
            .iter()
            .filter_map(|each| each["keyword"].as_str())
            .collect();
        keywords.sort_unstable();
        assert_eq!(keywords, expected, "{tool} {arguments}: {violations:?}");
        assert!(
            violations
                .iter()
                .all(|each| each["pointer"].is_string() && each["message"].is_string())
        );
    }
    assert_eq!(world.host("web-1").received(), [""; 0]);
    let all: Vec<Value> = world.audit_of("adapter.capability_invoked").await;
    assert!(all.is_empty(), "{all:?}");
}
