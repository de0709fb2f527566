//! Streams that only listen: whose they are, how many there may be, and when the catalog is another one.
//!
//! Bounded by number, by caller and in time. A stream ends when the gateway stops, when its credential is no longer
//! accepted, and when the same session opens another one, which takes its place.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use metrics::gauge;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use toolgate_contract::v1::{ErrorReason, Failure, WatchToolsRequest, WatchToolsResponse};

use super::{level::Scope, server::Server};
use crate::link::Caller;

/// Streams of all callers, and of one principal, whatever credentials it has.
const ROOM: usize = 1024;
const ROOM_OF_CALLER: usize = 64;
/// How long one stream goes on; whoever still listens comes back.
pub(super) const LIFETIME: Duration = Duration::from_secs(3600);
/// How long the core may take to tell the version of now.
const FIRST_VERSION: Duration = Duration::from_secs(10);

/// The streams that are open now.
#[derive(Debug, Default)]
pub(super) struct Listening(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    of_caller: HashMap<Scope, usize>,
    /// The stream of each session.
    of_session: HashMap<Scope, (u64, CancellationToken)>,
    all: usize,
    next: u64,
}

/// The place of one stream, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    table: Arc<Listening>,
    caller: Scope,
    session: Option<Scope>,
    serial: u64,
    /// Told when the session opened another stream.
    replaced: CancellationToken,
}

/// What a stream hears.
#[derive(Debug)]
pub(super) enum Heard {
    /// The catalog is another one.
    Changed,
    /// The end, in order.
    End,
    /// The credential is no longer accepted, or the core is gone.
    Failed(Failure),
}

/// One stream.
#[derive(Debug)]
pub(super) struct Listener {
    versions: Streaming<WatchToolsResponse>,
    version: String,
    until: Instant,
    closed: CancellationToken,
    seat: Seat,
}

impl Listener {
    /// Begins to listen for a caller; a session has one stream at a time.
    ///
    /// # Errors
    /// The core does not accept the caller, or there are too many streams.
    pub(super) async fn open(
        server: &Server,
        caller: Caller,
        session: Option<Scope>,
    ) -> Result<Self, Failure> {
        let mut seat = Seat::take(server, caller.again()).await?;
        let mut broker = server.link.broker();
        let asked = broker.watch_tools(caller.request(WatchToolsRequest {}));
        let mut versions = server
            .link
            .ask(asked)
            .await
            .map_err(|problem| problem.into_failure())?;
        let version = match timeout(FIRST_VERSION, versions.message()).await {
            Ok(Ok(Some(first))) => first.version,
            Ok(Err(status)) => return Err(Failure::from_status(&status)),
            Ok(Ok(None)) | Err(_) => {
                return Err(Failure::new(
                    ErrorReason::Overloaded,
                    "the catalog cannot be watched now; try again later",
                ));
            }
        };
        // Only now is the session known to be the caller's.
        if let Some(session) = session {
            seat.claim(session);
        }
        Ok(Self {
            versions,
            version,
            until: Instant::now() + LIFETIME,
            closed: server.closed.clone(),
            seat,
        })
    }

    /// Waits for what comes next. Cancel-safe.
    pub(super) async fn hear(&mut self) -> Heard {
        loop {
            let version = tokio::select! {
                biased;
                () = self.closed.cancelled() => return Heard::End,
                () = self.seat.replaced.cancelled() => return Heard::End,
                () = tokio::time::sleep_until(self.until) => return Heard::End,
                version = self.versions.message() => version,
            };
            match version {
                Ok(Some(next)) if next.version == self.version => {}
                Ok(Some(next)) => {
                    self.version = next.version;
                    return Heard::Changed;
                }
                Ok(None) => return Heard::End,
                Err(status) => return Heard::Failed(Failure::from_status(&status)),
            }
        }
    }
}

fn full() -> Failure {
    let text = "too many streams listen for changes; close one, or ask for the list when it is needed";
    Failure::new(ErrorReason::Overloaded, text).retry_after(Duration::from_secs(30))
}

impl Listening {
    /// `None` where there is no room.
    fn take(this: &Arc<Self>, caller: Scope) -> Option<Seat> {
        let mut table = this.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_caller = table.of_caller.get(&caller).copied().unwrap_or(0);
        if table.all >= ROOM || of_caller >= ROOM_OF_CALLER {
            return None;
        }
        let serial = table.next;
        table.next += 1;
        table.all += 1;
        gauge!("toolgate_mcp_streams").increment(1);
        table.of_caller.insert(caller, of_caller + 1);
        Some(Seat {
            table: Arc::clone(this),
            caller,
            session: None,
            serial,
            replaced: CancellationToken::new(),
        })
    }
}

impl Seat {
    /// The place of one more stream of a caller.
    ///
    /// # Errors
    /// The core does not accept the caller, or there are too many streams.
    pub(super) async fn take(server: &Server, caller: Caller) -> Result<Self, Failure> {
        let who = server.who(caller).await?;
        let scope = server.scope(&[who.tenant_id.as_bytes(), who.principal.as_bytes()]);
        Listening::take(&server.listening, scope).ok_or_else(full)
    }

    /// Takes the place of the stream that the session has had.
    fn claim(&mut self, session: Scope) {
        self.session = Some(session);
        let mut table = self.table.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = (self.serial, self.replaced.clone());
        if let Some((_, older)) = table.of_session.insert(session, newest) {
            older.cancel();
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.table.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.all = table.all.saturating_sub(1);
        gauge!("toolgate_mcp_streams").decrement(1);
        let left = table
            .of_caller
            .get(&self.caller)
            .map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => table.of_caller.remove(&self.caller),
            left => table.of_caller.insert(self.caller, left),
        };
        if let Some(session) = self.session
            && table
                .of_session
                .get(&session)
                .is_some_and(|(serial, _)| *serial == self.serial)
        {
            table.of_session.remove(&session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_counted_by_caller_and_give_their_place_back() {
        let table = Arc::new(Listening::default());
        let take = |caller| Listening::take(&table, Scope(caller));
        let seats: Vec<_> = (0..ROOM_OF_CALLER).map(|_| take(1).unwrap()).collect();
        assert!(take(1).is_none());
        assert!(take(2).is_some());
        drop(seats);
        assert!(take(1).is_some());
        let all: Vec<_> = (0..ROOM as u64)
            .map(|caller| take(100 + caller).unwrap())
            .collect();
        assert!(take(1).is_none());
        drop(all);
        assert!(table.0.lock().unwrap().of_caller.is_empty());
    }

    #[test]
    fn the_newest_stream_of_a_session_takes_the_place_of_the_older_one() {
        let table = Arc::new(Listening::default());
        let of = |session| {
            let mut seat = Listening::take(&table, Scope(1)).unwrap();
            seat.claim(Scope(session));
            seat
        };
        let (first, other) = (of(7), of(8));
        let second = of(7);
        assert!(first.replaced.is_cancelled() && !other.replaced.is_cancelled());
        drop(first);
        let third = of(7);
        assert!(second.replaced.is_cancelled() && !third.replaced.is_cancelled());
    }
}
