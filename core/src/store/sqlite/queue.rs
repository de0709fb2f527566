//! A bounded queue between callers that must not block and threads that wait.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::store::StoreError;

/// A bounded queue; what was queued before it was closed is still handed out.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    ready: Condvar,
    capacity: usize,
}

struct State<T> {
    jobs: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let state = State {
            jobs: VecDeque::new(),
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            ready: Condvar::new(),
            capacity,
        }
    }

    /// Queues a job, or refuses it when the queue is full.
    pub(super) fn push(&self, job: T) -> Result<(), StoreError> {
        self.push_within(self.capacity, job)
    }

    /// Queues a job of which there is never more than one.
    pub(super) fn push_past_the_limit(&self, job: T) -> Result<(), StoreError> {
        self.push_within(usize::MAX, job)
    }

    /// Waits for the next job; `None` when the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        self.state().closed = true;
        self.ready.notify_all();
    }

    /// Closes the queue and drops what it holds, for when nobody serves it any more.
    pub(super) fn abandon(&self) {
        self.close();
        // Dropped without the lock: what a job does when it is dropped may come back here.
        let jobs = std::mem::take(&mut self.state().jobs);
        drop(jobs);
    }

    fn push_within(&self, limit: usize, job: T) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.closed {
            return Err(StoreError::Closed);
        }
        if state.jobs.len() >= limit {
            return Err(StoreError::Overloaded);
        }
        state.jobs.push_back(job);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    // No code runs under this lock that could panic half-way, so a poisoned state is a whole one.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_full_queue_refuses_but_for_the_reserved_place() {
        let queue = Queue::new(1);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.push(2), Err(StoreError::Overloaded));
        assert_eq!(queue.push_past_the_limit(3), Ok(()));
        assert_eq!((queue.pop(), queue.pop()), (Some(1), Some(3)));
    }

    #[test]
    fn an_abandoned_queue_drops_what_it_holds_and_takes_no_more() {
        let queue = Arc::new(Queue::new(2));
        let held = Arc::new(());
        queue.push(Arc::clone(&held)).unwrap();
        queue.abandon();
        assert_eq!(Arc::strong_count(&held), 1);
        assert_eq!(queue.push(held), Err(StoreError::Closed));
    }

    #[test]
    fn a_closed_queue_hands_out_what_it_holds_and_takes_no_more() {
        let queue = Queue::new(2);
        queue.push(1).unwrap();
        queue.close();
        assert_eq!(queue.push(2), Err(StoreError::Closed));
        assert_eq!((queue.pop(), queue.pop()), (Some(1), None));
    }
}
