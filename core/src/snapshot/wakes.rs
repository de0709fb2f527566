//! Who waits for a tenant's snapshot to become another one. Tenants whom nobody waits for cost nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use toolgate_contract::ids::TenantId;

type Tenants = HashMap<TenantId, watch::Sender<()>>;

/// The sleepers of all tenants. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Wakes(Arc<Mutex<Tenants>>);

/// One who waits.
#[derive(Debug)]
pub struct Sleeper {
    wakes: Wakes,
    tenant: TenantId,
    woken: watch::Receiver<()>,
}

impl Wakes {
    pub(super) fn sleeper(&self, tenant: &TenantId) -> Sleeper {
        let mut tenants = self.tenants();
        let sender = tenants
            .entry(tenant.clone())
            .or_insert_with(|| watch::Sender::new(()));
        Sleeper {
            wakes: self.clone(),
            tenant: tenant.clone(),
            woken: sender.subscribe(),
        }
    }

    pub(super) fn wake(&self, tenant: &TenantId) {
        if let Some(sender) = self.tenants().get(tenant) {
            sender.send_replace(());
        }
    }

    fn tenants(&self) -> MutexGuard<'_, Tenants> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sleeper {
    /// Waits until something changed since this was called last, or since the sleeper was made. Cancel-safe.
    pub async fn woken(&mut self) {
        // Its own place keeps the sender alive.
        let _ = self.woken.changed().await;
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let mut tenants = self.wakes.tenants();
        let is_last = |sender: &watch::Sender<()>| sender.receiver_count() <= 1;
        if tenants.get(&self.tenant).is_some_and(is_last) {
            tenants.remove(&self.tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_change_wakes_its_tenants_sleepers_once_and_nobody_else() {
        let (wakes, one, other) = (Wakes::default(), TenantId::mint(), TenantId::mint());
        wakes.wake(&one);
        let (mut first, mut second) = (wakes.sleeper(&one), wakes.sleeper(&one));
        let mut neighbour = wakes.sleeper(&other);
        assert!(first.woken().now_or_never().is_none());
        wakes.wake(&one);
        wakes.wake(&one);
        for sleeper in [&mut first, &mut second] {
            assert!(sleeper.woken().now_or_never().is_some());
            assert!(sleeper.woken().now_or_never().is_none());
        }
        assert!(neighbour.woken().now_or_never().is_none());
    }

    #[test]
    fn nothing_is_kept_for_tenants_whom_nobody_waits_for() {
        let (wakes, tenant) = (Wakes::default(), TenantId::mint());
        let (first, second) = (wakes.sleeper(&tenant), wakes.sleeper(&tenant));
        drop(first);
        assert_eq!(wakes.tenants().len(), 1);
        drop(second);
        assert!(wakes.tenants().is_empty());
    }
}
