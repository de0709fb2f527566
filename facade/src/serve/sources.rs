//! How many connections one source may hold, so that one machine does not take the place of all others.
//!
//! A source is an address, of IPv6 the /64 that one machine commands. Behind a proxy all come from one, so there it does
//! not count.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The open connections of each source. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Sources {
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
    most: usize,
}

/// The place of one connection; given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    sources: Sources,
    source: IpAddr,
}

impl Sources {
    pub(super) fn new(most: usize) -> Self {
        Self {
            open: Arc::default(),
            most,
        }
    }

    /// A place for one more connection of this peer, while it has fewer than its share.
    pub(super) fn place(&self, peer: IpAddr) -> Option<Place> {
        let source = source_of(peer);
        let mut open = self.open();
        let held = open.entry(source).or_default();
        if *held >= self.most {
            return None;
        }
        *held += 1;
        Some(Place {
            sources: self.clone(),
            source,
        })
    }

    // Nothing under this lock can panic half-way.
    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.sources.open();
        if let Some(held) = open.get_mut(&self.source) {
            *held -= 1;
            if *held == 0 {
                open.remove(&self.source);
            }
        }
    }
}

fn source_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_holds_its_share_and_others_theirs() {
        let sources = Sources::new(2);
        let place = |peer: &str| sources.place(peer.parse().unwrap());
        let (first, second) = (place("10.0.0.1"), place("::ffff:10.0.0.1"));
        assert!(first.is_some() && second.is_some());
        assert!(place("10.0.0.1").is_none());
        assert!(place("10.0.0.2").is_some());
        drop(first);
        assert!(place("10.0.0.1").is_some());
        drop(second);
        assert!(sources.open().is_empty());
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_are_one_source() {
        let sources = Sources::new(1);
        let _held = sources.place("2001:db8:1:2::1".parse().unwrap());
        assert!(sources.place("2001:db8:1:2:ffff::2".parse().unwrap()).is_none());
        assert!(sources.place("2001:db8:1:3::1".parse().unwrap()).is_some());
    }
}
