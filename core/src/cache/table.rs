//! The entries and their order of use. Pure: time is passed in.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use toolgate_contract::ids::TenantId;

use super::Key;
use crate::upstream::ToolResult;

/// Entries at most.
const MOST: usize = 4_096;
/// Bytes at most, of keys and answers.
pub(super) const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of one entry at most; a larger answer is not kept.
pub(super) const LARGEST: usize = 8 * 1024 * 1024;
/// What an entry takes beside its texts, roughly.
const OVERHEAD: usize = 512;

/// One answer, and when it came.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) result: Arc<ToolResult>,
    pub(super) at: Duration,
    pub(super) at_us: i64,
}

#[derive(Debug)]
struct Slot {
    kept: Kept,
    weight: usize,
    used: u64,
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: HashMap<Key, Slot>,
    /// Least recently used first.
    order: BTreeMap<u64, Key>,
    bytes: usize,
    next: u64,
}

impl Table {
    /// The entry, which is the most recently used one then.
    pub(super) fn get(&mut self, key: &Key) -> Option<&Kept> {
        let next = self.tick();
        let slot = self.slots.get_mut(key)?;
        if let Some(key) = self.order.remove(&slot.used) {
            self.order.insert(next, key);
        }
        slot.used = next;
        Some(&slot.kept)
    }

    /// Puts an entry in the place of the former one, and the least recently used ones out where there is no room.
    pub(super) fn put(&mut self, key: Key, kept: Kept) {
        self.remove(&key);
        let weight = weight(&key, &kept.result);
        if weight > LARGEST {
            return;
        }
        let used = self.tick();
        self.bytes += weight;
        self.order.insert(used, key.clone());
        self.slots.insert(key, Slot { kept, weight, used });
        while self.slots.len() > MOST || self.bytes > MOST_BYTES {
            let Some(least) = self.order.values().next().cloned() else {
                return;
            };
            self.remove(&least);
        }
    }

    /// Drops what is not to stay.
    pub(super) fn retain(&mut self, stays: impl Fn(&Key, &Kept) -> bool) {
        let gone: Vec<Key> = self
            .slots
            .iter()
            .filter(|(key, slot)| !stays(key, &slot.kept))
            .map(|(key, _)| key.clone())
            .collect();
        gone.iter().for_each(|key| self.remove(key));
    }

    pub(super) fn tenants(&self) -> Vec<TenantId> {
        let tenants: HashSet<&TenantId> = self.slots.keys().map(|key| &key.tenant).collect();
        tenants.into_iter().cloned().collect()
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        assert_eq!(self.slots.len(), self.order.len());
        assert_eq!(
            self.bytes,
            self.slots.values().map(|slot| slot.weight).sum::<usize>()
        );
        (self.slots.len(), self.bytes)
    }

    fn remove(&mut self, key: &Key) {
        if let Some(slot) = self.slots.remove(key) {
            self.order.remove(&slot.used);
            self.bytes -= slot.weight;
        }
    }

    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

fn weight(key: &Key, result: &ToolResult) -> usize {
    let structured = result.structured.as_deref().map_or(0, |json| json.get().len());
    OVERHEAD + key.arguments.len() + result.content.get().len() + structured
}
