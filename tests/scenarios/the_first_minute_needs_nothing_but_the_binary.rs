//! The first minute of a new user: `up` on an empty directory comes up, prints addresses, a token and a `curl` line,
//! and this very host answers through the built-in relay.

use std::time::{Duration, Instant};

use tokio::process::Command;
use toolgate_test_support::{Gateway, run, until};

#[tokio::test]
async fn the_first_minute_needs_nothing_but_the_binary() {
    let began = Instant::now();
    let mut gateway = Gateway::start(&[]).await.unwrap();
    let took = began.elapsed();
    println!("up after {took:?}");
    // A second is the promise of the release build on an idle machine; this is a debug build beside other tests.
    assert!(took < Duration::from_secs(10), "{took:?}");
    let printed = gateway.printed().join("\n");
    assert!(
        printed.contains(gateway.url()) && printed.contains(gateway.grpc()),
        "{printed}"
    );
    assert!(gateway.token().starts_with("tgk_"));

    let admin = gateway.admin();
    let outcome = until(Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    })
    .await;
    assert!(
        outcome
            .expect("this host answers")
            .text()
            .contains("load average")
    );

    let environment = [("TOOLGATE_URL", gateway.url()), ("TOOLGATE_TOKEN", admin.token())];
    let call = ["call", "ssh.run_whitelisted_command", "--arg", "command=df -h"];
    let table = run(&call, &environment, gateway.folder()).await.unwrap();
    let text = String::from_utf8_lossy(&table.stdout);
    assert!(
        table.status.success() && text.contains("Filesystem") && text.contains("Mounted on"),
        "{table:?}"
    );
    let refused = run(&["call", "proxmox.shutdown_vm"], &environment, gateway.folder())
        .await
        .unwrap();
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let typed = admin
        .grpc()
        .await
        .call_typed(
            "toolgate.tools.v1.SshService",
            "RunWhitelistedCommand",
            serde_json::json!({"command": "df -h"}),
        )
        .await
        .unwrap();
    assert!(
        typed["stdout"].as_str().unwrap().contains("Filesystem"),
        "{typed}"
    );

    assert_eq!(gateway.terminate().await, Some(0), "{}", gateway.log());
    assert!(!gateway.log().contains("panicked"), "{}", gateway.log());
}

#[tokio::test]
async fn the_printed_curl_streams_the_uptime_of_this_host() {
    let gateway = Gateway::start(&[]).await.unwrap();
    let admin = gateway.admin();
    until(Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    })
    .await
    .expect("this host answers");

    let script = until(Duration::from_secs(5), || async { gateway.curl() })
        .await
        .expect("a curl line is printed");
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(gateway.folder())
        .output()
        .await
        .unwrap();

    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{script}\n{output:?}");
    assert!(
        text.contains("event: tool_result") && text.contains("event: done"),
        "{script}\n{text}"
    );
    assert!(text.contains("load average"), "{text}");
}
