use super::*;

fn refusal(method: &str, params: &str) -> RefusalCode {
    read(method, params.as_bytes()).expect_err("refused").code
}

#[test]
fn a_frame_that_passed_a_broken_broker_is_refused_here() {
    for command in [
        "rm -rf /",
        "uptime; id",
        "systemctl status -H root@x",
        "uptime\n",
        "journalctl -n ٥",
        "df -h\0",
        "systemctl restart nginx",
        "$(id)",
        "",
    ] {
        let params = serde_json::json!({"name": TOOL, "arguments": {"command": command}}).to_string();
        assert_eq!(
            refusal(METHOD, &params),
            RefusalCode::WriteRejected,
            "{command:?}"
        );
    }
    let huge = serde_json::json!({"name": TOOL, "arguments": {"command": "a".repeat(1 << 20)}}).to_string();
    assert_eq!(refusal(METHOD, &huge), RefusalCode::WriteRejected);
}

#[test]
fn what_is_not_the_one_method_is_refused() {
    let good = serde_json::json!({"name": TOOL, "arguments": {"command": "uptime"}}).to_string();
    assert_eq!(read(METHOD, good.as_bytes()), Ok(Command::Uptime));
    assert_eq!(refusal("tools/list", &good), RefusalCode::UnknownMethod);
    assert_eq!(
        refusal(METHOD, &good.replace(TOOL, "ssh.exec")),
        RefusalCode::UnknownMethod
    );
    for params in [
        "",
        "[]",
        "{}",
        r#"{"name":"ssh.run_whitelisted_command"}"#,
        r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":["uptime"]}}"#,
        r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime","env":{"A":"b"}}}"#,
        r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime","command":"uptime"}}"#,
        r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime"},"shell":true}"#,
    ] {
        assert_eq!(refusal(METHOD, params), RefusalCode::Malformed, "{params}");
    }
}

fn finished(exit_code: i32, stdout: &str, stderr: &str) -> Finished {
    Finished {
        exit_code: Some(exit_code),
        signal: None,
        stdout: stdout.into(),
        stderr: stderr.into(),
        truncated: false,
        duration: Duration::from_millis(7),
    }
}

#[test]
fn an_exit_code_is_data() {
    let command = ssh::parse("systemctl status nginx").expect("in the grammar");
    let result = serde_json::to_value(report(&command, &finished(3, "○ nginx", "warn\n"))).expect("json");
    assert_eq!(
        result,
        serde_json::json!({
            "content": [{"type": "text", "text": "○ nginx\n[standard error] warn\n[exit code 3]\n"}],
            "structuredContent": {
                "command": "systemctl status nginx",
                "exit_code": 3,
                "stdout": "○ nginx",
                "stderr": "warn\n",
                "truncated": false,
                "duration_ms": 7,
            },
            "isError": false,
        })
    );
}

#[test]
fn a_command_is_answered_under_the_name_it_was_asked_by() {
    for asked in [
        "uptime",
        "df -h",
        "free -m",
        "systemctl status nginx",
        "journalctl -n 5",
        "systemctl list-units --type=service",
    ] {
        let command = ssh::parse(asked).expect("in the grammar");
        let told = report(&command, &finished(0, "", ""))
            .structured
            .expect("structured");
        assert_eq!(told.command, asked);
    }
}

#[test]
fn a_plain_success_is_told_as_printed() {
    let result = report(&Command::Uptime, &finished(0, " 20:51:37 up 17 min\n", ""));
    assert_eq!(result.content[0].text, " 20:51:37 up 17 min\n");
}

#[test]
fn a_cut_is_told() {
    let cut = Finished {
        exit_code: None,
        signal: Some(9),
        truncated: true,
        ..finished(0, "x", "")
    };
    let result = report(
        &Command::Journal(ssh::Lines::parse("500").expect("in range")),
        &cut,
    );
    assert_eq!(result.content[0].text, "x\n[output cut at 256 KiB]\n");
}
