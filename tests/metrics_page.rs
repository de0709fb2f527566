//! What `docs/metrics.md` lists, and what a page of metrics shows, in one form.

use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = include_str!("../docs/metrics.md");

/// One metric.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Metric {
    kind: String,
    labels: BTreeSet<String>,
    tells: String,
}

/// The metrics of the table below a heading; of the first one without.
pub(crate) fn listed(heading: Option<&str>) -> BTreeMap<String, Metric> {
    let part = match heading {
        None => DOCUMENT,
        Some(heading) => {
            DOCUMENT
                .split_once(&format!("\n## {heading}\n"))
                .expect(heading)
                .1
        }
    };
    let part = part.split("\n## ").next().unwrap_or_default();
    let rows = part.lines().filter(|line| line.starts_with("| `"));
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
pub(crate) fn shown(text: &str) -> BTreeMap<String, Metric> {
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
