//! How long a peer may keep a connection that carries no request: no longer than a head may take before its first one,
//! and no longer than the idle time between two of HTTP/2. Between two of HTTP/1 hyper's own timer does the same.

use std::{future::Future, time::Duration};

use hyper::rt::Executor;
use tokio::{sync::watch, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Spawns the tasks of HTTP/2 streams where they are joined, and counts those of one connection.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    tasks: TaskTracker,
    open: watch::Sender<usize>,
}

impl Streams {
    pub(super) fn new(tasks: TaskTracker) -> Self {
        Self {
            tasks,
            open: watch::Sender::new(0),
        }
    }

    pub(super) fn watch(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }
}

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        let counted = Counted::new(self.open.clone());
        self.tasks.spawn(async move {
            task.await;
            drop(counted);
        });
    }
}

/// One open stream.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(open: watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// What is to be watched of a connection, and for how long it may be silent.
pub(super) struct Silence {
    /// Fires with the first request.
    pub(super) spoken: CancellationToken,
    /// Open streams of HTTP/2.
    pub(super) streams: watch::Receiver<usize>,
    /// Until the first request.
    pub(super) first: Duration,
    /// Between two of them.
    pub(super) idle: Duration,
}

impl Silence {
    /// Waits until the peer has been silent for too long.
    pub(super) async fn too_long(mut self) {
        if timeout(self.first, self.spoken.cancelled()).await.is_err() {
            return;
        }
        // With HTTP/1 there is never a stream, and never an end of this wait.
        while self.streams.changed().await.is_ok() {
            if self.streams.wait_for(|open| *open == 0).await.is_err() {
                break;
            }
            if timeout(self.idle, self.streams.changed()).await.is_err() {
                return;
            }
            self.streams.mark_changed();
        }
        // The connection ends on its own.
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    const FIRST: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(75);

    fn silence(streams: &Streams) -> Silence {
        Silence {
            spoken: CancellationToken::new(),
            streams: streams.watch(),
            first: FIRST,
            idle: IDLE,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_asks_nothing_has_as_long_as_a_head_may_take() {
        let began = Instant::now();
        silence(&Streams::new(TaskTracker::new())).too_long().await;
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_without_an_open_stream_is_idle_until_it_opens_one() {
        let streams = Streams::new(TaskTracker::new());
        let silence = silence(&streams);
        silence.spoken.cancel();
        // Open until 300, and again from 370 until 400.
        for (from, until) in [(0, 300), (370, 400)] {
            let streams = streams.clone();
            tokio::spawn(async move {
                sleep(Duration::from_secs(from)).await;
                streams.execute(sleep(Duration::from_secs(until - from)));
            });
        }
        let began = Instant::now();
        silence.too_long().await;
        assert_eq!(began.elapsed().as_secs(), 475);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_without_streams_is_left_to_the_timer_of_its_protocol() {
        let streams = Streams::new(TaskTracker::new());
        let silence = silence(&streams);
        silence.spoken.cancel();
        assert!(timeout(IDLE * 10, silence.too_long()).await.is_err());
    }
}
