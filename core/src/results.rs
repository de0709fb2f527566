//! The events of invoked calls, kept for whoever may watch them: in memory, bounded, for a short while.
//!
//! A correlation id is no secret: only the tenant and principal that invoked a call may watch it, and everyone else
//! is answered as for a call that never was. Calls that were waited for are never kept here.

mod stream;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    ids::{CallId, TenantId},
    v1::{Failure, ToolResult},
};

pub(crate) use self::stream::Stream;
pub use self::stream::Watcher;
use crate::{
    clock::Clock,
    error::{Error, Missing},
    identity::Principal,
};

/// A finished call can be read this long.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Results kept in all, in bytes.
const MAX_BYTES: usize = 32 << 20;
/// Finished calls kept for one tenant.
const MAX_PER_TENANT: usize = 300;

/// How a call ended, as its watchers will be told.
#[derive(Debug)]
pub enum Ended {
    /// With a result that stands on the record.
    Released {
        /// The result.
        result: ToolResult,
        /// From admission to settlement.
        duration_ms: i64,
    },
    /// Without one.
    Failed(Failure),
}

/// The events of invoked calls.
#[derive(Debug)]
pub struct Results {
    clock: Clock,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    streams: HashMap<CallId, Arc<Stream>>,
    // By the order in which calls ended, which is also every tenant's own order.
    finished: BTreeMap<u64, Finished>,
    of_tenant: HashMap<TenantId, VecDeque<u64>>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Finished {
    call: CallId,
    tenant: TenantId,
    bytes: usize,
    at: Duration,
}

impl Results {
    /// Nothing kept yet.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            kept: Mutex::default(),
        }
    }

    /// Opens the stream of a call that starts now.
    pub(crate) fn open(&self, call: CallId, owner: &Principal, cancel: CancellationToken) -> Arc<Stream> {
        let stream = Arc::new(Stream::new(call, owner, cancel));
        self.kept().streams.insert(call, Arc::clone(&stream));
        stream
    }

    /// Puts the last events on a stream and starts its time to be read.
    pub(crate) fn finish(&self, stream: &Stream, ended: Ended) {
        let finished = Finished {
            call: stream.call(),
            tenant: stream.tenant().clone(),
            bytes: stream.finish(ended),
            at: self.clock.monotonic(),
        };
        let mut kept = self.kept();
        kept.put(finished);
        kept.forget(self.clock.monotonic());
    }

    /// Watches a call from after the event `seen`.
    pub fn watch(&self, call: &str, seen: Option<&str>, caller: &Principal) -> Result<Watcher, Error> {
        let missing = || Error::NotFound(Missing::Call);
        let id: CallId = call.parse().map_err(|_| missing())?;
        let mut kept = self.kept();
        kept.forget(self.clock.monotonic());
        let stream = kept
            .streams
            .get(&id)
            .filter(|stream| stream.belongs_to(caller))
            .ok_or_else(missing)?;
        let after = seen.map_or(Ok(0), |seen| sequence(seen, id))?;
        Ok(Watcher::new(Arc::clone(stream), after))
    }

    /// Forgets what was kept long enough. Called now and then, so that an idle process forgets too.
    pub fn sweep(&self) {
        self.kept().forget(self.clock.monotonic());
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    // One tenant's many results push out its own and nobody else's.
    fn put(&mut self, finished: Finished) {
        self.bytes += finished.bytes;
        let own = self.of_tenant.entry(finished.tenant.clone()).or_default();
        own.push_back(self.next);
        let too_many = if own.len() > MAX_PER_TENANT {
            own.front().copied()
        } else {
            None
        };
        self.finished.insert(self.next, finished);
        self.next += 1;
        if let Some(oldest) = too_many {
            self.drop_one(oldest);
        }
    }

    fn forget(&mut self, now: Duration) {
        while let Some((order, oldest)) = self.finished.first_key_value() {
            if self.bytes <= MAX_BYTES && now < oldest.at + KEPT_FOR {
                break;
            }
            self.drop_one(*order);
        }
    }

    // What goes is always its tenant's oldest.
    fn drop_one(&mut self, order: u64) {
        let Some(gone) = self.finished.remove(&order) else {
            return;
        };
        self.streams.remove(&gone.call);
        self.bytes -= gone.bytes;
        if let Some(own) = self.of_tenant.get_mut(&gone.tenant) {
            own.pop_front();
            if own.is_empty() {
                self.of_tenant.remove(&gone.tenant);
            }
        }
    }
}

/// The sequence in `<call>-<sequence>`.
fn sequence(event_id: &str, call: CallId) -> Result<usize, Error> {
    event_id
        .strip_prefix(&call.to_string())
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|sequence| sequence.parse().ok())
        .ok_or_else(|| {
            Error::invalid(
                "last_event_id",
                "is no event id of this call; leave it out to start anew",
            )
        })
}

#[cfg(test)]
mod tests;
