//! B13: a line of a transcript in which an agent reports an internal issue becomes the generic record and the record of
//! the report, field by field, and a count under clamped labels, of the real binary and over HTTP.

use std::{fs::OpenOptions, io::Write, path::Path, time::Duration};

use serde_json::{Value, json};
use toolgate_test_support::{Tailer, until};

const SOON: Duration = Duration::from_secs(20);
const TOOL: &str = "mcp__tatara__report_internal_issue";

const POD: [(&str, &str); 2] = [("TATARA_PROJECT", "p-1"), ("TATARA_KIND", "implement")];

fn line(tool: &str, input: &Value) -> String {
    let message = json!({
        "type": "assistant", "turnId": "turn-1", "sessionId": "session-1", "uuid": "u-1",
        "message": {"id": "msg-1", "role": "assistant", "content": [
            {"type": "text", "text": "something is wrong"},
            {"type": "tool_use", "id": "toolu-1", "name": tool, "input": input},
        ]},
    });
    message.to_string()
}

fn write(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Waits for the count of a series.
async fn counted(tailer: &Tailer, category: &str, severity: &str, count: u64) {
    let series = format!(
        "tatara_wrapper_internal_issue_total{{category=\"{category}\",severity=\"{severity}\"}} {count}\n"
    );
    let seen = until(SOON, || async {
        let metrics = tailer.metrics().await.unwrap();
        metrics.contains(&series).then_some(())
    });
    assert!(
        seen.await.is_some(),
        "{series}: {}",
        tailer.metrics().await.unwrap()
    );
}

async fn issues(tailer: &Tailer, count: usize) -> Vec<Value> {
    let told = until(SOON, || async {
        let told = tailer.records_of("internal_issue_report");
        (told.len() >= count).then_some(told)
    });
    told.await.unwrap_or_else(|| panic!("{:?}", tailer.records()))
}

fn without_time(record: &Value) -> Value {
    let mut record = record.clone();
    let fields = record.as_object_mut().unwrap();
    fields.remove("timestamp");
    fields.remove("target");
    record
}

#[tokio::test]
async fn a_report_is_told_twice_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    write(&path, &(line("Bash", &json!({"command": "cat secret"})) + "\n"));
    let mut tailer = Tailer::start_with(folder.path(), &["transcript.jsonl"], &POD)
        .await
        .unwrap();
    counted(&tailer, "auth", "warn", 0).await;
    assert_eq!(tailer.page("/healthz").await.unwrap(), (200, "ok\n".into()));
    assert_eq!(tailer.page("/").await.unwrap().0, 404);

    let input = json!({
        "category": "auth", "severity": "warn",
        "description": "the call with ghp_0123456789abcdefghij0123456789abcdef was refused",
        "offending_tool": "repo_list", "resource_id": "repo/7",
    });
    write(&path, &(line(TOOL, &input) + "\n"));
    counted(&tailer, "auth", "warn", 1).await;
    let told = issues(&tailer, 1).await;
    assert_eq!(
        without_time(&told[0]),
        json!({
            "level": "WARN", "message": "internal issue reported", "action": "internal_issue_report",
            "category": "auth", "severity": "warn", "description": "the call with *** was refused",
            "offending_tool": "repo_list", "resource_id": "repo/7",
            "project": "p-1", "task": "", "repo": "", "kind": "implement",
            "turn_id": "turn-1", "session_id": "session-1", "message_id": "msg-1", "tool_use_id": "toolu-1",
        })
    );
    let generic = tailer.records_of("agent_stream");
    let generic: Vec<Value> = generic.iter().map(without_time).collect();
    let of = |tool: &str| {
        json!({
            "level": "INFO", "message": "agent stream", "action": "agent_stream", "block_type": "tool_use",
            "tool": tool, "turn_id": "turn-1", "session_id": "session-1", "message_id": "msg-1",
            "tool_use_id": "toolu-1",
        })
    };
    assert_eq!(generic, [of("Bash"), of(TOOL)]);
    let all = tailer.ask(|records| format!("{records:?}"));
    assert!(
        !all.contains("cat secret"),
        "arguments of other tools are never logged: {all}"
    );
    assert_eq!(tailer.terminate().await, Some(0));
}

#[tokio::test]
async fn what_is_not_known_counts_as_other_and_error_and_is_told_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let tailer = Tailer::start(folder.path(), &["transcript.jsonl"]).await.unwrap();
    let mut count = 0;
    let mut check = async |input: Value, level: &str, told: [&str; 2], labels: [&str; 2], total: u64| {
        write(&path, &(line(TOOL, &input) + "\n"));
        count += 1;
        counted(&tailer, labels[0], labels[1], total).await;
        let records = issues(&tailer, count).await;
        let record = &records[count - 1];
        assert_eq!(record["level"], level, "{record}");
        assert_eq!([&record["category"], &record["severity"]], told, "{record}");
        record.clone()
    };
    let unknown = json!({"category": "weather", "severity": "warn", "description": "rain"});
    check(unknown, "WARN", ["weather", "warn"], ["other", "warn"], 1).await;
    let missing = json!({"category": "tool_error", "description": "no severity"});
    check(
        missing,
        "ERROR",
        ["tool_error", "error"],
        ["tool_error", "error"],
        1,
    )
    .await;
    let severity = json!({"category": "tool_error", "severity": "fatal", "description": "d"});
    check(
        severity,
        "ERROR",
        ["tool_error", "fatal"],
        ["tool_error", "error"],
        2,
    )
    .await;
    let malformed = json!({"category": ["auth"], "description": "d"});
    let record = check(malformed, "ERROR", ["other", "error"], ["other", "error"], 1).await;
    assert_eq!(record["parse_error"], "`category` is no text");
    assert_eq!(record["turn_id"], "turn-1");
}

#[tokio::test]
async fn the_count_moves_where_nothing_is_logged_and_under_another_key_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.jsonl"), folder.path().join("two.jsonl"));
    let input = json!({"category": "auth", "severity": "warn", "description": "d"});
    let theirs = line("mcp__gate__report_internal_issue", &input) + "\n";
    write(&one, &theirs);
    let arguments = [
        "one.jsonl",
        "two.jsonl",
        "--log-level",
        "off",
        "--server",
        "gate",
        "--from-end",
    ];
    let tailer = Tailer::start(folder.path(), &arguments).await.unwrap();
    counted(&tailer, "auth", "warn", 0).await;
    // It comes after the first look, so that it is read from its beginning; the other name is not ours.
    let looked = until(SOON, || async {
        write(&one, &theirs);
        let metrics = tailer.metrics().await.unwrap();
        (!metrics.contains("category=\"auth\",severity=\"warn\"} 0")).then_some(())
    });
    looked.await.expect("what comes is read");
    write(&two, &(line(TOOL, &input) + "\n"));
    let workspace = json!({"category": "workspace_broken", "severity": "error", "description": "d"});
    write(
        &two,
        &(line("mcp__gate__report_internal_issue", &workspace) + "\n"),
    );
    counted(&tailer, "workspace_broken", "error", 1).await;
    assert!(tailer.records().is_empty(), "{:?}", tailer.records());
}

#[tokio::test]
async fn a_report_that_is_the_last_thing_of_a_turn_is_told_and_so_is_one_written_just_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let mut tailer = Tailer::start(folder.path(), &["transcript.jsonl"]).await.unwrap();
    let input =
        |number: u32| json!({"category": "other", "severity": "error", "description": number.to_string()});
    write(&path, &line(TOOL, &input(1)));
    counted(&tailer, "other", "error", 1).await;
    write(&path, &format!("\n{}", line(TOOL, &input(2))));
    assert_eq!(tailer.terminate().await, Some(0));
    let told = tailer.records_of("internal_issue_report");
    let told: Vec<&str> = told
        .iter()
        .filter_map(|record| record["description"].as_str())
        .collect();
    assert_eq!(told, ["1", "2"]);
}
