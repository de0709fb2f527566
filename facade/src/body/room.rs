//! How much of bodies may be held while they arrive, by everyone and by one source.
//!
//! Whoever sends slowly, over many streams at once, fills its own share and nobody else's.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::HeaderValue;
use toolgate_contract::v1::{ErrorReason, Failure};

use crate::problem::Problem;

/// Bytes of all bodies that are arriving, and of those from one source.
const ROOM: usize = 128 * 1024 * 1024;
const ROOM_OF_SOURCE: usize = 32 * 1024 * 1024;

/// Where arriving bodies are counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    all: usize,
    of_source: HashMap<Option<HeaderValue>, usize>,
}

/// The share of one body, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    room: Room,
    source: Option<HeaderValue>,
    bytes: usize,
}

impl Room {
    pub(super) fn share(&self, source: Option<HeaderValue>) -> Share {
        Share {
            room: self.clone(),
            source,
            bytes: 0,
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Makes room for so many bytes in all.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), Problem> {
        let more = bytes.saturating_sub(self.bytes);
        let mut held = self.room.held();
        let of_source = held.of_source.get(&self.source).copied().unwrap_or(0) + more;
        if held.all + more > ROOM || of_source > ROOM_OF_SOURCE {
            drop(held);
            return Err(full());
        }
        held.all += more;
        held.of_source.insert(self.source.clone(), of_source);
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.room.held();
        held.all = held.all.saturating_sub(self.bytes);
        let left = held.of_source.get(&self.source).copied().unwrap_or(0);
        match left.saturating_sub(self.bytes) {
            0 => held.of_source.remove(&self.source),
            left => held.of_source.insert(self.source.clone(), left),
        };
    }
}

fn full() -> Problem {
    let text = "too much is being sent at once; send fewer requests side by side, and try again in a second";
    Failure::new(ErrorReason::Overloaded, text)
        .retry_after(Duration::from_secs(1))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &'static str) -> Option<HeaderValue> {
        Some(HeaderValue::from_static(name))
    }

    #[test]
    fn a_source_fills_its_own_share_and_nobody_elses_and_gives_it_back() {
        let room = Room::default();
        let mut one = room.share(source("192.0.2.1"));
        one.grow_to(ROOM_OF_SOURCE).unwrap();
        one.grow_to(ROOM_OF_SOURCE).unwrap();
        assert!(room.share(source("192.0.2.1")).grow_to(1).is_err());
        assert!(room.share(source("192.0.2.2")).grow_to(1).is_ok());
        drop(one);
        assert!(room.share(source("192.0.2.1")).grow_to(1).is_ok());
        let held = room.held();
        assert!(held.all == 0 && held.of_source.is_empty());
    }

    #[test]
    fn all_sources_together_have_an_end_too() {
        let room = Room::default();
        let names = ["a", "b", "c", "d"];
        let mut shares: Vec<_> = names.map(|name| room.share(source(name))).into();
        for share in &mut shares {
            share.grow_to(ROOM_OF_SOURCE).unwrap();
        }
        assert!(room.share(source("e")).grow_to(1).is_err());
    }
}
