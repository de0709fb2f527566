//! The gateway's half of the handshake.
//!
//! Until the proof holds, the peer is nobody: small messages, ten seconds, no look into the store. Its id counts only
//! once the key that it was enrolled with has signed this connection's nonces.

use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt;
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ED25519, UnparsedPublicKey},
};
use serde::de::DeserializeOwned;
use tokio::{sync::mpsc, time::timeout};
use toolgate_contract::{
    frame::{
        Challenge, ChannelBinding, Frame, GoAwayReason, Hello, Kind, MAX_HANDSHAKE_MESSAGE, Nonce, Octets,
        Proof, PublicKey, Session, Transcript,
    },
    ids::{TargetId, TenantId},
};

use super::{
    Incoming,
    enrolments::{
        Enrolments, RedeemError, RelayRecord, Standing, StoreUnavailable, UplinkEvents, secret_hash,
    },
    presented::Presented,
};
use crate::keys::Keyring;

const PATIENCE: Duration = Duration::from_secs(10);

/// What one handshake needs.
pub(super) struct Handshake<'a> {
    pub(super) keys: &'a Keyring,
    pub(super) enrolments: &'a dyn Enrolments,
    pub(super) events: &'a dyn UplinkEvents,
    pub(super) presented: &'a Presented,
    pub(super) channel: Option<ChannelBinding>,
}

/// A relay that has proven who it is.
#[derive(Debug)]
pub(super) struct Verified {
    pub(super) relay: RelayRecord,
    pub(super) session: Session,
    /// It has just enrolled, so every other key of its target is dead.
    pub(super) is_new: bool,
}

impl Handshake<'_> {
    /// Proves both ends to each other, or tells why not.
    pub(super) async fn run(
        &self,
        incoming: &mut Incoming,
        outgoing: &mpsc::Sender<Bytes>,
    ) -> Result<Verified, GoAwayReason> {
        timeout(PATIENCE, self.exchange(incoming, outgoing))
            .await
            .unwrap_or(Err(GoAwayReason::TimedOut))
    }

    async fn exchange(
        &self,
        incoming: &mut Incoming,
        outgoing: &mpsc::Sender<Bytes>,
    ) -> Result<Verified, GoAwayReason> {
        let hello: Hello = read(incoming, Kind::Hello).await?;
        let tenant: TenantId = hello.tenant.parse().map_err(|_| GoAwayReason::Protocol)?;
        let challenge = self.challenge(&hello)?;
        send(outgoing, Kind::Challenge, &challenge).await?;
        let proof: Proof = read(incoming, Kind::Proof).await?;
        let relay = self
            .check(&tenant, &hello, &challenge, &proof)
            .await
            .inspect_err(|&reason| {
                tracing::warn!(%tenant, ?reason, "a relay was refused");
                self.events.refused(&tenant, reason);
            })?;
        Ok(Verified {
            relay,
            session: Session::new(&hello.nonce),
            is_new: hello.relay.is_none(),
        })
    }

    fn challenge(&self, hello: &Hello) -> Result<Challenge, GoAwayReason> {
        let identity = self.keys.gateway_identity();
        let mut challenge = Challenge {
            gateway_key: Octets(identity.public_key()),
            nonce: nonce()?,
            channel_bound: self.channel.is_some(),
            signature: Octets([0; 64]),
        };
        challenge.signature = Octets(identity.sign(&self.transcript(hello, &challenge).gateway_bytes()));
        Ok(challenge)
    }

    fn transcript<'t>(&'t self, hello: &'t Hello, challenge: &'t Challenge) -> Transcript<'t> {
        Transcript {
            tenant: &hello.tenant,
            relay: hello.relay.as_deref().unwrap_or_default(),
            relay_key: &hello.public_key,
            gateway_key: &challenge.gateway_key,
            relay_nonce: &hello.nonce,
            gateway_nonce: &challenge.nonce,
            channel: self.channel.as_ref(),
        }
    }

    async fn check(
        &self,
        tenant: &TenantId,
        hello: &Hello,
        challenge: &Challenge,
        proof: &Proof,
    ) -> Result<RelayRecord, GoAwayReason> {
        UnparsedPublicKey::new(&ED25519, &hello.public_key)
            .verify(
                &self.transcript(hello, challenge).relay_bytes(),
                proof.signature.as_ref(),
            )
            .map_err(|_| GoAwayReason::ProofRefused)?;
        match &hello.relay {
            Some(relay) => self.known(tenant, relay, hello).await,
            None => self.enrol(tenant, hello, proof).await,
        }
    }

    async fn known(
        &self,
        tenant: &TenantId,
        relay: &str,
        hello: &Hello,
    ) -> Result<RelayRecord, GoAwayReason> {
        let target: TargetId = relay.parse().map_err(|_| GoAwayReason::Protocol)?;
        let found = self.enrolments.find(tenant, target).await.map_err(unavailable)?;
        let record = found.filter(|record| record.offer == hello.offer);
        if let Some(record) = &record {
            self.note(record, hello.public_key);
        }
        // An id with another key is the same to the peer as an id that does not exist.
        let record = record.filter(|record| record.public_key == hello.public_key);
        let record = active(record.ok_or(GoAwayReason::ReEnrol)?)?;
        let name = self.enrolments.name_of(tenant, target).await;
        is_called(name.map_err(unavailable)?, hello)?;
        Ok(record)
    }

    fn note(&self, pinned: &RelayRecord, key: PublicKey) {
        let kept_out = pinned.public_key != key;
        self.presented.note(&pinned.tenant, pinned.target, key, kept_out);
        if kept_out {
            self.events.presented(&pinned.tenant, pinned.target, key);
        }
    }

    async fn enrol(
        &self,
        tenant: &TenantId,
        hello: &Hello,
        proof: &Proof,
    ) -> Result<RelayRecord, GoAwayReason> {
        let secret = proof.enrolment.as_ref().ok_or(GoAwayReason::Protocol)?;
        let name = self.enrolments.name_of_token(tenant, secret_hash(secret)).await;
        is_called(name.map_err(unavailable)?, hello)?;
        let redeemed = self
            .enrolments
            .redeem(tenant, secret_hash(secret), hello.public_key, hello.offer)
            .await;
        match redeemed {
            Ok(record) => {
                self.note(&record, hello.public_key);
                active(record)
            }
            Err(RedeemError::Refused) => Err(GoAwayReason::TokenRefused),
            Err(RedeemError::Unavailable(error)) => Err(unavailable(error)),
        }
    }

    /// Looks once more whether a relay that has proven itself may still connect.
    pub(super) async fn still_active(&self, relay: &RelayRecord) -> Result<(), GoAwayReason> {
        let found = self
            .enrolments
            .find(&relay.tenant, relay.target)
            .await
            .map_err(unavailable)?;
        let same = found.filter(|record| record.public_key == relay.public_key);
        active(same.ok_or(GoAwayReason::ReEnrol)?).map(drop)
    }
}

/// Whoever starts a relay says of which project; one that was started for another would answer in its place.
fn is_called(name: Option<String>, hello: &Hello) -> Result<(), GoAwayReason> {
    match name {
        Some(name) if !hello.name.is_empty() && hello.name != name => Err(GoAwayReason::OtherName),
        _ => Ok(()),
    }
}

fn active(record: RelayRecord) -> Result<RelayRecord, GoAwayReason> {
    match record.standing {
        Standing::Active => Ok(record),
        Standing::Revoked => Err(GoAwayReason::Revoked),
        Standing::Locked => Err(GoAwayReason::CloneSuspected),
    }
}

fn unavailable(_: StoreUnavailable) -> GoAwayReason {
    GoAwayReason::Unavailable
}

fn nonce() -> Result<Nonce, GoAwayReason> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| GoAwayReason::Unavailable)?;
    Ok(Octets(bytes))
}

async fn read<T: DeserializeOwned>(incoming: &mut Incoming, kind: Kind) -> Result<T, GoAwayReason> {
    let message = incoming
        .next()
        .await
        .and_then(Result::ok)
        .ok_or(GoAwayReason::Protocol)?;
    if message.len() > MAX_HANDSHAKE_MESSAGE {
        return Err(GoAwayReason::Protocol);
    }
    let frame = Frame::decode(message).map_err(|_| GoAwayReason::Protocol)?;
    frame.read(kind).map_err(|_| GoAwayReason::Protocol)
}

async fn send<T: serde::Serialize + Sync>(
    outgoing: &mpsc::Sender<Bytes>,
    kind: Kind,
    message: &T,
) -> Result<(), GoAwayReason> {
    let message = Frame::message(kind, message)
        .encode()
        .map_err(|_| GoAwayReason::Protocol)?;
    outgoing.send(message).await.map_err(|_| GoAwayReason::Protocol)
}
