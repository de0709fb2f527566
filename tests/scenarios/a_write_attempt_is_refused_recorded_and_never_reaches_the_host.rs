//! Gate E1, E7. What is no registered tool, and what is no command of the grammar, is refused as a write attempt in
//! every dialect: recorded, and no host hears of it.

use serde_json::json;
use toolgate_contract::{failure::DOMAIN, v1::Failure};
use toolgate_test_support::{Ground, on_each_store};

const COMMANDS: [&str; 20] = [
    "rm -rf /",
    "uptime; id",
    "uptime\nid",
    "uptime\n",
    " uptime",
    "uptime ",
    "UPTIME",
    "df -h; touch /tmp/x",
    "df -h /",
    "free -m -s 1",
    "systemctl status -H root@x",
    "systemctl status --help",
    "systemctl status *",
    "systemctl status",
    "systemctl stop nginx",
    "systemctl list-units --type=service --all",
    "journalctl -n 501",
    "journalctl -n 0",
    "journalctl -n ٥",
    "journalctl -n +5",
];

const NAMES: [&str; 8] = [
    "proxmox.shutdown_vm",
    "PROXMOX.Shutdown_VM",
    "github.DELETE /repos/{owner}/{repo}",
    "gitea/deleteRepo",
    "ssh:exec",
    "%70roxmox.shutdown_vm",
    "ｐroxmox.shutdown_vm",
    " ssh.exec",
];

on_each_store!(a_write_attempt_is_refused_recorded_and_never_reaches_the_host);

async fn a_write_attempt_is_refused_recorded_and_never_reaches_the_host(ground: Ground) {
    let world = ground.world().unlimited().host("web-1").start().await;
    let grpc = world.admin().grpc().await;

    let mut attempts = 0;
    let commands = COMMANDS.map(|command| ("ssh.run_whitelisted_command", json!({"command": command})));
    for (tool, arguments) in commands.into_iter().chain(NAMES.map(|name| (name, json!({})))) {
        let refusal = world.call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (403, "WRITE_REJECTED"),
            "{tool} {arguments}"
        );
        assert_eq!(refusal.problem["type"], "urn:toolgate:error:write-rejected");
        let started = world.admin().invoke(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(started.status, 403, "{tool} {arguments}");
        let status = grpc.call(tool, arguments.clone()).await.unwrap_err();
        assert_eq!(
            Failure::from_status(&status).reason().name(),
            "WRITE_REJECTED",
            "{DOMAIN}: {status:?}"
        );
        attempts += 3;
    }

    assert_eq!(world.host("web-1").received(), [""; 0]);
    let rows = world.audit_of("adapter.write_rejected").await;
    assert_eq!(rows.len(), attempts);
    assert!(
        rows.iter()
            .all(|row| row["result"] == "refused" && row["principal"] == "admin")
    );
}
