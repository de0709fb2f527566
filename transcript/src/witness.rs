//! For tests: what was logged and counted while something ran.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use metrics_exporter_prometheus::PrometheusBuilder;
use tracing::{
    Event, Level,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::{Layer, layer::Context, prelude::*};

/// One record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// How severe.
    pub(crate) level: Level,
    /// Its fields, the message as `message`.
    pub(crate) fields: BTreeMap<&'static str, String>,
}

impl Record {
    /// A field; empty where there is none.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

/// What there was to see.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Records in their order.
    pub(crate) records: Vec<Record>,
    /// The metrics as Prometheus reads them.
    pub(crate) metrics: String,
}

impl Seen {
    /// The records with this `action`.
    pub(crate) fn of(&self, action: &str) -> Vec<&Record> {
        self.records
            .iter()
            .filter(|record| record.field("action") == action)
            .collect()
    }

    /// The descriptions of the issues in their order.
    pub(crate) fn descriptions(&self) -> Vec<&str> {
        let issues = self.of("internal_issue_report");
        issues
            .into_iter()
            .map(|record| record.field("description"))
            .collect()
    }

    /// How many issues were counted under these labels.
    pub(crate) fn count(&self, category: &str, severity: &str) -> u64 {
        let series = format!(
            "{}{{category=\"{category}\",severity=\"{severity}\"}} ",
            crate::COUNTER
        );
        let line = self.metrics.lines().find_map(|line| line.strip_prefix(&series));
        line.map_or(0, |count| count.parse().unwrap())
    }

    /// How many were counted in all.
    pub(crate) fn counted(&self) -> u64 {
        let series = self
            .metrics
            .lines()
            .filter(|line| line.starts_with(crate::COUNTER));
        series
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(_, count)| count.parse::<u64>().unwrap())
            .sum()
    }
}

/// Runs something and looks on.
pub(crate) fn watch(run: impl FnOnce()) -> Seen {
    watch_at(LevelFilter::TRACE, run)
}

/// The same with a log that takes only these levels.
pub(crate) fn watch_at(level: LevelFilter, run: impl FnOnce()) -> Seen {
    let records = Records::default();
    let subscriber = tracing_subscriber::registry().with(records.clone().with_filter(level));
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let _listening = toolgate_test_overheard::listen(subscriber);
        run();
    });
    let records = std::mem::take(&mut *records.0.lock().unwrap_or_else(PoisonError::into_inner));
    Seen {
        records,
        metrics: metrics.render(),
    }
}

#[derive(Debug, Clone, Default)]
struct Records(Arc<Mutex<Vec<Record>>>);

impl<S: tracing::Subscriber> Layer<S> for Records {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let record = Record {
            level: *event.metadata().level(),
            fields: fields.0,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
