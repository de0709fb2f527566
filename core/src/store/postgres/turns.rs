//! No tenant takes the whole pool: each has a share of it, and its writers wait for each other in front of it, not on it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};
use toolgate_contract::ids::TenantId;

use super::Mode;
use crate::store::{StoreError, scope::Scope};

/// Past so many tenants, those who wait for nothing are forgotten.
const REMEMBERED: usize = 1_024;

/// Who may take a connection.
#[derive(Debug)]
pub(super) struct Turns {
    share: usize,
    tenants: Mutex<HashMap<TenantId, Arc<Seats>>>,
}

#[derive(Debug)]
struct Seats {
    any: Arc<Semaphore>,
    writer: Arc<Semaphore>,
}

/// Held as long as the connection is.
#[derive(Debug)]
pub(super) struct Turn {
    _seats: Arc<Seats>,
    _permits: [Option<OwnedSemaphorePermit>; 2],
}

impl Turns {
    /// A quarter of a pool of this size for each tenant, and two at least.
    pub(super) fn over(pool: usize) -> Self {
        Self {
            share: (pool / 4).max(2).min(pool.max(1)),
            tenants: Mutex::default(),
        }
    }

    /// Waits for a turn. What belongs to no tenant waits for none.
    pub(super) async fn take(
        &self,
        mode: Mode,
        scope: &Scope,
        until: Instant,
    ) -> Result<Option<Turn>, StoreError> {
        let Scope::Tenant(tenant) = scope else {
            return Ok(None);
        };
        let seats = self.seats(tenant);
        let writer = match mode {
            Mode::Read => None,
            Mode::Write => Some(seat(&seats.writer, until).await?),
        };
        let any = seat(&seats.any, until).await?;
        Ok(Some(Turn {
            _seats: seats,
            _permits: [writer, Some(any)],
        }))
    }

    fn seats(&self, tenant: &TenantId) -> Arc<Seats> {
        // No code that could panic runs under this lock.
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seats) = tenants.get(tenant) {
            return Arc::clone(seats);
        }
        if tenants.len() >= REMEMBERED {
            tenants.retain(|_, seats| Arc::strong_count(seats) > 1);
        }
        let seats = Arc::new(Seats {
            any: Arc::new(Semaphore::new(self.share)),
            writer: Arc::new(Semaphore::new(1)),
        });
        tenants.insert(tenant.clone(), Arc::clone(&seats));
        seats
    }
}

async fn seat(of: &Arc<Semaphore>, until: Instant) -> Result<OwnedSemaphorePermit, StoreError> {
    match timeout_at(until, Arc::clone(of).acquire_owned()).await {
        Ok(seat) => seat.map_err(|_| StoreError::Closed),
        Err(_) => Err(StoreError::Timeout),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tenant_has_its_share_and_one_writer_and_others_are_not_held_up() {
        let turns = Turns::over(10);
        let (one, other) = (Scope::Tenant(TenantId::mint()), Scope::Tenant(TenantId::mint()));
        let soon = || Instant::now() + Duration::from_secs(1);
        let writing = turns.take(Mode::Write, &one, soon()).await.unwrap();
        let second = turns.take(Mode::Write, &one, soon()).await;
        assert_eq!(second.err(), Some(StoreError::Timeout));
        let reading = turns.take(Mode::Read, &one, soon()).await.unwrap();
        assert_eq!(
            turns.take(Mode::Read, &one, soon()).await.err(),
            Some(StoreError::Timeout)
        );
        turns.take(Mode::Write, &other, soon()).await.unwrap();
        turns.take(Mode::Write, &Scope::Global, soon()).await.unwrap();
        drop((writing, reading));
        turns.take(Mode::Write, &one, soon()).await.unwrap();
    }

    #[tokio::test]
    async fn tenants_that_wait_for_nothing_are_forgotten() {
        let turns = Turns::over(10);
        for _ in 0..3 * REMEMBERED {
            let scope = Scope::Tenant(TenantId::mint());
            drop(
                turns
                    .take(Mode::Read, &scope, Instant::now() + Duration::from_secs(1))
                    .await,
            );
        }
        assert!(turns.tenants.lock().unwrap().len() <= REMEMBERED);
    }
}
