//! Looks every second whether the file is another one.
//!
//! A new file counts once it stood still for one look: who sees an editor between emptying and writing would disable
//! every project.

use std::{convert::Infallible, fs, os::unix::fs::MetadataExt, path::Path, time::Duration};

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Following, complain, follow, tell, text};
use crate::config::problem::Problem;

const EVERY: Duration = Duration::from_secs(1);

/// By what one version of the file is told from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    seconds: i64,
    nanoseconds: i64,
    length: u64,
    inode: u64,
}

impl Stamp {
    /// Of the file at this path; `None` where there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        Some(Self {
            seconds: meta.mtime(),
            nanoseconds: meta.mtime_nsec(),
            length: meta.len(),
            inode: meta.ino(),
        })
    }
}

impl Following {
    /// Follows it until `closing`.
    pub(in crate::serve) async fn watch(self, closing: CancellationToken) -> Result<(), Infallible> {
        self.watch_every(EVERY, closing).await
    }

    pub(super) async fn watch_every(
        mut self,
        every: Duration,
        closing: CancellationToken,
    ) -> Result<(), Infallible> {
        let mut looks = interval(every);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // What was seen at the last look, where that is not what is followed.
        let mut moving = None;
        loop {
            tokio::select! {
                () = closing.cancelled() => return Ok(()),
                _ = looks.tick() => {}
            }
            let stamp = self.look().await;
            if stamp == self.seen {
                moving = None;
            } else if moving == Some(stamp) {
                moving = None;
                if self.take().await {
                    self.seen = stamp;
                }
            } else {
                moving = Some(stamp);
            }
        }
    }

    async fn look(&self) -> Option<Stamp> {
        let path = self.path.clone();
        let looked = tokio::task::spawn_blocking(move || Stamp::of(&path)).await;
        looked.unwrap_or(self.seen)
    }

    // False where it has to be tried again.
    async fn take(&self) -> bool {
        let path = self.path.clone();
        let read = tokio::task::spawn_blocking(move || text::read(&path)).await;
        let wanted = match read {
            Ok(Ok(wanted)) => wanted,
            Ok(Err(problems)) => {
                complain(&problems);
                return true;
            }
            Err(lost) => {
                complain(&[Problem::new(self.path.display().to_string(), lost.to_string())]);
                return true;
            }
        };
        match follow(&self.projects, &wanted).await {
            Ok(followed) => {
                tell(&self.path, &followed);
                true
            }
            Err(error) => {
                tracing::error!(path = %self.path.display(), %error, "the file of projects cannot be followed now");
                false
            }
        }
    }
}
