//! Keeps data keys wrapped with the newest root: at the start, after each rotation, and now and then, because another
//! instance may have wrapped with the former root a moment longer.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Local;
use crate::clock::Clock;

/// How often the folder of keys is looked into.
const LOOK: Duration = Duration::from_secs(1);
/// How often everything is gone through without a new root.
const AGAIN: Duration = Duration::from_secs(600);

impl Local {
    /// Takes up new roots and wraps anew, until `stop`.
    pub async fn keep(self, clock: Clock, stop: CancellationToken) {
        let mut tick = interval(LOOK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut due, mut told) = (Duration::ZERO, String::new());
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = tick.tick() => {}
            }
            let newer = match self.keys.take_up_newer() {
                Ok(newer) => {
                    told.clear();
                    newer
                }
                Err(error) => {
                    // Said once, not every second.
                    let text = error.to_string();
                    if text != told {
                        tracing::error!(%error, "the folder of keys cannot be used any more");
                        told = text;
                    }
                    false
                }
            };
            let now = clock.monotonic();
            if newer || now >= due {
                // Cancel-safe: a batch is a transaction of its own.
                let whole = tokio::select! {
                    () = stop.cancelled() => return,
                    whole = self.wrap_anew(clock.wall_us()) => whole,
                };
                due = now + if whole { AGAIN } else { LOOK };
            }
        }
    }

    /// False when it has to be done again soon.
    async fn wrap_anew(&self, now_us: i64) -> bool {
        match self.rewrap_all(now_us).await {
            Ok(rewrapped) => {
                if rewrapped.done > 0 {
                    let root = self.keys.newest_id();
                    tracing::info!(done = rewrapped.done, %root, "data keys are wrapped with the newest root");
                }
                if rewrapped.stuck > 0 {
                    let stuck = rewrapped.stuck;
                    tracing::warn!(
                        stuck,
                        "secrets do not open with the root they name; their targets need them anew"
                    );
                }
                true
            }
            Err(error) => {
                tracing::warn!(%error, "data keys cannot be wrapped anew now");
                false
            }
        }
    }
}
