//! When to dial again.

use std::time::Duration;

use rand::Rng;

/// The first window; full jitter draws the wait anywhere inside the window.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// After a refusal that only a person can mend.
const REFUSED: Duration = Duration::from_secs(300);
/// A connection shorter than this does not count as a success.
const STABLE: Duration = Duration::from_secs(60);

/// Full jitter over a window that doubles from 1 to 60 seconds.
#[derive(Debug)]
pub(crate) struct Backoff {
    window: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { window: FIRST }
    }

    /// The next wait, after a connection that lived for `lived`.
    pub(crate) fn next(&mut self, lived: Duration, random: &mut impl Rng) -> Duration {
        if lived >= STABLE {
            self.window = FIRST;
        }
        let wait = self.window.mul_f64(random.random_range(0.0..1.0));
        self.window = (self.window * 2).min(LONGEST);
        wait
    }

    /// The wait after a refusal: minutes, never less than half of them.
    pub(crate) fn refused(&mut self, random: &mut impl Rng) -> Duration {
        REFUSED.mul_f64(random.random_range(0.5..1.0))
    }
}

#[cfg(test)]
mod tests {
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn the_window_doubles_to_a_minute_and_starts_anew_after_a_stable_one() {
        let mut random = StdRng::seed_from_u64(1);
        let mut backoff = Backoff::new();
        for window in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(backoff.window, Duration::from_secs(window));
            assert!(backoff.next(Duration::from_secs(59), &mut random) < Duration::from_secs(window));
        }
        backoff.next(STABLE, &mut random);
        assert_eq!(backoff.window, FIRST * 2);
    }

    #[test]
    fn a_refused_relay_waits_minutes() {
        let mut random = StdRng::seed_from_u64(2);
        for _ in 0..100 {
            assert!(Backoff::new().refused(&mut random) >= REFUSED / 2);
        }
    }
}
