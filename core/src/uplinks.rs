//! The gateway's end of every uplink: who is connected, and requests carried over.
//!
//! Relays dial in; nothing here dials out. May use `keys` for the gateway's signature and the contract for frames; the
//! store is reached only through [`Enrolments`]. Absent: tools, policy, audit (the broker has journalled before it
//! comes here), and any state that survives a restart.
//!
//! One connection: `gate` lets it in, `handshake` proves both ends, `presence` makes it the target's one connection,
//! `connection` carries requests until it ends. A call that waits on a connection that ends hears so at once.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use futures::stream::BoxStream;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use toolgate_contract::{
    frame::{ChannelBinding, Frame, GoAway, GoAwayReason, Kind, Offer, PublicKey, Ready, RefusalCode},
    ids::{TargetId, TenantId},
};

use crate::{
    keys::Keyring,
    upstream::{Reports, Upstream},
};

mod connection;
mod enrolments;
mod gate;
mod handshake;
mod host;
mod presence;
mod presented;
mod project;
mod server;
mod service;

pub use connection::{Conversation, FromServer, QUEUE};
pub use enrolments::{
    Enrolments, RedeemError, RelayRecord, Said, Standing, StoreUnavailable, UplinkEvents, secret_hash,
};
pub use host::HostUpstream;
pub use presence::Presence;
pub use project::ProjectUpstream;
pub use server::{ServerPhase, ServerState};
pub use service::AttachService;

use connection::{Answer, Connection, Request};
use gate::Gate;
use handshake::{Handshake, Verified};
use presence::{Board, Entry};
use presented::Presented;

/// Frames of one relay, in order. An error ends the connection like an end.
pub type Incoming = BoxStream<'static, Result<Bytes, TransportError>>;

/// The transport below an uplink failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transport failed")]
pub struct TransportError;

/// Why a request over an uplink has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UplinkError {
    /// No connection.
    #[error("the relay is not connected")]
    Offline,
    /// The connection ended before the answer.
    #[error("the relay was lost during the call")]
    Lost,
    /// No answer in time.
    #[error("the relay did not answer in time")]
    Deadline,
    /// As many requests are under way as may be.
    #[error("too many requests are under way at the relay")]
    Overloaded,
    /// Request or answer is over the limit.
    #[error("the body is too large for an uplink")]
    TooLarge,
    /// The relay refused.
    #[error("the relay refused: {0:?}")]
    Refused(RefusalCode),
    /// An answer to what is not asked, or not any more.
    #[error("nothing of this id is asked")]
    NotAsked,
}

/// Every uplink of this process. Cheap to clone.
#[derive(Clone)]
pub struct Uplinks(Arc<Shared>);

/// The same for someone whom they hold in turn: it does not keep them alive.
#[derive(Clone)]
pub struct WeakUplinks(Weak<Shared>);

impl WeakUplinks {
    /// The uplinks, while their core runs.
    #[must_use]
    pub fn get(&self) -> Option<Uplinks> {
        self.0.upgrade().map(Uplinks)
    }
}

struct Shared {
    keys: Arc<Keyring>,
    enrolments: Arc<dyn Enrolments>,
    events: Arc<dyn UplinkEvents>,
    gate: Gate,
    board: Board,
    presented: Presented,
    stop: CancellationToken,
    tracker: TaskTracker,
}

impl Uplinks {
    /// No uplinks yet; relays are looked up through `enrolments`, and what happens is told to `events`.
    #[must_use]
    pub fn new(keys: Arc<Keyring>, enrolments: Arc<dyn Enrolments>, events: Arc<dyn UplinkEvents>) -> Self {
        Self(Arc::new(Shared {
            keys,
            enrolments,
            events,
            gate: Gate::new(),
            board: Board::default(),
            presented: Presented::default(),
            stop: CancellationToken::new(),
            tracker: TaskTracker::new(),
        }))
    }

    /// A handle that does not keep them alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakUplinks {
        WeakUplinks(Arc::downgrade(&self.0))
    }

    /// Uplinks that no relay may come in by: for a core without a store of relays.
    #[must_use]
    pub fn closed(keys: Arc<Keyring>) -> Self {
        Self::new(keys, Arc::new(enrolments::Nobody), Arc::new(enrolments::Nobody))
    }

    /// Serves one connection to its end. The caller owns the task; `outgoing` should hold [`QUEUE`] frames.
    ///
    /// `channel` is the TLS exporter where TLS ends in this very process, and must come from there, never from the peer.
    pub async fn attach(
        &self,
        mut incoming: Incoming,
        outgoing: mpsc::Sender<Bytes>,
        channel: Option<ChannelBinding>,
    ) {
        let admitted = tokio::select! {
            admitted = self.0.admit(&mut incoming, &outgoing, channel) => admitted,
            // Strangers are not waited for.
            () = self.0.stop.cancelled() => Err(GoAwayReason::ShuttingDown),
        };
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(reason) => return say_goodbye(&outgoing, reason).await,
        };
        let reason = admitted.run(incoming, &self.0.stop, &*self.0.events).await;
        self.0.board.leave(&admitted);
        let silent_for = admitted.presence().silent_for;
        let tenant = &admitted.relay().tenant;
        self.0.presented.left(tenant, admitted.target(), silent_for);
        tracing::info!(target = %admitted.target(), ?reason, "relay left");
        self.0.events.disconnected(admitted.relay());
        if let Some(reason) = reason {
            say_goodbye(&outgoing, reason).await;
        }
    }

    /// The upstream of a host whose relay is connected now. Whose host it is, is checked at each call.
    #[must_use]
    pub fn host(&self, target: TargetId) -> Option<Arc<dyn Upstream>> {
        self.0
            .board
            .is_present(target, Offer::Host)
            .then(|| Arc::new(HostUpstream::new(self.clone(), target)) as _)
    }

    /// The upstream of a project whose relay is connected now; `name` stands in errors. Whose project it is, is checked
    /// at each call.
    #[must_use]
    pub fn project(&self, target: TargetId, name: Arc<str>) -> Option<Arc<dyn Upstream>> {
        self.0
            .board
            .is_present(target, Offer::Project)
            .then(|| Arc::new(ProjectUpstream::new(self.clone(), target, name)) as _)
    }

    /// Begins a conversation with the server of a project. Its first request must be `initialize`, under its id.
    ///
    /// # Errors
    /// When the project's relay is not connected, or too many conversations are led over its connection.
    pub fn conversation(&self, tenant: &TenantId, target: TargetId) -> Result<Conversation, UplinkError> {
        let connection = self.0.board.find(tenant, target).ok_or(UplinkError::Offline)?;
        Conversation::begin(connection, self.0.tracker.clone())
    }

    /// Whether the relay of a target is connected now.
    #[must_use]
    pub fn is_connected(&self, target: TargetId) -> bool {
        [Offer::Host, Offer::Project]
            .into_iter()
            .any(|offer| self.0.board.is_present(target, offer))
    }

    /// The key that a target's relay has proven, and how long ago: that of the live connection, else the one that was
    /// presented last. It need not be the pinned one, and who presented it may be anybody.
    #[must_use]
    pub fn live_key(&self, tenant: &TenantId, target: TargetId) -> Option<(PublicKey, Duration)> {
        match self.0.board.find(tenant, target) {
            Some(connection) => Some((connection.relay().public_key, connection.age())),
            None => self.0.presented.of(tenant, target),
        }
    }

    /// The last key that was proven for a target and kept out, because it is not the pinned one, and how long ago.
    #[must_use]
    pub fn kept_out(&self, tenant: &TenantId, target: TargetId) -> Option<(PublicKey, Duration)> {
        self.0.presented.kept_out(tenant, target)
    }

    /// How long ago the relay of a target was last heard, connected or not.
    #[must_use]
    pub fn last_heard(&self, tenant: &TenantId, target: TargetId) -> Option<Duration> {
        match self.presence(tenant, target) {
            Some(presence) => Some(presence.silent_for),
            None => self.0.presented.heard(tenant, target),
        }
    }

    /// Carries one request to the relay of a target and waits for the answer; to a project, in the conversation that all
    /// callers share. Dropping the future cancels it there.
    ///
    /// # Errors
    /// See [`UplinkError`]; the relay of another tenant's target is as offline as one that does not exist.
    pub async fn request(
        &self,
        tenant: &TenantId,
        target: TargetId,
        method: &str,
        params: Bytes,
        deadline: Duration,
    ) -> Result<Bytes, UplinkError> {
        let request = Request {
            method,
            params,
            until: Instant::now().checked_add(deadline),
            conversation: None,
            reports: Reports::none(),
        };
        match self.carry(tenant, target, request).await? {
            Answer::Result(result) => Ok(result),
            Answer::Error(_) => Err(UplinkError::Refused(RefusalCode::AnsweredWithError)),
        }
    }

    async fn carry(
        &self,
        tenant: &TenantId,
        target: TargetId,
        request: Request<'_>,
    ) -> Result<Answer, UplinkError> {
        let connection = self.0.board.find(tenant, target).ok_or(UplinkError::Offline)?;
        connection.request(request, &self.0.tracker).await
    }

    /// Ends the connection of a target that was removed or whose relay was revoked. Call it after the change is
    /// durable: whoever is in the middle of a handshake then sees the change.
    pub fn disconnect(&self, target: TargetId) {
        self.0.board.disconnect(target);
        self.0.presented.forget(target);
    }

    /// Forgets that a target's relay's key seemed to be in use twice: for a target whose key is forgotten as well.
    pub fn unlock(&self, target: TargetId) {
        self.0.board.unlock(target);
    }

    /// Whether the relay of a target is connected, and how it does.
    #[must_use]
    pub fn presence(&self, tenant: &TenantId, target: TargetId) -> Option<Presence> {
        self.0
            .board
            .find(tenant, target)
            .map(|connection| connection.presence())
    }

    /// Ends every connection, and waits a moment for the tasks of this room.
    pub async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tracker.close();
        let _ = timeout(Duration::from_secs(2), self.0.tracker.wait()).await;
    }
}

impl Shared {
    async fn admit(
        &self,
        incoming: &mut Incoming,
        outgoing: &mpsc::Sender<Bytes>,
        channel: Option<ChannelBinding>,
    ) -> Result<Arc<Connection>, GoAwayReason> {
        let _inside = self.gate.enter().await.ok_or(GoAwayReason::Overloaded)?;
        let epoch = self.board.epoch();
        let handshake = Handshake {
            keys: &self.keys,
            enrolments: &*self.enrolments,
            events: &*self.events,
            presented: &self.presented,
            channel,
        };
        let verified = handshake.run(incoming, outgoing).await?;
        if verified.is_new {
            self.board.renew(verified.relay.target);
        }
        self.enter(verified, &handshake, epoch, outgoing).await
    }

    /// Puts a proven relay on the board, and tells it so before anything is asked of it.
    async fn enter(
        &self,
        verified: Verified,
        handshake: &Handshake<'_>,
        mut epoch: u64,
        outgoing: &mpsc::Sender<Bytes>,
    ) -> Result<Arc<Connection>, GoAwayReason> {
        let ready = Ready {
            relay: verified.relay.target.to_string(),
        };
        let ready = Frame::message(Kind::Ready, &ready)
            .encode()
            .map_err(|_| GoAwayReason::Protocol)?;
        let connection = Connection::new(verified.relay, verified.session, outgoing.clone());
        loop {
            let room = outgoing.reserve().await.map_err(|_| GoAwayReason::Protocol)?;
            match self.board.enter(&connection, epoch, || room.send(ready.clone())) {
                Entry::Present => break,
                // Somebody was disconnected while the record was read: it may have been this one.
                Entry::Stale => {
                    epoch = self.board.epoch();
                    handshake.still_active(connection.relay()).await?;
                }
                Entry::Locked { alarm } => {
                    self.locked(&connection, alarm);
                    return Err(GoAwayReason::CloneSuspected);
                }
            }
        }
        self.events.connected(connection.relay());
        tracing::info!(target = %connection.target(), "relay connected");
        Ok(connection)
    }

    fn locked(&self, connection: &Connection, alarm: bool) {
        if alarm {
            tracing::error!(target = %connection.target(), "one relay key is in use twice; the target is locked");
            self.events.clone_suspected(connection.relay());
        }
    }
}

/// Tells the peer why, if it still listens.
async fn say_goodbye(outgoing: &mpsc::Sender<Bytes>, reason: GoAwayReason) {
    if let Ok(message) = Frame::message(Kind::GoAway, &GoAway { reason }).encode() {
        let _ = timeout(Duration::from_secs(1), outgoing.send(message)).await;
    }
}

impl fmt::Debug for WeakUplinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakUplinks")
    }
}

impl fmt::Debug for Uplinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uplinks")
            .field("board", &self.0.board)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
