use std::collections::BTreeMap;

use serde_json::{Value, json};
use tracing::{Level, level_filters::LevelFilter};

use crate::{
    REPORT_TOOL, Turns, Work,
    report::{CATEGORIES, SEVERITIES},
    witness::{Seen, watch, watch_at},
};

fn line(input: Value) -> String {
    json!({
        "type": "assistant", "turnId": "turn-9", "sessionId": "session-1", "uuid": "u",
        "message": {"id": "msg_1", "role": "assistant", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": REPORT_TOOL, "input": input}
        ]},
    })
    .to_string()
}

fn tell(line: &str) {
    crate::read(
        line.as_bytes(),
        REPORT_TOOL,
        &mut Turns::default(),
        &mut |block, issue| {
            super::tell(&work(), block, issue);
        },
    );
}

fn work() -> Work {
    Work {
        project: "p-1".into(),
        task: "t-1".into(),
        kind: "implement".into(),
        ..Work::default()
    }
}

const WORK: [(&str, &str); 4] = [
    ("project", "p-1"),
    ("task", "t-1"),
    ("repo", ""),
    ("kind", "implement"),
];

fn seen_of(input: Value) -> Seen {
    watch(|| tell(&line(input)))
}

fn fields<const N: usize>(pairs: [(&'static str, &str); N]) -> BTreeMap<&'static str, String> {
    pairs.map(|(name, value)| (name, value.to_owned())).into()
}

const IDS: [(&str, &str); 4] = [
    ("turn_id", "turn-9"),
    ("session_id", "session-1"),
    ("message_id", "msg_1"),
    ("tool_use_id", "toolu_1"),
];

#[test]
fn a_report_is_told_twice_field_by_field() {
    let seen = seen_of(json!({
        "category": "memory_inconsistent", "severity": "warn", "description": "two facts disagree",
        "offending_tool": "query_memory", "resource_id": "entity/7",
    }));
    let [generic, issue] = &seen.records[..] else {
        panic!("{seen:?}")
    };
    let mut expected = fields([
        ("message", "agent stream"),
        ("action", "agent_stream"),
        ("block_type", "tool_use"),
        ("tool", REPORT_TOOL),
    ]);
    expected.extend(fields(IDS));
    assert_eq!((generic.level, &generic.fields), (Level::INFO, &expected));
    let mut expected = fields([
        ("message", "internal issue reported"),
        ("action", "internal_issue_report"),
        ("category", "memory_inconsistent"),
        ("severity", "warn"),
        ("description", "two facts disagree"),
        ("offending_tool", "query_memory"),
        ("resource_id", "entity/7"),
    ]);
    expected.extend(fields(IDS));
    expected.extend(fields(WORK));
    assert_eq!((issue.level, &issue.fields), (Level::WARN, &expected));
    assert_eq!(
        (seen.count("memory_inconsistent", "warn"), seen.counted()),
        (1, 1)
    );
}

#[test]
fn the_level_follows_the_severity_and_the_record_keeps_what_was_written() {
    let check = |input: Value, level: Level, told: (&str, &str), counted: (&str, &str)| {
        let seen = seen_of(input.clone());
        let issues = seen.of("internal_issue_report");
        assert_eq!(issues.len(), 1, "{input}");
        assert_eq!(issues[0].level, level, "{input}");
        assert_eq!(
            (issues[0].field("category"), issues[0].field("severity")),
            told,
            "{input}"
        );
        assert_eq!(
            (seen.count(counted.0, counted.1), seen.counted()),
            (1, 1),
            "{input}"
        );
        assert!(!issues[0].fields.contains_key("parse_error"), "{input}");
        assert_eq!(seen.of("agent_stream").len(), 1, "{input}");
    };
    for category in CATEGORIES {
        for (severity, level) in SEVERITIES.into_iter().zip([Level::WARN, Level::ERROR]) {
            let input = json!({"category": category, "severity": severity, "description": "d"});
            check(input, level, (category, severity), (category, severity));
        }
    }
    check(
        json!({"category": "auth", "description": "d"}),
        Level::ERROR,
        ("auth", "error"),
        ("auth", "error"),
    );
    check(
        json!({"category": "weather", "severity": "warn", "description": "d"}),
        Level::WARN,
        ("weather", "warn"),
        ("other", "warn"),
    );
    check(
        json!({"category": "auth", "severity": "fatal", "description": "d"}),
        Level::ERROR,
        ("auth", "fatal"),
        ("auth", "error"),
    );
    check(json!({}), Level::ERROR, ("other", "error"), ("other", "error"));
}

#[test]
fn what_cannot_be_read_is_an_error_and_counts() {
    let seen = seen_of(json!({"category": 5, "description": "ghp_0123456789abcdefghij0123456789abcdef"}));
    let issues = seen.of("internal_issue_report");
    let mut expected = fields([
        ("message", "internal issue reported"),
        ("action", "internal_issue_report"),
        ("category", "other"),
        ("severity", "error"),
        ("parse_error", "`category` is no text"),
        ("input", r#"{"category":5,"description":"***"}"#),
    ]);
    expected.extend(fields(IDS));
    expected.extend(fields(WORK));
    assert_eq!((issues[0].level, &issues[0].fields), (Level::ERROR, &expected));
    assert_eq!(seen.of("agent_stream").len(), 1);
    assert_eq!((seen.count("other", "error"), seen.counted()), (1, 1));

    let broken = line(json!({"category": "auth"}));
    let seen = watch(|| tell(&broken[..broken.len() - 2]));
    let issues = seen.of("internal_issue_report");
    assert_eq!(issues[0].field("parse_error"), "the line is no JSON");
    assert_eq!((issues[0].level, seen.records.len()), (Level::ERROR, 1));
    assert_eq!((seen.count("other", "error"), seen.counted()), (1, 1));
}

#[test]
fn the_count_moves_whatever_the_level_of_the_log() {
    for level in [LevelFilter::OFF, LevelFilter::ERROR] {
        let input = json!({"category": "auth", "severity": "warn", "description": "d"});
        let seen = watch_at(level, || tell(&line(input)));
        assert_eq!(seen.records, []);
        assert_eq!(seen.count("auth", "warn"), 1, "{level}");
    }
}

#[test]
fn no_secret_that_an_agent_quotes_reaches_the_log() {
    let secrets = [
        "tgk_01J_abcdefgh",
        "hunter2hunter2",
        "AKIAIOSFODNN7EXAMPLE",
        "sk-abcdefgh12345678",
    ];
    let [token, password, key, other] = secrets;
    let seen = seen_of(json!({
        "category": format!("Bearer {token}"), "severity": format!("password={password}"),
        "description": format!("the call with {key} failed, https://me:{password}@host/x"),
        "offending_tool": other, "resource_id": format!("token: {token}"),
    }));
    let told = format!("{:?}", seen.records);
    for secret in secrets {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(
        told.contains("the call with *** failed, https://***@host/x"),
        "{told}"
    );
}

#[test]
fn what_is_told_is_bounded_whatever_is_written() {
    let long = "ä".repeat(100_000);
    let seen = seen_of(json!({
        "category": long, "severity": long, "description": long, "offending_tool": long, "resource_id": long,
    }));
    for record in &seen.records {
        for (name, value) in &record.fields {
            let most = if *name == "description" { 12 * 1024 } else { 256 };
            assert!(value.len() <= most, "{name}");
        }
    }
    let seen = seen_of(json!([long]));
    assert!(seen.of("internal_issue_report")[0].field("input").len() <= 1024);
}

#[test]
fn every_series_begins_at_zero() {
    let seen = watch(super::begin);
    let series = seen.metrics.lines().filter(|line| line.ends_with("} 0"));
    assert_eq!(series.count(), CATEGORIES.len() * SEVERITIES.len());
    assert!(
        seen.metrics
            .contains("# TYPE tatara_wrapper_internal_issue_total counter")
    );
    assert!(
        seen.metrics
            .contains("# HELP tatara_wrapper_internal_issue_total Internal issues")
    );
}
