//! The metrics of this process, as text for Prometheus.

use std::{sync::Arc, time::Duration};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use toolgate_facade::MetricsText;

use crate::failure::Failure;

// Seconds; the budget is 10 ms over the target, the deadline 10 s.
const BUCKETS: [f64; 12] = [
    0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0,
];
// A group commit carries at most 512 rows.
const ROWS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
// A short answer, and the most that a model takes at once.
const TOKENS: [f64; 10] = [
    50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0, 25_000.0, 100_000.0,
];
const UPKEEP: Duration = Duration::from_secs(5);

/// Installs the recorder of this process and gives its text.
pub(super) fn start() -> Result<MetricsText, Failure> {
    let failed = |error| Failure::failed(format!("metrics cannot be kept: {error}"));
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &BUCKETS)
        .and_then(|builder| builder.set_buckets_for_metric(Matcher::Suffix("_ops".into()), &ROWS))
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Suffix("_tokens_estimated".into()), &TOKENS)
        })
        .map_err(failed)?;
    let handle = builder.install_recorder().map_err(failed)?;
    let upkeep = handle.clone();
    // Ends with the process, and holds nothing that must be put away.
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    Ok(Arc::new(move || handle.render()))
}
