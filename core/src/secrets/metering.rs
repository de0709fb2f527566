//! What is measured of secrets. Providers, outcomes and faults are closed sets, so the labels are too.

use std::time::Duration;

use super::{Fault, ProviderKind};

/// Lets the series of the gateway's own store begin at zero; those of other providers begin with their first event.
pub(super) fn begin() {
    let provider = ProviderKind::Local.as_str();
    for outcome in ["hit", "refused", "joined", "missed"] {
        metrics::counter!("toolgate_secret_requests_total", "provider" => provider, "outcome" => outcome)
            .absolute(0);
    }
    for fault in Fault::ALL {
        metrics::counter!("toolgate_secret_failures_total", "provider" => provider, "fault" => fault.as_str())
            .absolute(0);
    }
    // Made without a sample, it is shown with a count of zero.
    drop(metrics::histogram!("toolgate_secret_fetch_seconds", "provider" => provider));
}

/// Counts a secret that was asked for: `hit` and `refused` out of the cache, `joined` a fetch under way, `missed`.
pub(super) fn asked(provider: ProviderKind, outcome: &'static str) {
    metrics::counter!("toolgate_secret_requests_total", "provider" => provider.as_str(), "outcome" => outcome)
        .increment(1);
}

/// Measures a fetch at a provider, whatever came of it.
pub(super) fn fetched(provider: ProviderKind, took: Duration) {
    metrics::histogram!("toolgate_secret_fetch_seconds", "provider" => provider.as_str()).record(took);
}

/// Counts a fetch that gave no secret.
pub(super) fn failed(provider: ProviderKind, fault: Fault) {
    metrics::counter!("toolgate_secret_failures_total", "provider" => provider.as_str(), "fault" => fault.as_str())
        .increment(1);
}
