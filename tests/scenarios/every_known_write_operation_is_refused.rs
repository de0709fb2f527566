//! Gate E1. Each operation of the three APIs that is no read is refused in every dialect, whatever its spelling, and the
//! systems, which are all configured, hear nothing of it.

use std::{fs, path::Path};

use serde_json::json;
use toolgate_contract::v1::Failure;
use toolgate_test_support::{Dialect, Lab, World};

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
    let lab = Lab::start().await;
    lab.add_all(world.admin()).await.unwrap();
    let before = lab.contacts();
    let grpc = world.admin().grpc().await;

    let mut speakers = Vec::new();
    for dialect in Dialect::ALL {
        if !matches!(dialect, Dialect::Rest | Dialect::Grpc) {
            speakers.push(world.admin().by(dialect).await);
        }
    }

    let operations = operations();
    let mut attempts = 0;
    for (nth, (adapter, line)) in operations.iter().enumerate() {
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let operation = words.next().unwrap_or("unnamed");
        let names = [
            format!("{adapter}.{operation}"),
            format!("{adapter}.{method} {path}"),
            format!("{}_{}", adapter.to_uppercase(), operation.to_uppercase()),
            format!("%{:02x}{}/{operation}", adapter.as_bytes()[0], &adapter[1..]),
            format!("%25{:02x}{}:{operation}", adapter.as_bytes()[0], &adapter[1..]),
            format!("{}\u{ff0e}{operation}", wide(adapter)),
            format!("{}\u{200b}{}.{operation}", &adapter[..2], &adapter[2..]),
        ];
        for name in &names {
            let refusal = world.call(name, json!({"method": method})).await.unwrap_err();
            assert_eq!(
                (refusal.status, refusal.reason.as_str()),
                (403, "WRITE_REJECTED"),
                "REST {name}"
            );
            let status = grpc.call(name, json!({})).await.unwrap_err();
            assert_eq!(
                Failure::from_status(&status).reason().name(),
                "WRITE_REJECTED",
                "gRPC {name}"
            );
            attempts += 2;
        }
        // Each spelling goes through each of the other dialects for some operation, and each operation through all.
        for (at, speaker) in speakers.iter().enumerate() {
            let name = &names[(nth + at) % names.len()];
            let told = speaker.call(name, &json!({"method": method})).await;
            assert_eq!(told.reason(), "WRITE_REJECTED", "{:?} {name}", speaker.dialect());
            attempts += 1;
        }
    }

    assert_eq!(world.host("web-1").received(), [""; 0]);
    assert_eq!(lab.contacts(), before);
    assert_eq!(world.audit_of("adapter.write_rejected").await.len(), attempts);
    println!("{} operations, {attempts} attempts", operations.len());
}

#[tokio::test]
async fn a_write_smuggled_into_a_read_does_not_fit_its_schema() {
    let world = World::new().unlimited().host("web-1").start().await;
    let lab = Lab::start().await;
    lab.add_all(world.admin()).await.unwrap();
    let before = lab.contacts();
    let grpc = world.admin().grpc().await;
    let reads = [
        ("ssh.run_whitelisted_command", json!({"command": "uptime"})),
        ("proxmox.list_vms", json!({})),
        ("proxmox.get_vm_status", json!({"vmid": 100})),
        ("proxmox.get_node_metrics", json!({"node": "pve1"})),
        ("github.list_repos", json!({})),
        (
            "github.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        ),
        (
            "github.get_workflow_run",
            json!({"owner": "acme", "repo": "shop", "run_id": 1}),
        ),
        ("gitea.list_repos", json!({})),
        (
            "gitea.get_recent_ci_runs",
            json!({"owner": "acme", "repo": "shop"}),
        ),
    ];
    let extras = [
        "method",
        "_method",
        "X-HTTP-Method-Override",
        "body",
        "path",
        "url",
        "operation",
        "Sudo",
        "token",
    ];

    for (tool, fitting) in &reads {
        for extra in extras {
            let mut arguments = fitting.clone();
            arguments[extra] = json!("DELETE");
            let refusal = world.call(tool, arguments.clone()).await.unwrap_err();
            assert_eq!(
                (refusal.status, refusal.reason.as_str()),
                (400, "ARGUMENTS_INVALID"),
                "{tool} {extra}"
            );
            let status = grpc.call(tool, arguments).await.unwrap_err();
            assert_eq!(
                Failure::from_status(&status).reason().name(),
                "ARGUMENTS_INVALID",
                "{tool} {extra}"
            );
        }
    }
    // Every line of the lists as the value of an argument there is none of.
    for (adapter, line) in operations() {
        let tool = format!(
            "{adapter}.list_{}",
            if adapter == "proxmox" { "vms" } else { "repos" }
        );
        let refusal = world.call(&tool, json!({"operation": line})).await.unwrap_err();
        assert_eq!(refusal.status, 400, "{tool} {line}");
    }

    assert_eq!(world.host("web-1").received(), [""; 0]);
    assert_eq!(lab.contacts(), before);
}

#[tokio::test]
async fn neither_a_batch_nor_an_override_makes_a_write_of_a_request() {
    let world = World::new().unlimited().host("web-1").start().await;
    let lab = Lab::start().await;
    lab.add_all(world.admin()).await.unwrap();
    let before = lab.contacts();
    let write = json!({"name": "proxmox.shutdown_vm", "arguments": {"vmid": 100}});
    let read = json!({"name": "proxmox.list_vms", "arguments": {}});

    let batches = [
        json!([write]),
        json!([read, write]),
        json!([[write]]),
        json!({"calls": [write]}),
    ];
    for batch in batches {
        let answer = world.admin().post("/api/mcp/invoke", batch.clone()).await;
        assert_eq!(answer.status, 400, "{batch}: {}", answer.text);
    }
    for header in ["x-http-method-override", "x-http-method", "x-method-override"] {
        for method in ["DELETE", "PUT", "PATCH", "GET"] {
            let answer = world
                .admin()
                .invoke_with(&write, &[("prefer", "wait"), (header, method)])
                .await;
            assert_eq!(answer.status, 403, "{header}: {method}: {}", answer.text);
        }
    }
    for method in [
        reqwest::Method::PUT,
        reqwest::Method::DELETE,
        reqwest::Method::PATCH,
    ] {
        let request = world
            .admin()
            .request(method.clone(), "/api/mcp/invoke")
            .json(&write);
        let answer = world.admin().send(request).await;
        assert_eq!(answer.status, 405, "{method}: {}", answer.text);
    }

    assert_eq!(world.host("web-1").received(), [""; 0]);
    assert_eq!(lab.contacts(), before);
}

/// The same letters in full width.
fn wide(text: &str) -> String {
    let wide = |letter: char| char::from_u32(u32::from(letter) + 0xfee0).unwrap();
    text.chars().map(wide).collect()
}

/// Every line of the lists beside the project, or some of them.
fn operations() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = root.join("../shared/spec/data/write-operations");
    let mut all = Vec::new();
    if !folder.is_dir() {
        eprintln!("{} is not there: a list of our own is walked", folder.display());
        return SOME
            .map(|(adapter, line)| (adapter.to_owned(), line.to_owned()))
            .into();
    }
    for (adapter, count) in [("github", 584), ("gitea", 224), ("proxmox", 322)] {
        let text = fs::read_to_string(folder.join(format!("{adapter}.txt"))).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), count, "{adapter}");
        all.extend(lines.into_iter().map(|line| (adapter.into(), line.to_owned())));
    }
    all
}
