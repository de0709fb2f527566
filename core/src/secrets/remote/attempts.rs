//! Attempts within a budget: a fault that may pass is tried again, after a wait of random length that grows.

use std::{future::Future, time::Duration};

use ring::rand::{SecureRandom, SystemRandom};
use tokio::time::{Instant, sleep, timeout};

use crate::secrets::Fault;

/// One attempt has this long.
const ATTEMPT: Duration = Duration::from_millis(1_500);
/// All together. A little before the room gives up, so that the last fault is told and not a time-out.
const OPERATION: Duration = Duration::from_millis(4_900);
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What came of one attempt.
#[derive(Debug)]
pub(in crate::secrets) enum Attempt<T> {
    /// An answer, good or bad: the end.
    Done(Result<T, Fault>),
    /// A fault that may pass.
    Again(Fault),
}

/// How long attempts may take.
#[derive(Debug, Clone, Copy)]
pub(in crate::secrets) struct Attempts {
    attempt: Duration,
    operation: Duration,
}

impl Default for Attempts {
    fn default() -> Self {
        Self {
            attempt: ATTEMPT,
            operation: OPERATION,
        }
    }
}

impl Attempts {
    /// For tests against real sockets: everything so many times shorter.
    #[cfg(test)]
    pub(in crate::secrets) fn shortened(by: u32) -> Self {
        Self {
            attempt: ATTEMPT / by,
            operation: OPERATION / by,
        }
    }

    /// Tries until there is an answer or the time is up; then the last fault is the answer.
    pub(in crate::secrets) async fn run<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Fault>
    where
        F: Future<Output = Attempt<T>>,
    {
        let end = Instant::now() + self.operation;
        let mut wait = FIRST_WAIT.min(self.attempt);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let fault = match timeout(self.attempt.min(left), attempt()).await {
                Ok(Attempt::Done(answer)) => return answer,
                Ok(Attempt::Again(fault)) => fault,
                Err(_) => Fault::Timeout,
            };
            let pause = jittered(wait);
            if Instant::now() + pause >= end {
                return Err(fault);
            }
            sleep(pause).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }
}

// Anywhere from nothing to the whole wait, so that many who failed together do not come back together.
fn jittered(wait: Duration) -> Duration {
    let mut bytes = [0; 2];
    // Without random bytes the whole wait is as good.
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => wait * u32::from(u16::from_le_bytes(bytes)) / u32::from(u16::MAX),
        Err(_) => wait,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    async fn run(outcome: impl Fn(u32) -> Attempt<()>) -> (Result<(), Fault>, u32, Duration) {
        let (tries, began) = (AtomicU32::new(0), Instant::now());
        let answer = Attempts::default()
            .run(|| {
                let outcome = outcome(tries.fetch_add(1, Ordering::Relaxed));
                async move { outcome }
            })
            .await;
        (answer, tries.into_inner(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_that_passes_is_tried_again_and_an_answer_is_the_end() {
        let (answer, tries, took) = run(|n| match n {
            0 | 1 => Attempt::Again(Fault::Throttled),
            _ => Attempt::Done(Ok(())),
        })
        .await;
        assert_eq!((answer, tries), (Ok(()), 3));
        assert!(took <= Duration::from_millis(300), "{took:?}");
        let (answer, tries, _) = run(|_| Attempt::Done(Err(Fault::NotFound))).await;
        assert_eq!((answer, tries), (Err(Fault::NotFound), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_that_stays_is_told_within_the_budget() {
        let (answer, tries, took) = run(|_| Attempt::Again(Fault::Throttled)).await;
        assert_eq!(answer, Err(Fault::Throttled));
        assert!(tries >= 5 && took <= OPERATION, "{tries} in {took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_hangs_is_given_up_attempt_by_attempt() {
        let (tries, began) = (AtomicU32::new(0), Instant::now());
        let answer: Result<(), Fault> = Attempts::default()
            .run(|| {
                tries.fetch_add(1, Ordering::Relaxed);
                std::future::pending()
            })
            .await;
        assert_eq!(answer, Err(Fault::Timeout));
        assert!((3..=4).contains(&tries.into_inner()));
        assert!(
            began.elapsed() <= OPERATION + Duration::from_millis(5),
            "{:?}",
            began.elapsed()
        );
    }
}
