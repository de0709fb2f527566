//! What a simulator was asked.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Request;

/// The requests so far. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<Request>>>);

impl Seen {
    /// All of them, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Forgets them.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The methods other than GET.
    #[must_use]
    pub fn writes(&self) -> Vec<String> {
        let all = self.all().into_iter();
        all.filter(|request| request.method != "GET" || !request.body.is_empty())
            .map(|request| format!("{} {}", request.method, request.path))
            .collect()
    }

    pub(crate) fn push(&self, request: Request) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A tool that is tried out for days must not grow.
        if all.len() == 100_000 {
            all.clear();
        }
        all.push(request);
    }
}
