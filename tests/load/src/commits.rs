//! What the gateway itself says of its group commits.

use std::time::Duration;

use toolgate_test_support::Caller;

/// Totals since its start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Commits {
    count: f64,
    seconds: f64,
    rows: f64,
}

impl Commits {
    /// Reads them off `/metrics`.
    pub(crate) async fn read(gateway: &Caller) -> Self {
        let text = gateway.get("/metrics").await.text;
        let value = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
            line.unwrap_or_default()
        };
        Self {
            count: value("toolgate_journal_commit_seconds_count "),
            seconds: value("toolgate_journal_commit_seconds_sum "),
            rows: value("toolgate_journal_commit_ops_sum "),
        }
    }

    /// Mean time of a commit, and rows in it, since `before`.
    pub(crate) fn since(self, before: Self) -> (Duration, f64) {
        let count = (self.count - before.count).max(1.0);
        let mean = Duration::from_secs_f64(((self.seconds - before.seconds) / count).max(0.0));
        (mean, (self.rows - before.rows) / count)
    }
}
