//! A connection after the handshake: requests in, answers out, heartbeats both ways.
//!
//! One task reads, one writes, one runs per request; all end with [`serve`], and with them whatever they ran. What
//! answers is a [`Service`]; nothing here knows whether that is a host or a project.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use tokio::{
    sync::mpsc,
    task::{JoinError, JoinSet},
    time::{Instant, MissedTickBehavior, interval_at, timeout},
};
use tokio_util::sync::CancellationToken;
use toolgate_contract::frame::{
    Assembler, Frame, FrameId, GoAway, GoAwayReason, Kind, MAX_BODY, MAX_IN_FLIGHT, Refusal, RefusalCode,
    Session,
};

use crate::{
    link::{Link, LinkError, Outgoing},
    service::{Outcome, Service},
    voice::{Voice, send},
};

const HEARTBEAT: Duration = Duration::from_secs(15);
const DEAD_AFTER: Duration = Duration::from_secs(45);
const QUEUE: usize = 32;

/// Why a session ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The gateway said so.
    GoAway(GoAwayReason),
    /// The connection broke, or the gateway broke the protocol.
    Broken(LinkError),
    /// Nothing was heard for 45 seconds.
    Silent,
    /// This relay stops.
    Stopped,
}

/// Serves one connection to its end.
pub(crate) async fn serve<S: Service>(
    link: Link,
    session: Session,
    service: Arc<S>,
    stop: &CancellationToken,
) -> End {
    let (queue, queued) = mpsc::channel(QUEUE);
    let mut incoming = link.incoming;
    let mut writer = JoinSet::new();
    writer.spawn(write(link.outgoing, queued));
    service.connected(Voice::new(session.clone(), queue.clone()));
    let mut peer = Peer::new(session, Arc::clone(&service), queue.clone());
    let mut beat = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        // All branches are cancel-safe: a channel, a stream, a timer, a set of tasks.
        tokio::select! {
            biased;
            () = stop.cancelled() => break End::Stopped,
            message = incoming.next() => {
                if let Err(end) = peer.take(message) {
                    break end;
                }
            }
            Some(done) = peer.requests.join_next() => peer.forget(done),
            _ = beat.tick() => {
                if let Err(end) = peer.beat() {
                    break end;
                }
            }
            // The writer ends only when it cannot write.
            _ = writer.join_next() => break End::Broken(LinkError::Closed),
        }
    };
    if matches!(end, End::Stopped) {
        say_goodbye(&queue).await;
    }
    // What a request runs dies with its task.
    peer.requests.shutdown().await;
    service.disconnected();
    drop((peer, queue));
    let _ = timeout(Duration::from_secs(1), writer.join_next()).await;
    end
}

async fn write(mut outgoing: Outgoing, mut queued: mpsc::Receiver<Bytes>) {
    while let Some(message) = queued.recv().await {
        if outgoing.send(message).await.is_err() {
            return;
        }
    }
    let _ = outgoing.close().await;
}

async fn say_goodbye(queue: &mpsc::Sender<Bytes>) {
    let away = Frame::message(
        Kind::GoAway,
        &GoAway {
            reason: GoAwayReason::ShuttingDown,
        },
    );
    if let Ok(message) = away.encode() {
        let _ = timeout(Duration::from_secs(1), queue.send(message)).await;
    }
}

/// The gateway, as this session sees it.
struct Peer<S> {
    session: Session,
    service: Arc<S>,
    queue: mpsc::Sender<Bytes>,
    assembler: Assembler,
    /// The counter of the newest request: an older or equal one is a replay.
    newest: Option<u64>,
    open: HashMap<FrameId, CancellationToken>,
    /// Each ends with the id it had in `open`, if it had one.
    requests: JoinSet<Option<FrameId>>,
    /// What was refused before it was whole; the rest of each is passed over.
    refused: HashSet<(Kind, FrameId)>,
    heard: Instant,
    beats: u64,
}

impl<S: Service> Peer<S> {
    fn new(session: Session, service: Arc<S>, queue: mpsc::Sender<Bytes>) -> Self {
        Self {
            session,
            service,
            queue,
            assembler: Assembler::new(S::BUDGET),
            newest: None,
            open: HashMap::new(),
            requests: JoinSet::new(),
            refused: HashSet::new(),
            heard: Instant::now(),
            beats: 0,
        }
    }

    fn take(&mut self, message: Option<Result<Bytes, LinkError>>) -> Result<(), End> {
        let message = message.unwrap_or(Err(LinkError::Closed)).map_err(End::Broken)?;
        let frame = Frame::decode(message).map_err(|error| End::Broken(error.into()))?;
        self.heard = Instant::now();
        match frame.header.kind {
            Kind::Request => self.request(frame),
            Kind::Cancel => self.cancel(frame.header.id),
            Kind::Ping => self.send_now(&Frame::new(Kind::Pong, frame.header.id, frame.body)),
            Kind::GoAway => {
                let reason = frame
                    .read::<GoAway>(Kind::GoAway)
                    .map_or(GoAwayReason::Unknown, |away| away.reason);
                Err(End::GoAway(reason))
            }
            Kind::Notify => {
                if let Some(Ok(notification)) = self.join(frame) {
                    self.service.hear(notification);
                }
                Ok(())
            }
            Kind::Response => self.response(frame),
            Kind::Pong | Kind::Unknown => Ok(()),
            Kind::Hello | Kind::Challenge | Kind::Proof | Kind::Ready => Err(out_of_place(frame.header.kind)),
        }
    }

    fn response(&mut self, frame: Frame) -> Result<(), End> {
        let id = frame.header.id.clone();
        let response = match self.join(frame) {
            None => return Ok(()),
            Some(Ok(response)) => response,
            Some(Err(())) => Frame::refusal(
                id,
                &Refusal::new(RefusalCode::TooLarge, "the answer is too large"),
            ),
        };
        match self.service.take_answer(response) {
            true => Ok(()),
            false => Err(out_of_place(Kind::Response)),
        }
    }

    /// The whole of what a frame is a piece of, once it is there; an error, once, for what is too long.
    fn join(&mut self, frame: Frame) -> Option<Result<Frame, ()>> {
        let (key, more) = ((frame.header.kind, frame.header.id.clone()), frame.header.more);
        if self.refused.contains(&key) {
            if !more {
                self.refused.remove(&key);
            }
            return None;
        }
        match self.assembler.push(frame) {
            Ok(whole) => whole.map(Ok),
            Err(_) => {
                if more && self.refused.len() < MAX_IN_FLIGHT {
                    self.refused.insert(key);
                }
                Some(Err(()))
            }
        }
    }

    /// A cancelled request is answered like any other, by its own task or, if it never became whole, here.
    fn cancel(&mut self, id: FrameId) -> Result<(), End> {
        if let Some(cancel) = self.open.get(&id) {
            cancel.cancel();
        } else if self.assembler.is_open(Kind::Request, &id) {
            self.assembler.forget(Kind::Request, &id);
            return self.refuse(id, RefusalCode::Cancelled, "cancelled");
        }
        Ok(())
    }

    fn request(&mut self, frame: Frame) -> Result<(), End> {
        let id = frame.header.id.clone();
        let is_known =
            self.refused.contains(&(Kind::Request, id.clone())) || self.assembler.is_open(Kind::Request, &id);
        if !is_known && !self.is_new(&id) {
            return self.refuse(id, RefusalCode::Replayed, "this request was seen before");
        }
        match self.join(frame) {
            None => Ok(()),
            Some(Ok(request)) => self.begin(request),
            Some(Err(())) => self.refuse(id, RefusalCode::TooLarge, "the request is too large"),
        }
    }

    fn is_new(&mut self, id: &FrameId) -> bool {
        match self.session.counter(id) {
            Some(counter) if self.newest.is_none_or(|newest| counter > newest) => {
                self.newest = Some(counter);
                true
            }
            _ => false,
        }
    }

    fn begin(&mut self, request: Frame) -> Result<(), End> {
        while let Some(done) = self.requests.try_join_next() {
            self.forget(done);
        }
        let id = request.header.id.clone();
        if self.open.len() >= MAX_IN_FLIGHT {
            return self.refuse(id, RefusalCode::Overloaded, "too many requests are under way");
        }
        let cancel = CancellationToken::new();
        self.open.insert(id.clone(), cancel.clone());
        let answering = Arc::clone(&self.service).answer(request, cancel);
        let queue = self.queue.clone();
        self.requests.spawn(async move {
            answer(id.clone(), answering.await, &queue).await;
            Some(id)
        });
        Ok(())
    }

    /// Refuses without letting the reader wait. A gateway that asks on without reading answers is left.
    fn refuse(&mut self, id: FrameId, code: RefusalCode, message: &str) -> Result<(), End> {
        if self.requests.len() >= 2 * MAX_IN_FLIGHT {
            return Err(End::Broken(LinkError::Transport(
                "the gateway does not read answers".to_owned(),
            )));
        }
        let queue = self.queue.clone();
        let refusal = Frame::refusal(id, &Refusal::new(code, message));
        self.requests.spawn(async move {
            send(refusal, &queue).await;
            None
        });
        Ok(())
    }

    fn forget(&mut self, done: Result<Option<FrameId>, JoinError>) {
        if let Ok(Some(id)) = done {
            self.open.remove(&id);
        }
    }

    fn beat(&mut self) -> Result<(), End> {
        if self.heard.elapsed() >= DEAD_AFTER {
            return Err(End::Silent);
        }
        self.beats += 1;
        let id = FrameId::parse(&format!("r{}", self.beats)).unwrap_or_else(FrameId::zero);
        self.send_now(&Frame::new(Kind::Ping, id, Bytes::new()))
    }

    /// Sends a frame that is not worth waiting for. A queue that stays full means a gateway that does not read; the
    /// heartbeat then finds it dead.
    fn send_now(&self, frame: &Frame) -> Result<(), End> {
        let message = frame.encode().map_err(|error| End::Broken(error.into()))?;
        match self.queue.try_send(message) {
            Ok(()) | Err(mpsc::error::TrySendError::Full(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(End::Broken(LinkError::Closed)),
        }
    }
}

fn out_of_place(kind: Kind) -> End {
    End::Broken(LinkError::Transport(format!(
        "the gateway sent a {kind:?} out of place"
    )))
}

/// Answers one request, exactly once, cancelled or not.
async fn answer(id: FrameId, outcome: Outcome, queue: &mpsc::Sender<Bytes>) {
    let response = outcome.into_frame(id.clone());
    if response.body.len() <= MAX_BODY {
        send(response, queue).await;
        return;
    }
    let refusal = Refusal::new(RefusalCode::TooLarge, "the result is over the limit of 8 MiB");
    send(Frame::refusal(id, &refusal), queue).await;
}

#[cfg(test)]
mod tests;
