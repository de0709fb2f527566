//! `/metrics` of a running gateway shows exactly what `docs/metrics.md` lists: names, kinds, labels, units and words.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use toolgate_test_support::{Gateway, until};

const DOCUMENT: &str = include_str!("../../docs/metrics.md");

#[derive(Debug, Default, PartialEq, Eq)]
struct Metric {
    kind: String,
    labels: BTreeSet<String>,
    tells: String,
}

#[tokio::test]
async fn the_metrics_are_those_of_the_document() {
    let listed = listed();
    assert!(listed.len() > 10, "the table is found");
    let gateway = Gateway::start(&[]).await.unwrap();
    let admin = gateway.admin();
    let called = until(Duration::from_secs(20), || async {
        admin.run("uptime").await.ok()
    });
    called.await.expect("this host answers");
    admin.run("rm -rf /").await.unwrap_err();
    admin.post("/api/audit/verify", serde_json::json!({})).await;

    let text = admin.get("/metrics").await.text;
    assert_eq!(shown(&text), listed, "{text}");
}

fn listed() -> BTreeMap<String, Metric> {
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, unit, tells] = cells[..] else {
            panic!("{row} has not five cells");
        };
        let name = name.trim_matches('`');
        assert_eq!(name.ends_with("_seconds"), unit == "seconds", "{row}");
        let labels = labels.split(", ").filter(|label| !label.is_empty());
        let metric = Metric {
            kind: kind.into(),
            labels: labels.map(|label| label.trim_matches('`').into()).collect(),
            tells: tells.into(),
        };
        (name.to_owned(), metric)
    })
    .collect()
}

/// Reads the text format of Prometheus, as far as it is used.
fn shown(text: &str) -> BTreeMap<String, Metric> {
    let mut metrics: BTreeMap<String, Metric> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some((name, tells)) = line.strip_prefix("# HELP ").and_then(|it| it.split_once(' ')) {
            metrics.entry(name.into()).or_default().tells = tells.into();
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|it| it.split_once(' ')) {
            metrics.entry(name.into()).or_default().kind = kind.into();
        } else {
            let (series, _) = line.rsplit_once(' ').unwrap();
            let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
            let whole = ["_bucket", "_sum", "_count"].iter().find_map(|part| {
                let name = name.strip_suffix(part)?;
                metrics.contains_key(name).then(|| name.to_owned())
            });
            let names = labels.split('"').step_by(2).filter_map(|part| {
                let name = part.trim_matches([',', '=', '}', ' ']);
                (!name.is_empty() && name != "le").then(|| name.to_owned())
            });
            let metric = metrics
                .entry(whole.unwrap_or_else(|| name.to_owned()))
                .or_default();
            metric.labels.extend(names);
        }
    }
    metrics
}
