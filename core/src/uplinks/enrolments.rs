//! What this room asks of others: relays by id, redemption of tokens, and somebody to tell.

use bytes::Bytes;
use futures::future::BoxFuture;
use ring::digest::{SHA256, digest};
use toolgate_contract::{
    frame::{GoAwayReason, Offer, PublicKey, Secret},
    ids::{TargetId, TenantId},
};

use super::server::ServerState;

/// A relay as the store knows it. Its id is that of its target: one target has one relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayRecord {
    /// The tenant it belongs to.
    pub tenant: TenantId,
    /// The target it serves.
    pub target: TargetId,
    /// The key it has enrolled with.
    pub public_key: PublicKey,
    /// What it was enrolled to offer.
    pub offer: Offer,
    /// Whether it may connect.
    pub standing: Standing,
}

/// Whether a relay may connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Active,
    /// An admin has removed it.
    Revoked,
    /// Its key was in use twice.
    Locked,
}

/// The store cannot answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the store of relays cannot be reached")]
pub struct StoreUnavailable;

/// Why a token was not redeemed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedeemError {
    /// Unknown, used or expired; which of them is nobody's business.
    #[error("the enrolment token is unknown, used or expired")]
    Refused,
    /// The store cannot answer now. The token is as it was.
    #[error(transparent)]
    Unavailable(#[from] StoreUnavailable),
}

/// Where relays are kept.
pub trait Enrolments: Send + Sync + 'static {
    /// The relay of a target, removed ones included as long as they are remembered.
    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        relay: TargetId,
    ) -> BoxFuture<'a, Result<Option<RelayRecord>, StoreUnavailable>>;

    /// Redeems a token by its [`secret_hash`]: in one statement that only one caller can win, not past its expiry, with
    /// its audit row in the same transaction. The relay is then known by `public_key`; an earlier key of the same
    /// target counts no more.
    fn redeem<'a>(
        &'a self,
        tenant: &'a TenantId,
        secret_hash: [u8; 32],
        public_key: PublicKey,
        offer: Offer,
    ) -> BoxFuture<'a, Result<RelayRecord, RedeemError>>;

    /// The name under which a relay of this target has to be started; `None` where any will do.
    fn name_of<'a>(
        &'a self,
        tenant: &'a TenantId,
        relay: TargetId,
    ) -> BoxFuture<'a, Result<Option<String>, StoreUnavailable>> {
        let _ = (tenant, relay);
        Box::pin(async { Ok(None) })
    }

    /// The same of the target that a token is for, which is not spent by this.
    fn name_of_token<'a>(
        &'a self,
        tenant: &'a TenantId,
        secret_hash: [u8; 32],
    ) -> BoxFuture<'a, Result<Option<String>, StoreUnavailable>> {
        let _ = (tenant, secret_hash);
        Box::pin(async { Ok(None) })
    }
}

/// What the relay of a project tells all callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said<'a> {
    /// A notification of its server.
    Notification {
        /// The method.
        method: &'a str,
        /// The parameters, byte for byte: one JSON object, or nothing.
        params: Bytes,
    },
    /// How its server does; told on connect and at every change.
    Server(ServerState),
}

/// Who is told. Called on the path of a connection: implementations hand on and return at once.
pub trait UplinkEvents: Send + Sync + 'static {
    /// A relay is connected and proven.
    fn connected(&self, relay: &RelayRecord) {
        let _ = relay;
    }

    /// Its connection has ended.
    fn disconnected(&self, relay: &RelayRecord) {
        let _ = relay;
    }

    /// A connection was refused in the handshake; `tenant` is only what it claimed.
    fn refused(&self, tenant: &TenantId, reason: GoAwayReason) {
        let _ = (tenant, reason);
    }

    /// Two holders of one key took turns; the target is locked.
    fn clone_suspected(&self, relay: &RelayRecord) {
        let _ = relay;
    }

    /// Whoever dialled as the relay of a known target has proven another key than the pinned one. It was refused, and
    /// may try as often as it likes.
    fn presented(&self, tenant: &TenantId, target: TargetId, key: PublicKey) {
        let _ = (tenant, target, key);
    }

    /// The relay of a project told something in the conversation that all callers share; progress is not among it. A
    /// relay may tell as much as its connection carries.
    fn said(&self, relay: &RelayRecord, said: Said<'_>) {
        let _ = (relay, said);
    }
}

/// What is stored of an enrolment token's secret.
#[must_use]
pub fn secret_hash(secret: &Secret) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, secret.expose()).as_ref());
    hash
}

/// Knows no relay, and tells nobody.
#[derive(Debug)]
pub(super) struct Nobody;

impl UplinkEvents for Nobody {}

impl Enrolments for Nobody {
    fn find<'a>(
        &'a self,
        _: &'a TenantId,
        _: TargetId,
    ) -> BoxFuture<'a, Result<Option<RelayRecord>, StoreUnavailable>> {
        Box::pin(async { Ok(None) })
    }

    fn redeem<'a>(
        &'a self,
        _: &'a TenantId,
        _: [u8; 32],
        _: PublicKey,
        _: Offer,
    ) -> BoxFuture<'a, Result<RelayRecord, RedeemError>> {
        Box::pin(async { Err(RedeemError::Refused) })
    }
}
