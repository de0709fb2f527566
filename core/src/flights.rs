//! Single flight: one errand per key, however many wait for it.
//!
//! The errand is a tracked task of its own, so that no caller who leaves takes the others' answer away. Whoever waits
//! has a [`Seat`]; with the last seat given up the errand is dropped where it stands. A flight is off the table before
//! its answer is told: who comes later finds what the errand left behind, or flies anew. Knows neither contacts nor
//! targets nor results, and has no time of its own: the errand brings its own bounds.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The flights of one kind. Clones share them.
pub struct Flights<K, A> {
    table: Arc<Table<K, A>>,
    tasks: TaskTracker,
}

/// A place on a flight; given up when dropped.
pub struct Seat<K: Eq + Hash, A> {
    table: Arc<Table<K, A>>,
    key: K,
    serial: u64,
    arrival: watch::Receiver<Option<A>>,
    joined: bool,
}

struct Table<K, A>(Mutex<Flying<K, A>>);

struct Flying<K, A> {
    flights: HashMap<K, Flight<A>>,
    next: u64,
}

struct Flight<A> {
    serial: u64,
    seats: usize,
    given_up: CancellationToken,
    arrival: watch::Receiver<Option<A>>,
}

impl<K, A> Flights<K, A>
where
    K: Clone + Eq + Hash + Send + 'static,
    A: Clone + Send + Sync + 'static,
{
    /// None under way; those to come are owned by `tasks`.
    #[must_use]
    pub fn new(tasks: TaskTracker) -> Self {
        let table = Flying {
            flights: HashMap::new(),
            next: 0,
        };
        Self {
            table: Arc::new(Table(Mutex::new(table))),
            tasks,
        }
    }

    /// A seat on the flight of this key; where there is none, one is launched with the errand made here. The errand is
    /// given the token that fires once nobody waits any more, and is dropped then.
    pub fn seat<E>(&self, key: K, errand: impl FnOnce(CancellationToken) -> E) -> Seat<K, A>
    where
        E: Future<Output = A> + Send + 'static,
    {
        let mut flying = self.table.lock();
        if let Some(flight) = flying.flights.get_mut(&key) {
            flight.seats += 1;
            let (serial, arrival) = (flight.serial, flight.arrival.clone());
            return self.seat_on(key, serial, arrival, true);
        }
        let (sender, arrival) = watch::channel(None);
        let (serial, given_up) = (flying.next, CancellationToken::new());
        flying.next += 1;
        let flight = Flight {
            serial,
            seats: 1,
            given_up: given_up.clone(),
            arrival: arrival.clone(),
        };
        flying.flights.insert(key.clone(), flight);
        drop(flying);
        let seat = self.seat_on(key.clone(), serial, arrival, false);
        let landing = Landing {
            table: Arc::clone(&self.table),
            key,
            serial,
        };
        let errand = errand(given_up.clone());
        self.tasks.spawn(fly(landing, errand, given_up, sender));
        seat
    }

    /// How many wait, on all flights.
    #[cfg(test)]
    pub(crate) fn seats(&self) -> usize {
        self.table
            .lock()
            .flights
            .values()
            .map(|flight| flight.seats)
            .sum()
    }

    fn seat_on(&self, key: K, serial: u64, arrival: watch::Receiver<Option<A>>, joined: bool) -> Seat<K, A> {
        Seat {
            table: Arc::clone(&self.table),
            key,
            serial,
            arrival,
            joined,
        }
    }
}

impl<K: Eq + Hash, A: Clone> Seat<K, A> {
    /// Whether the flight was under way already.
    #[must_use]
    pub fn joined(&self) -> bool {
        self.joined
    }

    /// The answer, for everyone the same; `None` where the errand was lost. Cancel-safe.
    pub async fn arrival(&mut self) -> Option<A> {
        let arrived = self.arrival.wait_for(Option::is_some).await;
        arrived.ok().and_then(|answer| answer.clone())
    }
}

impl<K: Eq + Hash, A> Drop for Seat<K, A> {
    fn drop(&mut self) {
        let mut flying = self.table.lock();
        let Some(flight) = flying.of(&self.key, self.serial) else {
            return;
        };
        flight.seats -= 1;
        if flight.seats == 0 {
            flight.given_up.cancel();
            flying.flights.remove(&self.key);
        }
    }
}

/// Takes a flight off the table when it ends, whatever its end is.
struct Landing<K: Eq + Hash, A> {
    table: Arc<Table<K, A>>,
    key: K,
    serial: u64,
}

impl<K: Eq + Hash, A> Drop for Landing<K, A> {
    fn drop(&mut self) {
        let mut flying = self.table.lock();
        if flying.of(&self.key, self.serial).is_some() {
            flying.flights.remove(&self.key);
        }
    }
}

// Cancel-safe: an errand that is dropped is what giving up means. It is dropped before its answer is told, so what it
// held is free for those who waited.
async fn fly<K: Eq + Hash, A>(
    landing: Landing<K, A>,
    errand: impl Future<Output = A>,
    given_up: CancellationToken,
    sender: watch::Sender<Option<A>>,
) {
    let answer = tokio::select! {
        biased;
        () = given_up.cancelled() => None,
        answer = errand => Some(answer),
    };
    drop(landing);
    sender.send_replace(answer);
}

impl<K, A> Table<K, A> {
    fn lock(&self) -> MutexGuard<'_, Flying<K, A>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, A> Flying<K, A> {
    fn of(&mut self, key: &K, serial: u64) -> Option<&mut Flight<A>> {
        self.flights.get_mut(key).filter(|flight| flight.serial == serial)
    }
}

impl<K, A> Clone for Flights<K, A> {
    fn clone(&self) -> Self {
        Self {
            table: Arc::clone(&self.table),
            tasks: self.tasks.clone(),
        }
    }
}

impl<K, A> fmt::Debug for Flights<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let under_way = self.table.lock().flights.len();
        f.debug_struct("Flights")
            .field("under_way", &under_way)
            .finish_non_exhaustive()
    }
}

impl<K: Eq + Hash, A> fmt::Debug for Seat<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("joined", &self.joined)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
