//! Leaves a server alone for as long as it asked for: one token, one pause.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::upstream::UpstreamError;

/// Until when a server wants no more questions.
#[derive(Debug, Default)]
pub(super) struct Cooling(Mutex<Option<Instant>>);

impl Cooling {
    /// Refuses while the server wants to be left alone.
    pub(super) fn check(&self) -> Result<(), UpstreamError> {
        let until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        match left {
            Some(left) if !left.is_zero() => Err(UpstreamError::RateLimited(left)),
            _ => Ok(()),
        }
    }

    /// The server said how long.
    pub(super) fn leave_alone(&self, pause: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_is_left_alone_for_as_long_as_it_asked_for() {
        let cooling = Cooling::default();
        assert_eq!(cooling.check(), Ok(()));
        cooling.leave_alone(Duration::from_secs(30));
        tokio::time::advance(Duration::from_secs(20)).await;
        assert_eq!(
            cooling.check(),
            Err(UpstreamError::RateLimited(Duration::from_secs(10)))
        );
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(cooling.check(), Ok(()));
    }
}
