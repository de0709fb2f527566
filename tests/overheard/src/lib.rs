//! Listening to what is logged on the thread of a test, whatever the other threads of its process log.
//!
//! `tracing` keeps, for each place that logs, whether anybody wants to hear it. Where a process has one subscriber only,
//! the thread that comes by such a place first asks its own, and what it answers holds for all: another test, on a thread
//! where nobody listens, makes the place silent for the test that does. With a second subscriber every one of them is
//! asked, whoever comes by first.

use std::sync::OnceLock;

use tracing::{
    Dispatch, Subscriber,
    dispatcher::{self, DefaultGuard},
    subscriber::NoSubscriber,
};

/// Lets `subscriber` hear this thread until the guard is dropped.
#[must_use = "nothing is heard once it is dropped"]
pub fn listen(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    static SECOND: OnceLock<Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| Dispatch::new(NoSubscriber::new()));
    dispatcher::set_default(&Dispatch::new(subscriber))
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering},
        },
        thread,
    };

    use tracing::{
        Event, Metadata,
        span::{Attributes, Id, Record},
    };

    use super::*;

    struct Counter(Arc<AtomicU32>);

    impl Subscriber for Counter {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_thread_that_listens_hears_a_place_that_another_came_by_first() {
        fn log() {
            tracing::info!("said");
        }
        let heard = Arc::new(AtomicU32::new(0));
        let _listening = listen(Counter(Arc::clone(&heard)));
        thread::spawn(log).join().unwrap();
        log();
        assert_eq!(heard.load(Ordering::Relaxed), 1);
    }
}
