//! The one place that reads time. Tests pass a clock they move by hand.
//!
//! Wall time dates records; monotonic time runs limits and deadlines, so a wall clock that goes backwards changes
//! nothing there.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Wall and monotonic time.
#[derive(Debug, Clone)]
pub struct Clock(Source);

#[derive(Debug, Clone)]
enum Source {
    System { start: Instant },
    Manual(Arc<Hands>),
}

#[derive(Debug)]
struct Hands {
    wall_us: AtomicI64,
    monotonic_us: AtomicU64,
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System {
            start: Instant::now(),
        })
    }

    /// A clock that stands still at `wall_us` until it is moved.
    #[must_use]
    pub fn manual(wall_us: i64) -> Self {
        Self(Source::Manual(Arc::new(Hands {
            wall_us: AtomicI64::new(wall_us),
            monotonic_us: AtomicU64::new(0),
        })))
    }

    /// Microseconds since 1970, UTC.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the place")]
    pub fn wall_us(&self) -> i64 {
        match &self.0 {
            Source::System { .. } => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)),
            Source::Manual(hands) => hands.wall_us.load(Ordering::SeqCst),
        }
    }

    /// Time since an arbitrary start; never goes back.
    #[must_use]
    pub fn monotonic(&self) -> Duration {
        match &self.0 {
            Source::System { start } => start.elapsed(),
            Source::Manual(hands) => Duration::from_micros(hands.monotonic_us.load(Ordering::SeqCst)),
        }
    }

    /// Moves a manual clock forward, both hands. Does nothing to the machine's clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Manual(hands) = &self.0 {
            let us = by.as_micros();
            hands
                .wall_us
                .fetch_add(i64::try_from(us).unwrap_or(i64::MAX), Ordering::SeqCst);
            hands
                .monotonic_us
                .fetch_add(u64::try_from(us).unwrap_or(u64::MAX), Ordering::SeqCst);
        }
    }

    /// Sets only the wall hand of a manual clock, backwards as well.
    pub fn set_wall_us(&self, wall_us: i64) {
        if let Source::Manual(hands) = &self.0 {
            hands.wall_us.store(wall_us, Ordering::SeqCst);
        }
    }
}
