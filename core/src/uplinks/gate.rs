//! How many strangers may knock at once, and how fast.
//!
//! After a restart of the gateway every relay comes back within a minute; handshakes are spread so that none starves
//! and signatures do not crowd out calls.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until},
};

/// Connections before their proof, waiting ones included.
const STRANGERS: usize = 512;
/// One handshake per this long, once the burst is used up.
const PACE: Duration = Duration::from_millis(20);
const BURST: u32 = 50;
/// A relay that would wait longer is sent away to come again.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Gate {
    strangers: Arc<Semaphore>,
    /// When the next handshake would begin if there were no burst.
    next: Mutex<Instant>,
}

impl Gate {
    pub(super) fn new() -> Self {
        Self {
            strangers: Arc::new(Semaphore::new(STRANGERS)),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Waits for this stranger's turn; `None` when there are too many before it.
    pub(super) async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        let inside = Arc::clone(&self.strangers).try_acquire_owned().ok()?;
        let turn = self.turn()?;
        sleep_until(turn).await;
        Some(inside)
    }

    fn turn(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let paced = (*next).max(now);
        let turn = paced - (PACE * BURST).min(paced.duration_since(now));
        if turn.duration_since(now) > LONGEST_WAIT {
            return None;
        }
        *next = paced + PACE;
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_the_rest_is_paced() {
        let gate = Gate::new();
        let began = Instant::now();
        for _ in 0..=BURST {
            drop(gate.enter().await.expect("let in"));
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        for _ in 0..50 {
            drop(gate.enter().await.expect("let in"));
        }
        let took = began.elapsed();
        assert!(
            took >= Duration::from_millis(900) && took <= Duration::from_millis(1100),
            "{took:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_strangers_are_sent_away() {
        let gate = Gate::new();
        let mut inside = Vec::new();
        for _ in 0..STRANGERS {
            inside.extend(gate.enter().await);
        }
        assert_eq!(inside.len(), STRANGERS);
        assert!(gate.enter().await.is_none());
        inside.pop();
        assert!(gate.enter().await.is_some());
    }
}
