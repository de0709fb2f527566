//! Whose turn it is to have the keys read: a token with an unknown key brings one turn a minute forward, however many
//! such tokens come.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;

/// How often something is read.
const EVERY: Duration = Duration::from_secs(600);
/// How soon again, where it could not be.
const AGAIN: Duration = Duration::from_secs(60);
/// Unknown keys bring a turn forward once in this time.
const ONCE_IN: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Turns {
    clock: Clock,
    state: Mutex<State>,
    wanted: Notify,
    ended: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    under_way: bool,
    brought_forward: Option<Duration>,
}

/// A turn under way; it has ended when this is dropped.
#[derive(Debug)]
struct Turn<'a>(&'a Turns);

impl Turns {
    /// The first turn is about to begin: whoever comes before it waits for it.
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            state: Mutex::new(State {
                under_way: true,
                brought_forward: None,
            }),
            wanted: Notify::new(),
            ended: watch::Sender::new(0),
        }
    }

    /// Waits for the end of a turn that is under way or could be brought forward; at once where there is none.
    pub(crate) async fn newer(&self) {
        // Looked at before it is asked for, so that no end is missed.
        let mut ended = self.ended.subscribe();
        if self.bring_forward() {
            let _ = ended.changed().await;
        }
    }

    /// Reads now and whenever it is time, until `stop`. `read` says whether it could.
    pub(crate) async fn take<R: Future<Output = bool>>(
        &self,
        stop: &CancellationToken,
        read: impl Fn() -> R,
    ) {
        loop {
            let turn = self.begin();
            // Cancel-safe: a read that is dropped changes nothing.
            let pause = tokio::select! {
                () = stop.cancelled() => return,
                read = read() => if read { EVERY } else { AGAIN },
            };
            drop(turn);
            // Cancel-safe: nothing is lost by not sleeping to the end.
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(pause) => {}
                () = self.wanted.notified() => {}
            }
        }
    }

    fn begin(&self) -> Turn<'_> {
        self.state().under_way = true;
        Turn(self)
    }

    fn bring_forward(&self) -> bool {
        let now = self.clock.monotonic();
        let mut state = self.state();
        if state.under_way {
            return true;
        }
        let is_spent = |last: Duration| now.saturating_sub(last) < ONCE_IN;
        if state.brought_forward.is_some_and(is_spent) {
            return false;
        }
        *state = State {
            under_way: true,
            brought_forward: Some(now),
        };
        self.wanted.notify_one();
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().under_way = false;
        self.0.ended.send_modify(|turns| *turns += 1);
    }
}
