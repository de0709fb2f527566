//! What was fetched lately, and what is being fetched now: one table, one entry per tenant and reference.
//!
//! Pure but for the channels of flights: time is passed in. An entry is used until its end and not a moment longer; the
//! end counts from the moment the fetch began. Bounded in entries and bytes, soonest to end first out.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::sync::watch;
use toolgate_contract::ids::TenantId;

use super::{Fault, SecretRef, SecretValue};

/// Entries at most, flights included.
const MOST: usize = 4_096;
/// Bytes of values at most.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Whose secret it is, and which. The wall between tenants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tenant: TenantId,
    pub(super) reference: SecretRef,
}

/// How long answers are good for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ages {
    /// A value.
    pub(super) value: Duration,
    /// A definite no of the provider, and the time between two renewals.
    pub(super) no: Duration,
    /// A fault that may be gone at once.
    pub(super) fault: Duration,
}

/// What a fetch gave, shared by everyone who waited.
pub(super) type Answer = Result<Held, Fault>;

/// A value, and which fetch it came from.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) value: Arc<SecretValue>,
    pub(super) serial: u64,
}

/// A fetch that is under way, as its owner knows it.
#[derive(Debug, Clone)]
pub(super) struct Flight {
    pub(super) serial: u64,
    pub(super) began: Duration,
    pub(super) renews: bool,
    pub(super) arrival: watch::Sender<Option<Answer>>,
}

/// What the table says to someone who asks.
#[derive(Debug)]
pub(super) enum Found {
    /// Known.
    Kept(Answer),
    /// Being fetched: wait for it.
    Flying(watch::Receiver<Option<Answer>>),
    /// Nobody fetches it: the asker has to start this flight.
    Launched(Flight, watch::Receiver<Option<Answer>>),
}

#[derive(Debug)]
enum Slot {
    Flying(Flight),
    Kept {
        answer: Answer,
        ends: Duration,
        /// Until then a renewal would only fetch again what was just fetched.
        renewed_until: Duration,
    },
}

/// The table.
#[derive(Debug)]
pub(super) struct Table {
    slots: HashMap<Key, Slot>,
    bytes: usize,
    next: u64,
    ages: Ages,
}

impl Table {
    pub(super) fn new(ages: Ages) -> Self {
        Self {
            slots: HashMap::new(),
            bytes: 0,
            next: 1,
            ages,
        }
    }

    /// What is known of a secret now.
    pub(super) fn look(&mut self, key: &Key, now: Duration) -> Found {
        match self.slots.get(key) {
            Some(Slot::Kept { answer, ends, .. }) if now < *ends => Found::Kept(answer.clone()),
            Some(Slot::Flying(flight)) => Found::Flying(flight.arrival.subscribe()),
            Some(Slot::Kept { .. }) | None => self.launch(key, now, false),
        }
    }

    /// The same for someone whose value was rejected: that value is dropped, whoever else has it. `None` where it was
    /// fetched anew a moment ago because of just this.
    pub(super) fn renew(&mut self, key: &Key, serial: u64, now: Duration) -> Option<Found> {
        match self.slots.get(key) {
            Some(Slot::Kept {
                answer: Ok(held),
                renewed_until,
                ..
            }) if held.serial == serial => (now >= *renewed_until).then(|| self.launch(key, now, true)),
            _ => Some(self.look(key, now)),
        }
    }

    /// Takes in what a flight brought, and tells everyone who waits for it.
    pub(super) fn land(&mut self, key: &Key, flight: &Flight, answer: Answer, now: Duration) {
        let current = matches!(self.slots.get(key), Some(Slot::Flying(f)) if f.serial == flight.serial);
        if current {
            let (age, since) = match &answer {
                Ok(_) => (self.ages.value, flight.began),
                Err(fault) if fault.is_broken() => (self.ages.no, now),
                Err(_) => (self.ages.fault, now),
            };
            let slot = Slot::Kept {
                answer: answer.clone(),
                ends: since + age,
                renewed_until: if flight.renews {
                    now + self.ages.no
                } else {
                    Duration::ZERO
                },
            };
            self.put(key.clone(), slot);
            self.make_room();
        }
        flight.arrival.send_replace(Some(answer));
    }

    /// Forgets a flight that ended without an answer.
    pub(super) fn lost(&mut self, key: &Key, serial: u64) {
        if matches!(self.slots.get(key), Some(Slot::Flying(f)) if f.serial == serial) {
            self.remove(key);
        }
    }

    /// Wipes what is past its end.
    pub(super) fn sweep(&mut self, now: Duration) {
        let past: Vec<Key> = self
            .slots
            .iter()
            .filter(|(_, slot)| matches!(slot, Slot::Kept { ends, .. } if now >= *ends))
            .map(|(key, _)| key.clone())
            .collect();
        past.iter().for_each(|key| self.remove(key));
    }

    fn launch(&mut self, key: &Key, now: Duration, renews: bool) -> Found {
        self.remove(key);
        if !self.make_room_for_one() {
            return Found::Kept(Err(Fault::Overloaded));
        }
        let (arrival, waiting) = watch::channel(None);
        let flight = Flight {
            serial: self.next,
            began: now,
            renews,
            arrival,
        };
        self.next += 1;
        self.put(key.clone(), Slot::Flying(flight.clone()));
        Found::Launched(flight, waiting)
    }

    fn put(&mut self, key: Key, slot: Slot) {
        self.remove(&key);
        self.bytes += weight(&slot);
        self.slots.insert(key, slot);
    }

    fn remove(&mut self, key: &Key) {
        if let Some(slot) = self.slots.remove(key) {
            self.bytes -= weight(&slot);
        }
    }

    fn make_room(&mut self) {
        while self.bytes > MOST_BYTES && self.drop_soonest() {}
    }

    fn make_room_for_one(&mut self) -> bool {
        self.slots.len() < MOST || self.drop_soonest()
    }

    /// False when there are only flights.
    fn drop_soonest(&mut self) -> bool {
        let soonest = self
            .slots
            .iter()
            .filter_map(|(key, slot)| match slot {
                Slot::Kept { ends, .. } => Some((*ends, key)),
                Slot::Flying(_) => None,
            })
            .min_by_key(|(ends, _)| *ends)
            .map(|(_, key)| key.clone());
        match soonest {
            Some(key) => {
                self.remove(&key);
                true
            }
            None => false,
        }
    }
}

fn weight(slot: &Slot) -> usize {
    match slot {
        Slot::Kept { answer: Ok(held), .. } => held.value.reveal().len(),
        Slot::Kept { answer: Err(_), .. } | Slot::Flying(_) => 0,
    }
}

#[cfg(test)]
mod tests;
