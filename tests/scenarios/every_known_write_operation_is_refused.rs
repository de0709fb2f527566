//! Gate E1. Each operation of the three APIs that is no read is refused through REST and gRPC, whatever its spelling.

use std::{fs, path::Path};

use serde_json::json;
use toolgate_contract::v1::Failure;
use toolgate_test_support::World;

/// Some of the operations, for checkouts that have no list of all beside them.
const SOME: [(&str, &str); 9] = [
    ("github", "DELETE /repos/{owner}/{repo} repos/delete"),
    (
        "github",
        "POST /repos/{owner}/{repo}/actions/runs/{run_id}/rerun actions/re-run-workflow",
    ),
    (
        "github",
        "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge pulls/merge",
    ),
    ("gitea", "DELETE /api/v1/repos/{owner}/{repo} repoDelete"),
    ("gitea", "POST /api/v1/admin/users adminCreateUser"),
    ("gitea", "PATCH /api/v1/repos/{owner}/{repo} repoEdit"),
    ("proxmox", "DELETE /api2/json/nodes/{node}/qemu/{vmid}"),
    (
        "proxmox",
        "POST /api2/json/nodes/{node}/qemu/{vmid}/status/shutdown",
    ),
    ("proxmox", "PUT /api2/json/access/acl"),
];

#[tokio::test]
async fn every_known_write_operation_is_refused() {
    let world = World::new().unlimited().host("web-1").start().await;
    let grpc = world.admin().grpc().await;

    let operations = operations();
    let mut attempts = 0;
    for (adapter, line) in &operations {
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let operation = words.next().unwrap_or("unnamed");
        let names = [
            format!("{adapter}.{operation}"),
            format!("{adapter}.{method} {path}"),
            format!("{}_{}", adapter.to_uppercase(), operation.to_uppercase()),
            format!("%{:02x}{}/{operation}", adapter.as_bytes()[0], &adapter[1..]),
        ];
        for name in names {
            let refusal = world.call(&name, json!({"method": method})).await.unwrap_err();
            assert_eq!(
                (refusal.status, refusal.reason.as_str()),
                (403, "WRITE_REJECTED"),
                "REST {name}"
            );
            let status = grpc.call(&name, json!({})).await.unwrap_err();
            assert_eq!(
                Failure::from_status(&status).reason().name(),
                "WRITE_REJECTED",
                "gRPC {name}"
            );
            attempts += 2;
        }
    }

    assert_eq!(world.host("web-1").received(), [""; 0]);
    assert_eq!(world.audit_of("adapter.write_rejected").await.len(), attempts);
    println!("{} operations, {attempts} attempts", operations.len());
}

#[tokio::test]
async fn a_write_smuggled_into_a_read_does_not_fit_its_schema() {
    let world = World::new().host("web-1").start().await;

    for extra in ["method", "_method", "X-HTTP-Method-Override", "body"] {
        let arguments = json!({"command": "uptime", extra: "DELETE"});
        let refusal = world
            .call("ssh.run_whitelisted_command", arguments)
            .await
            .unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (400, "ARGUMENTS_INVALID"),
            "{extra}"
        );
    }

    assert_eq!(world.host("web-1").received(), [""; 0]);
}

/// Every line of the lists beside the project, or some of them.
fn operations() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = root.join("../shared/spec/data/write-operations");
    let mut all = Vec::new();
    for adapter in ["github", "gitea", "proxmox"] {
        let text = fs::read_to_string(folder.join(format!("{adapter}.txt"))).unwrap_or_default();
        all.extend(
            text.lines()
                .filter(|line| !line.is_empty())
                .map(|line| (adapter.into(), line.into())),
        );
    }
    if all.is_empty() {
        eprintln!("{} is not there: a list of our own is walked", folder.display());
        all.extend(SOME.map(|(adapter, line)| (adapter.to_owned(), line.to_owned())));
    }
    all
}
