//! Gate E7, 018. The second layer: a gateway that holds the right key and means harm sends its frames straight to the
//! relay, and the relay's own grammar refuses every one of them.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate_contract::frame::RefusalCode;
use toolgate_relay::{GuardProgram, HostConfig, TrustRoots, run_host};
use toolgate_test_support::{HostileGateway, binary};

const COMMANDS: [&str; 14] = [
    "rm -rf /",
    "uptime; id",
    "uptime\nid",
    "uptime && id",
    "$(id)",
    "systemctl status -H root@x",
    "systemctl status --root=/",
    "systemctl status /etc/passwd",
    "systemctl status 1",
    "systemctl status tpl@*",
    "systemctl restart nginx",
    "journalctl -n ٥",
    "journalctl -n 5;id",
    "df -h /etc",
];

#[tokio::test]
async fn a_taken_over_gateway_gets_no_write_past_the_relay() {
    let gateway = HostileGateway::listen().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    let relay = tokio::spawn(run_host(
        HostConfig {
            gateway_url: gateway.url(),
            enrolment_token: Some(gateway.token()),
            name: "victim".into(),
            state_dir: folder.path().join("relay"),
            guard: GuardProgram {
                program: binary(),
                arguments: vec!["__guard".into()],
            },
            roots: TrustRoots::Platform,
            allow_root: true,
            built_in: false,
            state: None,
        },
        stop.clone(),
    ));
    let mut believer = tokio::time::timeout(Duration::from_secs(10), gateway.accept())
        .await
        .unwrap()
        .unwrap();
    let call = |command: &str| {
        json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}}).to_string()
    };

    for command in COMMANDS {
        let refusal = believer
            .ask("tools/call", &call(command))
            .await
            .unwrap()
            .unwrap_err();
        assert_eq!(refusal.code, RefusalCode::WriteRejected, "{command:?}");
    }
    for (method, body) in [
        ("tools/exec", call("uptime")),
        (
            "tools/call",
            r#"{"name":"ssh.exec","arguments":{"command":"uptime"}}"#.into(),
        ),
    ] {
        let refusal = believer.ask(method, &body).await.unwrap().unwrap_err();
        assert_eq!(refusal.code, RefusalCode::UnknownMethod, "{method} {body}");
    }
    for body in [
        "",
        "{}",
        r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime","env":{"A":"b"}}}"#,
        r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":["rm","-rf","/"]}}"#,
    ] {
        let refusal = believer.ask("tools/call", body).await.unwrap().unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Malformed, "{body}");
    }

    let answer = believer
        .ask("tools/call", &call("uptime"))
        .await
        .unwrap()
        .expect("the six commands still run");
    assert!(answer.contains("load average"), "{answer}");
    let again = believer.last_id();
    let replayed = believer
        .ask_as(again, "tools/call", &call("uptime"))
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(replayed.code, RefusalCode::Replayed);
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(5), relay)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}
