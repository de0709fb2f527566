//! `report_internal_issue` in a pod: one record, one count and one row, whatever stands in the way (rows B11, B12, B15).

use serde_json::{Value, json};
use toolgate_test_postgres::available;
use toolgate_test_support::{Gateway, Pipe, Pod, Postgres, back_ends::Says};

const REPORT: &str = "report_internal_issue";
const ENVIRONMENT: [(&str, &str); 5] = [
    ("TATARA_PROJECT", "harbour"),
    ("TATARA_TASK", "t-4711"),
    ("TATARA_REPO", "tatara/harbour"),
    ("TATARA_KIND", "implement"),
    ("TOOLGATE_LOG_FORMAT", "json"),
];
const METRICS: [&str; 2] = ["--metrics-addr", "127.0.0.1:0"];

/// Where the process shows its metrics.
async fn door(pipe: &mut Pipe) -> String {
    let line = pipe.logged("metrics are served").await.unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    format!("http://{}/metrics", line["address"].as_str().expect("an address"))
}

async fn metrics(door: &str) -> String {
    reqwest::get(door).await.unwrap().text().await.unwrap()
}

fn count(metrics: &str, category: &str, severity: &str) -> u64 {
    let series =
        format!("tatara_mcp_internal_issue_total{{category=\"{category}\",severity=\"{severity}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
    line.unwrap_or_else(|| panic!("no {series} in {metrics}"))
        .parse()
        .unwrap()
}

fn records(stderr: &str) -> Vec<Value> {
    let lines = stderr
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter(|line| line["action"] == "internal_issue_report")
        .collect()
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_a_record_a_count_and_a_row_and_asks_no_back_end() {
    let pod = Pod::start().await;
    let (mut pipe, _) = pod.begin(&METRICS, &ENVIRONMENT).await.unwrap();
    let door = door(&mut pipe).await;
    let before = metrics(&door).await;
    let series = before
        .lines()
        .filter(|line| line.starts_with("tatara_mcp_internal_issue_total{"));
    assert_eq!(series.count(), 14, "every series begins at zero: {before}");
    assert!(
        before.contains("# TYPE tatara_mcp_internal_issue_total counter"),
        "{before}"
    );
    assert!(
        before.contains("# TYPE tatara_mcp_registered_tools gauge"),
        "{before}"
    );
    assert!(
        before.contains("tatara_mcp_registered_tools{profile=\"all\"} 63"),
        "{before}"
    );

    let reports = [
        (
            json!({"category": "tool_error", "severity": "warn", "description": "query answers nothing",
            "offending_tool": "query", "resource_id": "mem-7"}),
            "WARN",
        ),
        (
            json!({"category": "auth", "description": "401 with token=hunter2hunter2", "severity": ""}),
            "ERROR",
        ),
    ];
    for (report, _) in &reports {
        let answer = pipe.call(REPORT, report.clone()).await.unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert!(text(&answer).len() < 200, "{answer}");
    }
    let after = metrics(&door).await;
    assert_eq!(
        (
            count(&after, "tool_error", "warn"),
            count(&after, "auth", "error")
        ),
        (1, 1)
    );
    let ended = pipe.leave().await.unwrap();
    let records = records(&ended.stderr);
    assert_eq!(records.len(), 2, "{}", ended.stderr);
    for ((report, level), record) in reports.iter().zip(&records) {
        assert_eq!(record["level"], *level, "{record}");
        assert_eq!(record["message"], "internal issue reported", "{record}");
        assert_eq!(record["category"], report["category"], "{record}");
        let context = [
            ("project", "harbour"),
            ("task", "t-4711"),
            ("repo", "tatara/harbour"),
            ("kind", "implement"),
        ];
        for (field, value) in context {
            assert_eq!(record[field], value, "{field}: {record}");
        }
    }
    assert_eq!(records[0]["offending_tool"], "query");
    assert_eq!(records[0]["resource_id"], "mem-7");
    assert_eq!(records[1]["severity"], "error");
    assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
    for asked in [pod.memory.asked(), pod.operator.asked(), pod.chat.asked()] {
        assert!(asked.is_empty(), "{asked:?}");
    }

    // What the pod left behind is a record that a gateway goes on with.
    let left = pod.folder().join("data-0");
    let gateway = Gateway::start_over(&left, &["--relay-built-in=false"])
        .await
        .unwrap();
    let rows = gateway.admin().audit().await.unwrap();
    let told: Vec<(&Value, &Value, &Value)> = rows
        .iter()
        .filter(|row| row["event"] == "internal_issue.reported")
        .map(|row| (&row["principal"], &row["capability"], &row["detail"]))
        .collect();
    let details = [
        json!({"category": "tool_error", "severity": "warn", "offending_tool": "query", "resource_id": "mem-7"}),
        json!({"category": "auth", "severity": "error"}),
    ];
    let expected = details
        .each_ref()
        .map(|detail| (json!("pod"), json!(REPORT), detail));
    assert_eq!(told.len(), 2, "{rows:?}");
    for ((principal, capability, detail), expected) in told.into_iter().zip(&expected) {
        assert_eq!(
            (principal, capability, detail),
            (&expected.0, &expected.1, expected.2)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blank_description_and_unknown_values_are_refused_and_not_counted() {
    let pod = Pod::start().await;
    let (mut pipe, _) = pod.begin(&METRICS, &ENVIRONMENT).await.unwrap();
    let door = door(&mut pipe).await;
    let good = json!({"category": "auth", "description": "x"});
    let wrong = [
        ("description", json!("")),
        ("description", json!(" \n\t")),
        ("description", json!(7)),
        ("description", json!("x".repeat(4_001))),
        ("category", json!("bug")),
        ("category", json!("")),
        ("category", json!("AUTH")),
        ("severity", json!("fatal")),
        ("project", json!("harbour")),
        ("repo", json!("harbour")),
    ];
    for (name, value) in wrong {
        let mut report = good.clone();
        report[name] = value;
        let refused = pipe.call(REPORT, report.clone()).await.unwrap();
        let reason = &refused["result"]["_meta"]["toolgate/reason"];
        assert_eq!(reason, "ARGUMENTS_INVALID", "{report}: {refused}");
    }
    for missing in ["category", "description"] {
        let mut report = good.clone();
        report.as_object_mut().unwrap().remove(missing);
        let refused = pipe.call(REPORT, report).await.unwrap();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
    }
    assert_eq!(count(&metrics(&door).await, "auth", "error"), 0);
    assert!(records(&pipe.leave().await.unwrap().stderr).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_bucket_keeps_no_report_from_log_and_count() {
    let pod = Pod::start().await;
    let limits = [&METRICS[..], &["--limits-user-per-minute", "1"]].concat();
    let (mut pipe, _) = pod.begin(&limits, &ENVIRONMENT).await.unwrap();
    let door = door(&mut pipe).await;
    let mut refused = 0;
    for _ in 0..3 {
        let answer = pipe.call("project_list", json!({})).await.unwrap();
        refused += u32::from(answer["result"]["_meta"]["toolgate/reason"] == "RATE_LIMITED");
    }
    assert_eq!(refused, 2, "the bucket is empty");
    for _ in 0..5 {
        let report = json!({"category": "other", "severity": "warn", "description": "x"});
        let answer = pipe.call(REPORT, report).await.unwrap();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(count(&metrics(&door).await, "other", "warn"), 5);
    assert_eq!(records(&pipe.leave().await.unwrap().stderr).len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_hang_keep_no_report_from_getting_through() {
    let pod = Pod::start().await;
    let limits = [
        "--limits-user-per-minute",
        "10000",
        "--limits-tenant-per-minute",
        "10000",
    ];
    let arguments = [&METRICS[..], &limits].concat();
    let (mut pipe, _) = pod.begin(&arguments, &ENVIRONMENT).await.unwrap();
    let door = door(&mut pipe).await;
    pod.operator.says(Says::Hang);
    // More than a pipe and a tenant have room for.
    for id in 0..200 {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "project_list", "arguments": {}}});
        pipe.say(&call).await.unwrap();
    }
    let report = json!({"jsonrpc": "2.0", "id": "report", "method": "tools/call",
        "params": {"name": REPORT, "arguments": {"category": "tool_error", "description": "all hangs"}}});
    pipe.say(&report).await.unwrap();
    let answer = loop {
        let heard = pipe.hear().await.unwrap();
        if heard["id"] == "report" {
            break heard;
        }
    };
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(count(&metrics(&door).await, "tool_error", "error"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gauge_tells_the_tools_of_the_profile_in_force() {
    let pod = Pod::start().await;
    for (profile, label, tools) in [("review", "review", 40), ("nonsense", "all", 63)] {
        let variable = [("TATARA_TOOL_PROFILE", profile), ("TOOLGATE_LOG_FORMAT", "json")];
        let (mut pipe, _) = pod.begin(&METRICS, &variable).await.unwrap();
        let shown = metrics(&door(&mut pipe).await).await;
        let line = format!("tatara_mcp_registered_tools{{profile=\"{label}\"}} {tools}\n");
        assert!(shown.contains(&line), "{shown}");
        let told = pipe.leave().await.unwrap().stderr;
        assert!(
            told.contains(&format!("\"profile\":\"{label}\",\"tools\":{tools}")),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_does_not_answer_keeps_no_report_from_log_and_count() {
    if !available("a_store_that_does_not_answer_keeps_no_report_from_log_and_count") {
        return;
    }
    let postgres = Postgres::own().await.unwrap();
    let url = postgres.url();
    let pod = Pod::start().await;
    let arguments = [&METRICS[..], &["--database-url", &url]].concat();
    let (mut pipe, _) = pod.begin(&arguments, &ENVIRONMENT).await.unwrap();
    let door = door(&mut pipe).await;
    pipe.tools().await.unwrap();

    postgres.cluster().stop();
    let report = json!({"category": "workspace_broken", "description": "the disk is full"});
    let refused = pipe.call(REPORT, report.clone()).await.unwrap();
    let reason = &refused["result"]["_meta"]["toolgate/reason"];
    assert_eq!(reason, "AUDIT_UNAVAILABLE", "{refused}");
    assert_eq!(count(&metrics(&door).await, "workspace_broken", "error"), 1);

    postgres.cluster().cont();
    let told = records(&pipe.leave().await.unwrap().stderr);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["description"], "the disk is full");
}
