//! What the mock was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

/// A mock that is tried out for days must not grow.
const KEPT: usize = 1_000;

/// One request that was read as JSON, refused or not.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `/v1/chat/completions` or `/v1/responses`.
    pub path: &'static str,
    /// Its body.
    pub body: Value,
}

/// The requests so far. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenLog(Arc<Mutex<VecDeque<Seen>>>);

impl SeenLog {
    pub(crate) fn all(&self) -> Vec<Seen> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter().cloned().collect()
    }

    pub(crate) fn push(&self, seen: Seen) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() == KEPT {
            log.pop_front();
        }
        log.push_back(seen);
    }
}
