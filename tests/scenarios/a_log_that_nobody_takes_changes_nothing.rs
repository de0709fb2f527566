//! Standard error may be a full disk, a pipe without a reader, or one whose reader stalls: calls are answered, the
//! record is kept, and told to stop the gateway ends well.

use std::{
    fs::OpenOptions,
    io::{Write, pipe},
    process::Stdio,
};

use serde_json::json;
use toolgate_test_support::Gateway;

/// What a pipe holds.
const FULL: usize = 64 * 1024;

async fn serves_and_ends(what: &str, stderr: Stdio) {
    let mut gateway = Gateway::start_with_stderr(stderr, &["--log-level", "debug"])
        .await
        .unwrap();
    let admin = gateway.admin();
    let call = json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}});
    for turn in 0..3 {
        let answer = admin.invoke_with(&call, &[("prefer", "wait")]).await;
        assert_eq!(answer.status, 200, "{what}, {turn}: {}", answer.text);
        assert_eq!(admin.get("/readyz").await.status, 200, "{what}, {turn}");
    }
    let record = admin.get("/api/audit/export").await.text;
    let calls = record.matches("adapter.capability_invoked").count();
    assert_eq!(calls, 3, "{what}");
    assert_eq!(gateway.terminate().await, Some(0), "{what}");
}

#[tokio::test]
async fn a_log_that_cannot_be_written_changes_nothing() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    serves_and_ends("a full disk", full.into()).await;
}

#[tokio::test]
async fn a_log_whose_reader_left_changes_nothing() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    serves_and_ends("no reader", writer.into()).await;
}

#[tokio::test]
async fn a_log_whose_reader_stalls_changes_nothing() {
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(&[b'x'; FULL]).unwrap();
    serves_and_ends("a reader that stalls", writer.into()).await;
    drop(reader);
}
