//! What is logged on this thread, as lines of a test.

use std::{
    fmt::{Debug, Write},
    sync::{Arc, Mutex},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::DefaultGuard,
};

/// Keeps every line until it is dropped.
pub(crate) struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    _guard: DefaultGuard,
}

impl Log {
    pub(crate) fn keep() -> Self {
        let lines = Arc::new(Mutex::default());
        let guard = toolgate_test_overheard::listen(Writer(Arc::clone(&lines)));
        Self { lines, _guard: guard }
    }

    /// The first line that holds `words`: level, then `name=value` of everything.
    #[track_caller]
    pub(crate) fn line(&self, words: &str) -> String {
        let lines = self.lines.lock().expect("lock");
        let found = lines.iter().find(|line| line.contains(words));
        found
            .unwrap_or_else(|| panic!("{words} is not in {lines:#?}"))
            .clone()
    }
}

struct Writer(Arc<Mutex<Vec<String>>>);

impl Subscriber for Writer {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("lock").push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}
