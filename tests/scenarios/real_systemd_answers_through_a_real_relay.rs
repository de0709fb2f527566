//! The six commands against a booted systemd: a stopped and an unknown service are answers, the journal is read, and
//! no name of a service gets past the grammar.

use std::time::Duration;

use toolgate_test_support::{Gateway, Systemd, not_run, until};

#[tokio::test]
async fn real_systemd_answers_through_a_real_relay() {
    let machine = match Systemd::boot().await {
        Ok(machine) => machine,
        Err(why) => return not_run("real_systemd_answers_through_a_real_relay", &why),
    };
    let started = machine
        .run(&["systemctl", "start", "demo.service"])
        .await
        .unwrap();
    assert!(started.status.success(), "{started:?}");
    machine
        .run(&["systemctl", "start", "broken.service"])
        .await
        .unwrap();

    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let admin = gateway.admin();
    let (_, token) = admin.add_host("machine").await.unwrap();
    let _relay = machine
        .spawn(&[
            "toolgate",
            "relay",
            "host",
            "--gateway",
            gateway.url(),
            "--token",
            &token,
            "--data-dir",
            "/var/lib/toolgate-relay",
            "--allow-root",
        ])
        .unwrap();
    until(Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    })
    .await
    .expect("the relay comes");

    let cases = [
        ("systemctl status demo", 0, "active (running)"),
        ("systemctl status demo.service", 0, "A service that runs"),
        ("systemctl status broken", 3, "failed"),
        ("systemctl status no-such-unit", 4, ""),
        ("systemctl list-units --type=service", 0, "demo.service"),
        ("journalctl -n 5", 0, ""),
        ("free -m", 0, "available"),
        ("df -h", 0, "Mounted on"),
    ];
    for (command, code, part) in cases {
        let outcome = admin
            .run(command)
            .await
            .unwrap_or_else(|refusal| panic!("{command}: {refusal:?}"));
        assert_eq!(
            outcome.structured()["exit_code"],
            code,
            "{command}: {:?}",
            outcome.result
        );
        let told = outcome.structured()["stdout"].as_str().unwrap();
        assert!(told.contains(part), "{command}: {told}");
        assert!(!told.contains('\u{1b}'), "{command}: colours");
    }
    let journal = admin.run("journalctl -n 5").await.unwrap();
    let lines = journal.structured()["stdout"].as_str().unwrap().lines().count();
    assert!((1..=6).contains(&lines), "{lines} lines: {:?}", journal.result);
    for refused in [
        "systemctl status -H root@x",
        "systemctl status demo broken",
        "systemctl stop demo",
        "journalctl -f",
    ] {
        assert_eq!(
            admin.run(refused).await.unwrap_err().reason,
            "WRITE_REJECTED",
            "{refused}"
        );
    }
    let still = machine.run(&["systemctl", "is-active", "demo"]).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&still.stdout).trim(), "active");
}
