//! Sessions that were closed before their time: one tombstone each, until that time.
//!
//! Bounded. A tenant that closes more than its share loses the tombstone that would have gone first, of its own; so
//! does a newcomer once the whole is full. What is lost makes a closed session work again for the principal whose it
//! was, and for nobody else: that harms less than a session which cannot be closed.

use std::collections::{BTreeSet, HashMap};

use toolgate_contract::ids::TenantId;

use super::id::NONCE;

/// Kept for one tenant.
pub(super) const MOST_OF_TENANT: usize = 4_096;
/// Kept in all: a few MiB.
pub(super) const MOST: usize = 65_536;

/// When the session would have ended, in seconds, and its nonce.
pub(super) type Tombstone = (u64, [u8; NONCE]);

/// The tombstones.
#[derive(Debug)]
pub(super) struct Closed {
    tenants: HashMap<TenantId, BTreeSet<Tombstone>>,
    count: usize,
    most: usize,
    most_of_tenant: usize,
}

impl Closed {
    pub(super) fn new(most: usize, most_of_tenant: usize) -> Self {
        Self {
            tenants: HashMap::new(),
            count: 0,
            most,
            most_of_tenant,
        }
    }

    pub(super) fn has(&self, tenant: &TenantId, tombstone: &Tombstone) -> bool {
        self.tenants
            .get(tenant)
            .is_some_and(|own| own.contains(tombstone))
    }

    pub(super) fn put(&mut self, tenant: &TenantId, tombstone: Tombstone) {
        if self.has(tenant, &tombstone) {
            return;
        }
        let own = self.tenants.get(tenant).map_or(0, BTreeSet::len);
        if own >= self.most_of_tenant || (own > 0 && self.count >= self.most) {
            self.drop_first_of(tenant);
        } else if self.count >= self.most
            && let Some(first) = self.with_the_first()
        {
            self.drop_first_of(&first);
        }
        self.tenants.entry(tenant.clone()).or_default().insert(tombstone);
        self.count += 1;
    }

    /// Forgets those whose time has come.
    pub(super) fn forget(&mut self, now_s: u64) {
        self.tenants.retain(|_, own| {
            while own.first().is_some_and(|(ends_s, _)| *ends_s <= now_s) {
                own.pop_first();
                self.count -= 1;
            }
            !own.is_empty()
        });
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    fn drop_first_of(&mut self, tenant: &TenantId) {
        let Some(own) = self.tenants.get_mut(tenant) else {
            return;
        };
        if own.pop_first().is_some() {
            self.count -= 1;
        }
        if own.is_empty() {
            self.tenants.remove(tenant);
        }
    }

    fn with_the_first(&self) -> Option<TenantId> {
        let firsts = self
            .tenants
            .iter()
            .filter_map(|(tenant, own)| Some((own.first()?, tenant)));
        firsts
            .min_by_key(|(first, _)| **first)
            .map(|(_, tenant)| tenant.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stone(n: u8) -> Tombstone {
        (u64::from(n), [n; NONCE])
    }

    #[test]
    fn what_was_closed_is_known_until_it_would_have_ended() {
        let (one, other) = (TenantId::mint(), TenantId::mint());
        let mut closed = Closed::new(9, 9);
        closed.put(&one, stone(2));
        closed.put(&one, stone(2));
        closed.put(&one, stone(3));
        assert_eq!(closed.len(), 2);
        assert!(closed.has(&one, &stone(2)) && !closed.has(&other, &stone(2)));
        closed.forget(2);
        assert!(!closed.has(&one, &stone(2)) && closed.has(&one, &stone(3)));
        closed.forget(3);
        assert_eq!((closed.len(), closed.tenants.len()), (0, 0));
    }

    #[test]
    fn a_tenant_that_closes_too_much_loses_what_would_end_first_of_its_own() {
        let (one, other) = (TenantId::mint(), TenantId::mint());
        let mut closed = Closed::new(9, 2);
        closed.put(&other, stone(1));
        for n in [4, 2, 3] {
            closed.put(&one, stone(n));
        }
        let left: Vec<bool> = [4, 2, 3].iter().map(|n| closed.has(&one, &stone(*n))).collect();
        assert_eq!(left, [true, false, true]);
        assert!(closed.has(&other, &stone(1)));
    }

    #[test]
    fn a_full_whole_takes_from_the_tenant_itself_and_from_others_only_for_a_newcomer() {
        let (one, other, third) = (TenantId::mint(), TenantId::mint(), TenantId::mint());
        let mut closed = Closed::new(3, 3);
        closed.put(&one, stone(1));
        closed.put(&other, stone(2));
        closed.put(&other, stone(3));
        closed.put(&other, stone(4));
        assert!(closed.has(&one, &stone(1)) && !closed.has(&other, &stone(2)));
        closed.put(&third, stone(5));
        assert!(closed.has(&third, &stone(5)) && !closed.has(&one, &stone(1)));
        assert_eq!(closed.len(), 3);
    }
}
