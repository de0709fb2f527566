//! The relay's half of the handshake.
//!
//! The order is the point: hello says nothing secret; the gateway's signature is checked against the pinned key over
//! this connection's nonces and TLS exporter; only then the proof leaves, with the one-time secret if there is one.

use std::time::Duration;

use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::{ED25519, UnparsedPublicKey},
};
use tokio::time::timeout;
use toolgate_contract::frame::{
    Challenge, Frame, FrameError, GoAway, GoAwayReason, Hello, Kind, MAX_HANDSHAKE_MESSAGE, Nonce, Octets,
    Offer, Proof, PublicKey, Ready, Secret, Session, Transcript,
};

use crate::{
    identity::Key,
    link::{Link, LinkError},
};

const PATIENCE: Duration = Duration::from_secs(10);

/// What the relay claims and what it can prove.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) tenant: &'a str,
    /// Absent when it enrols.
    pub(crate) relay: Option<&'a str>,
    pub(crate) key: &'a Key,
    pub(crate) pins: &'a [PublicKey],
    pub(crate) enrolment: Option<&'a Secret>,
    pub(crate) offer: Offer,
    pub(crate) name: &'a str,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("the gateway was silent during the handshake")]
    Silent,
    #[error("the gateway refused: {0:?}")]
    Refused(GoAwayReason),
    #[error("the gateway is not the pinned one; if its identity was changed on purpose, enrol anew")]
    WrongGateway,
    #[error("the connection does not end at the gateway: something in between holds it open")]
    Intercepted,
    #[error("this host has no randomness")]
    NoRandomness,
}

/// Proves both ends to each other.
pub(crate) async fn shake(link: &mut Link, claim: &Claim<'_>) -> Result<(Session, Ready), HandshakeError> {
    timeout(PATIENCE, exchange(link, claim))
        .await
        .map_err(|_| HandshakeError::Silent)?
}

async fn exchange(link: &mut Link, claim: &Claim<'_>) -> Result<(Session, Ready), HandshakeError> {
    let hello = Hello {
        tenant: claim.tenant.to_owned(),
        relay: claim.relay.map(str::to_owned),
        public_key: claim.key.public(),
        nonce: nonce()?,
        offer: claim.offer,
        name: claim.name.chars().take(100).collect(),
        software: concat!("toolgate-relay/", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    link.send(&Frame::message(Kind::Hello, &hello)).await?;
    let challenge: Challenge = read(link.receive().await?, Kind::Challenge)?;
    let proof = prove(&hello, &challenge, link, claim)?;
    link.send(&Frame::message(Kind::Proof, &proof)).await?;
    let ready: Ready = read(link.receive().await?, Kind::Ready)?;
    Ok((Session::new(&hello.nonce), ready))
}

/// Checks the gateway, then signs. The only maker of a [`Proof`].
fn prove(
    hello: &Hello,
    challenge: &Challenge,
    link: &Link,
    claim: &Claim<'_>,
) -> Result<Proof, HandshakeError> {
    if !claim.pins.contains(&challenge.gateway_key) {
        return Err(HandshakeError::WrongGateway);
    }
    let channel = match (challenge.channel_bound, &link.channel) {
        (true, Some(channel)) => Some(channel),
        (true, None) => return Err(HandshakeError::Intercepted),
        // TLS ends before the gateway, by its own word under its own signature.
        (false, _) => None,
    };
    let transcript = Transcript {
        tenant: &hello.tenant,
        relay: hello.relay.as_deref().unwrap_or_default(),
        relay_key: &hello.public_key,
        gateway_key: &challenge.gateway_key,
        relay_nonce: &hello.nonce,
        gateway_nonce: &challenge.nonce,
        channel,
    };
    UnparsedPublicKey::new(&ED25519, &challenge.gateway_key)
        .verify(&transcript.gateway_bytes(), challenge.signature.as_ref())
        .map_err(|_| {
            if channel.is_some() {
                HandshakeError::Intercepted
            } else {
                HandshakeError::WrongGateway
            }
        })?;
    Ok(Proof {
        signature: Octets(claim.key.sign(&transcript.relay_bytes())),
        enrolment: claim.enrolment.cloned(),
    })
}

fn read<T: serde::de::DeserializeOwned>(frame: Frame, kind: Kind) -> Result<T, HandshakeError> {
    if frame.body.len() > MAX_HANDSHAKE_MESSAGE {
        return Err(LinkError::from(FrameError::BodyTooLarge).into());
    }
    if frame.header.kind == Kind::GoAway {
        let away: GoAway = frame.read(Kind::GoAway).map_err(LinkError::from)?;
        return Err(HandshakeError::Refused(away.reason));
    }
    Ok(frame.read(kind).map_err(LinkError::from)?)
}

fn nonce() -> Result<Nonce, HandshakeError> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| HandshakeError::NoRandomness)?;
    Ok(Octets(bytes))
}

#[cfg(test)]
mod tests;
