//! When to dial again.

use std::time::Duration;

use rand::Rng;

/// The first window; full jitter draws the wait anywhere inside the window.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// After a refusal that only a person can mend.
const REFUSED: Duration = Duration::from_secs(300);
/// A connection shorter than this counts against the next ones.
const STABLE: Duration = Duration::from_secs(60);
/// So many short connections in a row are forgiven: a gateway that restarts now and then should have its relays back
/// at once, one that lets them in and falls over should not be stormed.
const FORGIVEN: u32 = 3;

/// Full jitter over a window that doubles from 1 to 60 seconds.
#[derive(Debug)]
pub(crate) struct Backoff {
    window: Duration,
    /// Short connections in a row.
    short: u32,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self {
            window: FIRST,
            short: 0,
        }
    }

    /// The next wait. `served` is how long the gateway had this relay, `None` where it was never let in.
    pub(crate) fn next(&mut self, served: Option<Duration>, random: &mut impl Rng) -> Duration {
        if let Some(served) = served {
            self.short = if served < STABLE { self.short + 1 } else { 0 };
            if self.short <= FORGIVEN {
                self.window = FIRST;
            }
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
    fn the_window_doubles_to_a_minute_while_nobody_lets_the_relay_in() {
        let mut random = StdRng::seed_from_u64(1);
        let mut backoff = Backoff::new();
        for window in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(backoff.window, Duration::from_secs(window));
            assert!(backoff.next(None, &mut random) < Duration::from_secs(window));
        }
        backoff.next(Some(STABLE), &mut random);
        assert_eq!(backoff.window, FIRST * 2);
    }

    #[test]
    fn after_a_connection_that_stood_the_first_try_comes_within_a_second_however_short_it_was() {
        let mut random = StdRng::seed_from_u64(3);
        let mut backoff = Backoff::new();
        for _ in 0..8 {
            backoff.next(None, &mut random);
        }
        for _ in 0..FORGIVEN {
            assert!(backoff.next(Some(Duration::from_secs(5)), &mut random) < FIRST);
        }
    }

    #[test]
    fn a_gateway_that_falls_over_again_and_again_is_not_stormed() {
        let mut random = StdRng::seed_from_u64(4);
        let mut backoff = Backoff::new();
        for _ in 0..FORGIVEN + 6 {
            backoff.next(Some(Duration::from_millis(10)), &mut random);
        }
        assert_eq!(backoff.window, LONGEST);
        assert!(
            backoff.next(Some(STABLE), &mut random) < FIRST,
            "a good minute is enough"
        );
    }

    #[test]
    fn a_refused_relay_waits_minutes() {
        let mut random = StdRng::seed_from_u64(2);
        for _ in 0..100 {
            assert!(Backoff::new().refused(&mut random) >= REFUSED / 2);
        }
    }
}
