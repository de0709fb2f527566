//! Requests that can be cancelled, by who sent them and their id.
//!
//! Two clients may use the same ids, so an id counts only within a session or, without one, among the requests of one
//! credential; where several of these are equal nobody can say which one is meant, and none is stopped. Bounded: what
//! finds no room runs all the same, and cannot be cancelled.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio_util::sync::CancellationToken;

use super::{envelope::IdKey, level::Scope};

/// Requests of all scopes, and of one.
const ROOM: usize = 16 * 1024;
const ROOM_OF_SCOPE: usize = 256;

/// The table.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    requests: HashMap<(Scope, IdKey), Vec<(u64, CancellationToken)>>,
    of_scope: HashMap<Scope, usize>,
    all: usize,
    next: u64,
}

/// A request's place in the table, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    table: InFlight,
    key: (Scope, IdKey),
    serial: u64,
}

impl InFlight {
    /// Notes a request; `None` where there is no room.
    pub(super) fn note(&self, scope: Scope, id: IdKey, cancelled: &CancellationToken) -> Option<Place> {
        let key = (scope, id);
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_scope = table.of_scope.get(&scope).copied().unwrap_or(0);
        if table.all >= ROOM || of_scope >= ROOM_OF_SCOPE {
            return None;
        }
        let serial = table.next;
        table.next += 1;
        table.all += 1;
        table.of_scope.insert(scope, of_scope + 1);
        let same = table.requests.entry(key.clone()).or_default();
        same.push((serial, cancelled.clone()));
        Some(Place {
            table: self.clone(),
            key,
            serial,
        })
    }

    /// Stops the request of this id. Unknown and late ids are nobody's (row C1).
    pub(super) fn cancel(&self, scope: Scope, id: IdKey) {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some([(_, cancelled)]) = table.requests.get(&(scope, id)).map(Vec::as_slice) {
            cancelled.cancel();
        }
    }

    #[cfg(test)]
    fn is_empty(&self) -> bool {
        let table = self.0.lock().unwrap();
        table.requests.is_empty() && table.of_scope.is_empty() && table.all == 0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.table.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = table.requests.get_mut(&self.key);
        if same.is_some_and(|same| {
            same.retain(|(serial, _)| *serial != self.serial);
            same.is_empty()
        }) {
            table.requests.remove(&self.key);
        }
        table.all = table.all.saturating_sub(1);
        let scope = self.key.0;
        let left = table
            .of_scope
            .get(&scope)
            .map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => table.of_scope.remove(&scope),
            left => table.of_scope.insert(scope, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> IdKey {
        IdKey::Number(number)
    }

    #[test]
    fn a_cancel_reaches_the_request_of_its_own_scope_only() {
        let table = InFlight::default();
        let (mine, others) = (CancellationToken::new(), CancellationToken::new());
        let _mine = table.note(Scope(1), id(7), &mine);
        let _others = table.note(Scope(2), id(7), &others);
        table.cancel(Scope(1), id(8));
        table.cancel(Scope(3), id(7));
        table.cancel(Scope(1), IdKey::Text("7".into()));
        assert!(!mine.is_cancelled() && !others.is_cancelled());
        table.cancel(Scope(1), id(7));
        assert!(mine.is_cancelled() && !others.is_cancelled());
    }

    #[test]
    fn of_two_equal_ids_none_is_stopped_until_one_is_left() {
        let table = InFlight::default();
        let (first, second) = (CancellationToken::new(), CancellationToken::new());
        let place = table.note(Scope(1), id(1), &first);
        let _second = table.note(Scope(1), id(1), &second);
        table.cancel(Scope(1), id(1));
        assert!(!first.is_cancelled() && !second.is_cancelled());
        drop(place);
        table.cancel(Scope(1), id(1));
        assert!(!first.is_cancelled() && second.is_cancelled());
    }

    #[test]
    fn a_scope_has_so_much_room_and_gives_it_back() {
        let table = InFlight::default();
        let token = CancellationToken::new();
        let note = |scope, n| table.note(Scope(scope), id(n), &token);
        let places: Vec<_> = (0..ROOM_OF_SCOPE as i64).map(|n| note(1, n).unwrap()).collect();
        assert!(note(1, -1).is_none());
        assert!(note(2, -1).is_some());
        drop(places);
        assert!(note(1, -1).is_some());
        assert!(table.is_empty());
    }
}
