//! What a server prints to standard error, as lines of the log: cut, and not too many of them.

use std::time::Duration;

use tokio::{io::AsyncRead, time::Instant};

use super::lines::{Line, Lines};
use crate::{exec::plain, guard};

/// The longest line that is logged whole.
const LONGEST: usize = 4096;
/// Lines that are logged in one window.
const MOST: u32 = 100;
const WINDOW: Duration = Duration::from_secs(10);

/// Logs until the server closes it.
pub(crate) async fn keep(stderr: impl AsyncRead + Unpin) {
    let mut lines = Lines::new(stderr, LONGEST);
    let mut quota = Quota::new();
    while let Ok(Some(line)) = lines.next().await {
        if !quota.admits() {
            continue;
        }
        match line {
            Line::Whole(line) if line.starts_with(guard::FAILED.as_bytes()) => {
                tracing::error!(
                    why = plain(&line[guard::FAILED.len()..]),
                    "the server cannot be started"
                );
            }
            Line::Whole(line) => tracing::info!(line = plain(&line), "the server says"),
            Line::TooLong { head, .. } => {
                tracing::info!(line = plain(&head), "the server says, at more length")
            }
        }
    }
}

struct Quota {
    since: Instant,
    lines: u32,
}

impl Quota {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            lines: 0,
        }
    }

    fn admits(&mut self) -> bool {
        if self.since.elapsed() >= WINDOW {
            if self.lines > MOST {
                tracing::warn!(
                    lines = self.lines - MOST,
                    "lines of the server were left out of this log"
                );
            }
            *self = Self::new();
        }
        self.lines = self.lines.saturating_add(1);
        self.lines <= MOST
    }
}
