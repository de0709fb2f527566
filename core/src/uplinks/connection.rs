//! One proven connection: requests out, answers in, heartbeats both ways; to a project also what its server says.
//!
//! Every request has one answer, cancelled ones included; an answer nobody asked for, or a second one, ends the
//! connection. So does anything else that a sane relay does not send.

use std::{
    collections::HashMap,
    fmt,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot},
    time::{Instant, MissedTickBehavior, interval_at},
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::{
    frame::{
        Assembler, Frame, FrameError, FrameId, GoAway, GoAwayReason, Kind, MAX_IN_FLIGHT, Offer, Session,
    },
    ids::TargetId,
};

use super::{
    Incoming, UplinkError,
    enrolments::{RelayRecord, UplinkEvents},
    presence::Presence,
};
use crate::upstream::Reports;

mod conversation;
mod debts;
mod hear;
mod inbox;
mod joining;
mod request;
mod talk;
mod window;

pub use conversation::Conversation;
pub use inbox::FromServer;

pub(super) use request::{Answer, Request};

use hear::Caller;
use joining::Joining;
use talk::Talk;

/// Frames that may wait for the transport.
pub const QUEUE: usize = 32;

const HEARTBEAT: Duration = Duration::from_secs(15);
const DEAD_AFTER: Duration = Duration::from_secs(45);
/// How often questions of a project's server are looked at that nobody answers.
const SWEEP: Duration = Duration::from_secs(1);
/// Requests that may wait for one of the slots.
const WAITING: usize = 256;
/// Slots for requests that wait as long as it takes.
const LINGERING: usize = MAX_IN_FLIGHT * 3 / 4;

/// One connection.
pub(super) struct Connection {
    relay: RelayRecord,
    session: Session,
    outgoing: mpsc::Sender<Bytes>,
    slots: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    lingering: Arc<Semaphore>,
    calls: Mutex<Calls>,
    /// Only with a project: a host has nothing to say of its own.
    talk: Option<Talk>,
    life: Life,
}

/// Requests that have not been answered.
#[derive(Default)]
struct Calls {
    /// The counter of the next request.
    next: u64,
    open: HashMap<u64, Call>,
}

struct Call {
    /// Gone when nobody waits any more; the one answer is still awaited.
    asker: Option<oneshot::Sender<Result<Answer, UplinkError>>>,
    conversation: Option<FrameId>,
    reports: Reports,
    _slots: [Option<OwnedSemaphorePermit>; 2],
}

impl Call {
    fn caller(&self, counter: u64) -> Caller {
        Caller {
            counter,
            conversation: self.conversation.clone(),
            reports: self.reports.clone(),
        }
    }
}

struct Life {
    began: Instant,
    /// Milliseconds after `began` at which the relay last said anything.
    heard_ms: AtomicU64,
    latency_us: AtomicU64,
    closed: CancellationToken,
    reason: OnceLock<GoAwayReason>,
}

impl Connection {
    pub(super) fn new(relay: RelayRecord, session: Session, outgoing: mpsc::Sender<Bytes>) -> Arc<Self> {
        let talk = (relay.offer == Offer::Project).then(Talk::new);
        Arc::new(Self {
            relay,
            session,
            outgoing,
            talk,
            lingering: Arc::new(Semaphore::new(LINGERING)),
            slots: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            waiting: Arc::new(Semaphore::new(WAITING)),
            calls: Mutex::default(),
            life: Life {
                began: Instant::now(),
                heard_ms: AtomicU64::new(0),
                latency_us: AtomicU64::new(0),
                closed: CancellationToken::new(),
                reason: OnceLock::new(),
            },
        })
    }

    pub(super) fn relay(&self) -> &RelayRecord {
        &self.relay
    }

    pub(super) fn target(&self) -> TargetId {
        self.relay.target
    }

    pub(super) fn presence(&self) -> Presence {
        let latency = self.life.latency_us.load(Ordering::Relaxed);
        Presence {
            connected_for: self.age(),
            silent_for: self.silent_for(),
            latency: (latency > 0).then(|| Duration::from_micros(latency)),
            in_flight: self.calls().open.len(),
            server: self.talk.as_ref().and_then(Talk::server),
            passed_over: self.talk.as_ref().map_or(0, Talk::passed_over),
        }
    }

    /// How long ago the relay has proven itself.
    pub(super) fn age(&self) -> Duration {
        self.life.began.elapsed()
    }

    /// Ends the connection; the peer hears the first reason given.
    pub(super) fn close(&self, reason: GoAwayReason) {
        let _ = self.life.reason.set(reason);
        self.life.closed.cancel();
    }

    /// Reads until the end; gives the reason to tell the peer, if it may still be there.
    pub(super) async fn run(
        &self,
        mut incoming: Incoming,
        stop: &CancellationToken,
        events: &dyn UplinkEvents,
    ) -> Option<GoAwayReason> {
        let mut joining = Joining::new();
        let mut beat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sweep = interval_at(Instant::now() + SWEEP, SWEEP);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut paying = pin!(self.pay());
        let reason = loop {
            // All branches are cancel-safe: tokens, a stream, timers, and a future that is kept.
            tokio::select! {
                biased;
                () = self.life.closed.cancelled() => break self.life.reason.get().copied(),
                () = stop.cancelled() => break Some(GoAwayReason::ShuttingDown),
                () = &mut paying => break None,
                _ = sweep.tick(), if self.talk.is_some() => {
                    if self.talk.as_ref().is_some_and(|talk| self.sweep(talk).is_err()) {
                        break Some(GoAwayReason::Protocol);
                    }
                }
                message = incoming.next() => {
                    let Some(Ok(message)) = message else { break None };
                    match self.take(message, &mut joining, events) {
                        Ok(()) => {}
                        Err(Break::Left) => break None,
                        Err(Break::Protocol) => break Some(GoAwayReason::Protocol),
                    }
                }
                _ = beat.tick() => {
                    if self.silent_for() >= DEAD_AFTER {
                        break Some(GoAwayReason::TimedOut);
                    }
                    self.ping();
                }
            }
        };
        self.end();
        reason
    }

    /// Sends what the reader owes; ends only with the transport.
    async fn pay(&self) {
        match &self.talk {
            Some(talk) => talk.debts.pay(&self.outgoing).await,
            None => std::future::pending().await,
        }
    }

    /// Whoever waits hears that the relay is lost.
    fn end(&self) {
        self.life.closed.cancel();
        self.calls().open.clear();
        if let Some(talk) = &self.talk {
            talk.end();
        }
    }

    fn take(&self, message: Bytes, joining: &mut Joining, events: &dyn UplinkEvents) -> Result<(), Break> {
        let frame = Frame::decode(message)?;
        self.life.heard_ms.store(self.age_ms(), Ordering::Relaxed);
        match frame.header.kind {
            Kind::Response => self.answer(frame, &mut joining.answers),
            Kind::Ping => {
                self.send_now(&Frame::new(Kind::Pong, frame.header.id, frame.body));
                Ok(())
            }
            Kind::Pong => {
                self.measure(&frame.header.id);
                Ok(())
            }
            Kind::GoAway => {
                let away = frame.read::<GoAway>(Kind::GoAway).map(|away| away.reason);
                tracing::debug!(target = %self.target(), reason = ?away, "the relay goes away");
                Err(Break::Left)
            }
            Kind::Notify | Kind::Request | Kind::Cancel => match &self.talk {
                Some(talk) => self.hear(talk, frame, joining, events),
                None if frame.header.kind == Kind::Request => Err(Break::Protocol),
                None => Ok(()),
            },
            Kind::Unknown => Ok(()),
            Kind::Hello | Kind::Challenge | Kind::Proof | Kind::Ready => Err(Break::Protocol),
        }
    }

    fn answer(&self, frame: Frame, assembler: &mut Assembler) -> Result<(), Break> {
        let id = frame.header.id.clone();
        let counter = self.session.counter(&id).ok_or(Break::Protocol)?;
        let last = !frame.header.more;
        let waited_for = match self.calls().open.get(&counter) {
            None => return Err(Break::Protocol),
            Some(call) => call.asker.is_some(),
        };
        if !waited_for {
            assembler.forget(Kind::Response, &id);
            if last {
                self.calls().open.remove(&counter);
            }
            return Ok(());
        }
        match assembler.push(frame) {
            Ok(None) => Ok(()),
            Ok(Some(whole)) => {
                self.settle(counter, request::outcome(whole));
                Ok(())
            }
            Err(_) => {
                self.give_up(counter, UplinkError::TooLarge, last);
                Ok(())
            }
        }
    }

    fn settle(&self, counter: u64, outcome: Result<Answer, UplinkError>) {
        let call = self.calls().open.remove(&counter);
        if let Some(asker) = call.and_then(|call| call.asker) {
            // The asker may just have left; then nobody minds.
            let _ = asker.send(outcome);
        }
    }

    /// Answers the asker now; what still comes of this call is passed over.
    fn give_up(&self, counter: u64, error: UplinkError, last: bool) {
        let mut calls = self.calls();
        if let Some(asker) = calls.open.get_mut(&counter).and_then(|call| call.asker.take()) {
            let _ = asker.send(Err(error));
        }
        if last {
            calls.open.remove(&counter);
        }
    }

    fn ping(&self) {
        let id = FrameId::parse(&format!("g{}", self.age_us())).unwrap_or_else(FrameId::zero);
        self.send_now(&Frame::new(Kind::Ping, id, Bytes::new()));
    }

    fn measure(&self, id: &FrameId) {
        let sent = id
            .as_str()
            .strip_prefix('g')
            .and_then(|us| us.parse::<u64>().ok());
        if let Some(took) = sent.and_then(|sent| self.age_us().checked_sub(sent)) {
            self.life.latency_us.store(took.max(1), Ordering::Relaxed);
        }
    }

    /// Sends what is not worth waiting for. A queue that stays full means a relay that does not read, and that is
    /// found dead by its silence.
    fn send_now(&self, frame: &Frame) {
        if let Ok(message) = frame.encode() {
            let _ = self.outgoing.try_send(message);
        }
    }

    fn silent_for(&self) -> Duration {
        Duration::from_millis(
            self.age_ms()
                .saturating_sub(self.life.heard_ms.load(Ordering::Relaxed)),
        )
    }

    fn age_ms(&self) -> u64 {
        u64::try_from(self.life.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn age_us(&self) -> u64 {
        u64::try_from(self.life.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why reading ends.
enum Break {
    /// The relay said goodbye.
    Left,
    /// The relay sent what it may not send.
    Protocol,
}

impl From<FrameError> for Break {
    fn from(_: FrameError) -> Self {
        Self::Protocol
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("target", &self.relay.target)
            .finish_non_exhaustive()
    }
}
