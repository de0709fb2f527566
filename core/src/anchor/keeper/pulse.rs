//! When a round last ended well, for whoever watches.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

/// The keeper's pulse.
#[derive(Debug)]
pub(in crate::anchor) struct Pulse {
    /// Monotonic microseconds.
    last: AtomicU64,
    late_after: Duration,
    is_late: AtomicBool,
}

impl Pulse {
    /// Counts from `now`. Two beats may fail before anybody is told.
    pub(in crate::anchor) fn new(now: Duration, interval: Duration) -> Self {
        Self {
            last: AtomicU64::new(micros(now)),
            late_after: interval * 2 + Duration::from_secs(5),
            is_late: AtomicBool::new(false),
        }
    }

    pub(super) fn beat(&self, now: Duration) {
        self.last.store(micros(now), Ordering::Relaxed);
        if self.is_late.swap(false, Ordering::Relaxed) {
            tracing::info!("checkpoints are signed again");
        }
    }

    /// Tells the age of the newest round, and once when it is late.
    pub(in crate::anchor) fn tell(&self, now: Duration) -> bool {
        let age = now.saturating_sub(Duration::from_micros(self.last.load(Ordering::Relaxed)));
        metrics::gauge!("toolgate_checkpoint_age_seconds").set(age.as_secs_f64());
        let late = age > self.late_after;
        if late && !self.is_late.swap(true, Ordering::Relaxed) {
            tracing::error!(
                age_s = age.as_secs(),
                "checkpoints are late: rows may be cut unseen until they are signed again"
            );
        }
        late
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
