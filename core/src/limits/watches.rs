//! How many watch their catalogs at once, and until when.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::TenantId;

use super::{InFlight, Place};
use crate::error::Error;

/// Watchers of one tenant at most.
const MOST_OF_TENANT: u32 = 1_000;
/// Watchers of all tenants at most.
const MOST: usize = 10_000;
/// How often a watcher's credential is looked at again.
const RECHECK: Duration = Duration::from_secs(5);

/// The places of all watchers.
#[derive(Debug)]
pub struct Watches {
    of_tenant: InFlight,
    all: Arc<Semaphore>,
    end: CancellationToken,
    recheck: Duration,
}

/// A watcher's place; given back when dropped.
#[derive(Debug)]
pub struct Watching {
    _place: Place,
    _permit: OwnedSemaphorePermit,
    end: CancellationToken,
    recheck: Duration,
}

impl Default for Watches {
    fn default() -> Self {
        Self::new(MOST, MOST_OF_TENANT, RECHECK)
    }
}

impl Watches {
    /// So many in all and for each tenant, each looked at again after so long at most.
    #[must_use]
    pub fn new(most: usize, most_of_tenant: u32, recheck: Duration) -> Self {
        Self {
            of_tenant: InFlight::new(most_of_tenant),
            all: Arc::new(Semaphore::new(most)),
            end: CancellationToken::new(),
            recheck,
        }
    }

    /// Takes a place, or refuses when all are taken.
    ///
    /// # Errors
    /// When the tenant has its share, or there is no place at all.
    pub fn take(&self, tenant: &TenantId) -> Result<Watching, Error> {
        let place = self.of_tenant.take(tenant, None)?;
        let permit = Arc::clone(&self.all)
            .try_acquire_owned()
            .map_err(|_| Error::Overloaded)?;
        Ok(Watching {
            _place: place,
            _permit: permit,
            end: self.end.clone(),
            recheck: self.recheck,
        })
    }

    /// Lets every watcher go.
    pub fn end(&self) {
        self.end.cancel();
    }
}

impl Watching {
    /// Waits for what the watcher waits for, though no longer than a credential goes without being looked at. False
    /// when watching is over.
    pub async fn wait(&self, change: impl Future<Output = ()>) -> bool {
        // Cancel-safe: a change that is missed here is seen by the look that follows.
        tokio::select! {
            biased;
            () = self.end.cancelled() => false,
            _ = tokio::time::timeout(self.recheck, change) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[test]
    fn places_are_bounded_for_a_tenant_and_in_all_and_given_back() {
        let watches = Watches::new(3, 2, RECHECK);
        let (one, other) = (TenantId::mint(), TenantId::mint());
        let mine = [watches.take(&one).unwrap(), watches.take(&one).unwrap()];
        assert!(matches!(watches.take(&one), Err(Error::Overloaded)));
        let theirs = watches.take(&other).unwrap();
        assert!(matches!(watches.take(&other), Err(Error::Overloaded)));
        drop(mine);
        assert!(watches.take(&other).is_ok());
        drop(theirs);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_waits_for_a_change_for_five_seconds_or_for_the_end() {
        let watches = Watches::default();
        let watching = watches.take(&TenantId::mint()).unwrap();
        let began = tokio::time::Instant::now();
        assert!(watching.wait(ready(())).await);
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(watching.wait(pending()).await);
        // Timers of the runtime are whole milliseconds.
        assert!(began.elapsed() <= RECHECK + Duration::from_millis(1));
        watches.end();
        assert!(!watching.wait(pending()).await);
    }
}
