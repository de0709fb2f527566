//! Brings lines from the files to a sink, again and again until it takes them. One task of its own for each sink.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ring::rand::{SecureRandom, SystemRandom};
use tokio::{sync::watch, task, time};
use tokio_util::sync::CancellationToken;

use super::{Sink, SinkError, cursor::Cursor};
use crate::anchor::files::Mark;

/// How lines are brought.
#[derive(Debug, Clone, Copy)]
pub(in crate::anchor) struct Pace {
    /// The first wait after a failure; each further one is twice as long.
    pub(in crate::anchor) first_wait: Duration,
    /// No wait is longer.
    pub(in crate::anchor) longest_wait: Duration,
    /// Bytes brought at once.
    pub(in crate::anchor) most_bytes: u64,
    /// What is left at shutdown has so long.
    pub(in crate::anchor) last_lines: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
            most_bytes: 256 * 1024,
            last_lines: Duration::from_millis(500),
        }
    }
}

/// Brings lines to one sink.
#[derive(Debug)]
pub(in crate::anchor) struct Courier {
    sink: Arc<dyn Sink>,
    // Locked on blocking threads only.
    cursor: Arc<Mutex<Cursor>>,
    durable: watch::Receiver<Mark>,
    pace: Pace,
    failures: u32,
}

impl Courier {
    /// `peer` tells one receiver from another, without blanks.
    pub(in crate::anchor) fn new(
        sink: Arc<dyn Sink>,
        peer: &str,
        folder: &Path,
        durable: watch::Receiver<Mark>,
        pace: Pace,
    ) -> Self {
        Self {
            cursor: Arc::new(Mutex::new(Cursor::open(folder, sink.name(), peer))),
            sink,
            durable,
            pace,
            failures: 0,
        }
    }

    /// Brings what there is and what comes, until `stop`; then tries once more for a moment.
    pub(in crate::anchor) async fn bring(mut self, stop: CancellationToken) {
        loop {
            // Dropped half way, a batch is brought again: sinks take that for done.
            let ended = tokio::select! {
                () = stop.cancelled() => break,
                ended = self.bring_all() => ended,
            };
            let wait = match ended {
                Ok(()) => None,
                Err(error) => Some(self.note(&error)),
            };
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.rest(wait) => {}
            }
        }
        // Their place in the files is kept, so what is not taken now is brought after the next start.
        if time::timeout(self.pace.last_lines, self.bring_all())
            .await
            .is_err()
        {
            tracing::warn!(
                sink = self.sink.name(),
                "the last checkpoints were not taken; they are brought after the next start"
            );
        }
    }

    /// Brings batch after batch until there is nothing more.
    pub(in crate::anchor) async fn bring_all(&mut self) -> Result<(), SinkError> {
        loop {
            let durable = self.durable.borrow_and_update().clone();
            let most = self.pace.most_bytes;
            let next = self.on_disk(move |cursor| cursor.next(&durable, most)).await?;
            let Some(batch) = next else {
                return Ok(());
            };
            self.sink.append(batch.lines.clone()).await?;
            self.on_disk(move |cursor| cursor.taken(&batch)).await?;
            if self.failures > 0 {
                tracing::info!(sink = self.sink.name(), "a sink takes checkpoints again");
                self.failures = 0;
            }
        }
    }

    async fn rest(&mut self, wait: Option<Duration>) {
        match wait {
            Some(wait) => time::sleep(wait).await,
            // The files are gone when the keeper is; then only `stop` is left to wait for.
            None if self.durable.changed().await.is_err() => std::future::pending().await,
            None => {}
        }
    }

    fn note(&mut self, error: &SinkError) -> Duration {
        metrics::counter!("toolgate_checkpoint_sink_failures_total", "sink" => self.sink.name()).increment(1);
        self.failures = self.failures.saturating_add(1);
        if self.failures == 1 {
            tracing::error!(sink = self.sink.name(), %error, "a sink does not take checkpoints; they are brought again until it does");
        } else {
            tracing::debug!(sink = self.sink.name(), failures = self.failures, %error, "a sink still takes no checkpoints");
        }
        wait(self.pace, self.failures)
    }

    async fn on_disk<T, F>(&self, work: F) -> Result<T, SinkError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Cursor) -> io::Result<T> + Send + 'static,
    {
        let cursor = Arc::clone(&self.cursor);
        let work = move || work(&mut cursor.lock().unwrap_or_else(PoisonError::into_inner));
        let done = task::spawn_blocking(work)
            .await
            .map_err(io::Error::other)
            .flatten();
        done.map_err(|error| SinkError(format!("the checkpoint files cannot be read: {error}")))
    }
}

/// Half of the doubled wait is certain and half is chance, so that many gateways do not knock at once.
fn wait(pace: Pace, failures: u32) -> Duration {
    let doubled = pace
        .first_wait
        .saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX))
        .min(pace.longest_wait);
    let mut byte = [0];
    // Without chance the longest wait is taken.
    let share = SystemRandom::new().fill(&mut byte).map_or(255, |()| byte[0]);
    doubled / 2 + doubled / 2 * u32::from(share) / 255
}

#[cfg(test)]
mod tests;
