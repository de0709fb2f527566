use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex},
};

use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::json;
use toolgate_contract::ids::TenantId;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::*;
use crate::{identity::Role, secrets::SecretValue};

type Fields = BTreeMap<String, String>;

/// Keeps every record that is not filtered out.
#[derive(Clone)]
struct Records {
    least: Option<Level>,
    kept: Arc<Mutex<Vec<(Level, Fields)>>>,
}

struct Told(Fields);

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Records {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.least.is_some_and(|least| *metadata.level() <= least)
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Told(Fields::new());
        event.record(&mut told);
        let record = (*event.metadata().level(), told.0);
        self.kept.lock().unwrap().push(record);
    }
}

fn issues() -> InternalIssues {
    InternalIssues {
        repo: "https://bot:hunter2@git.example/shop".into(),
        kind: "implement".into(),
        known: vec![Traces::of(
            &SecretValue::new(b"opaque-CANARY-0123456789").unwrap(),
        )],
    }
}

/// What is logged at these levels, what the metrics say afterwards, and what the record may say.
fn report(arguments: &Value, least: Option<Level>) -> (Vec<(Level, Fields)>, String, Value) {
    let recorder = PrometheusBuilder::new().build_recorder();
    let records = Records {
        least,
        kept: Arc::default(),
    };
    let principal = Principal {
        tenant: TenantId::local(),
        name: "pod".into(),
        role: Role::Agent,
        pinned: None,
    };
    let origin = Origin {
        call: CallId::mint(),
        principal: &principal,
        project: "shop",
        task: "t-7",
    };
    let metrics = recorder.handle();
    let detail = metrics::with_local_recorder(&recorder, || {
        begin();
        let _listening = toolgate_test_overheard::listen(records.clone());
        issues().report(origin, arguments)
    });
    let kept = records.kept.lock().unwrap().clone();
    (kept, metrics.render(), Value::Object(detail))
}

fn counted(metrics: &str, category: &str, severity: &str) -> u64 {
    let series =
        format!("tatara_mcp_internal_issue_total{{category=\"{category}\",severity=\"{severity}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
    line.expect(&series).parse().unwrap()
}

#[test]
fn a_report_is_one_record_with_every_field_and_one_count() {
    let arguments = json!({"category": "tool_error", "severity": "warn", "description": "query answers nothing",
        "offending_tool": "query", "resource_id": "mem-7"});
    let (records, metrics, detail) = report(&arguments, Some(Level::TRACE));
    let [(level, fields)] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!(*level, Level::WARN);
    let expected = [
        ("message", "internal issue reported"),
        ("action", "internal_issue_report"),
        ("category", "tool_error"),
        ("severity", "warn"),
        ("description", "query answers nothing"),
        ("offending_tool", "query"),
        ("resource_id", "mem-7"),
        ("project", "shop"),
        ("task", "t-7"),
        ("repo", "https://***@git.example/shop"),
        ("kind", "implement"),
        ("tenant", "local"),
        ("principal", "pod"),
    ];
    for (name, value) in expected {
        assert_eq!(fields[name], value, "{name}");
    }
    assert_eq!(fields.len(), expected.len() + 1, "{fields:?}");
    assert_eq!(counted(&metrics, "tool_error", "warn"), 1);
    assert_eq!(
        detail,
        json!({"category": "tool_error", "severity": "warn", "offending_tool": "query", "resource_id": "mem-7"})
    );
}

#[test]
fn every_series_begins_at_zero_and_a_report_without_severity_is_an_error() {
    let (records, metrics, _) = report(
        &json!({"category": "auth", "description": "x"}),
        Some(Level::TRACE),
    );
    assert_eq!((records.len(), records[0].0), (1, Level::ERROR));
    let series = metrics
        .lines()
        .filter(|line| line.starts_with("tatara_mcp_internal_issue_total{"));
    assert_eq!(series.count(), 14);
    assert_eq!(counted(&metrics, "auth", "error"), 1);
    assert_eq!(counted(&metrics, "auth", "warn"), 0);
}

#[test]
fn the_count_moves_whatever_of_the_log_is_left_out() {
    let arguments = json!({"category": "other", "severity": "warn", "description": "x"});
    for least in [None, Some(Level::ERROR)] {
        let (records, metrics, _) = report(&arguments, least);
        assert_eq!(
            (records.len(), counted(&metrics, "other", "warn")),
            (0, 1),
            "{least:?}"
        );
    }
}

#[test]
fn no_secret_and_no_prose_goes_where_it_does_not_belong() {
    let arguments = json!({"category": "auth", "resource_id": "the one with password=hunter2",
        "offending_tool": "ghp_0123456789abcdefghij",
        "description": "401 with Authorization: Bearer tgk_local_abc and opaque-CANARY-0123456789 of the memory"});
    let (records, _, detail) = report(&arguments, Some(Level::TRACE));
    let told = format!("{records:?} {detail}");
    for secret in ["tgk_local", "CANARY", "hunter2", "ghp_"] {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(
        records[0].1["description"].starts_with("401 with Authorization: "),
        "{told}"
    );
    assert_eq!(
        detail,
        json!({"category": "auth", "severity": "error", "offending_tool": "***"})
    );
}

#[test]
fn a_long_report_is_cut_below_what_log_lines_hold() {
    let (records, ..) = report(
        &json!({"category": "other", "description": "ü".repeat(20_000)}),
        Some(Level::TRACE),
    );
    assert!(records[0].1["description"].len() <= LONGEST_TEXT);
}
