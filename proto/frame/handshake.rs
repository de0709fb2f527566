//! The four messages by which relay and gateway come to trust each other, and the bytes they sign.
//!
//! hello (relay) → challenge (gateway, signed) → proof (relay, signed, with the one-time secret when it enrols) →
//! ready or goaway (gateway). The relay sends nothing secret before the challenge has been verified against the key
//! that its enrolment token or its pin names.

use serde::{Deserialize, Serialize};

use super::octets::{Nonce, PublicKey, Secret, Signature};

/// Label of the TLS exporter that binds a handshake to its TLS connection (RFC 5705, RFC 9266 in spirit).
pub const CHANNEL_LABEL: &[u8] = b"EXPORTER-toolgate-uplink";

/// The TLS exporter of a connection that ends in the gateway's own process. Travels beside the frames as a typed
/// extension, never in a header or message that a peer could write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelBinding(pub [u8; 32]);

/// What a relay has to offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// The six commands on its host.
    Host,
    /// An MCP server beside it.
    Project,
}

/// The relay's first message: a claim, nothing proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The tenant it belongs to.
    pub tenant: String,
    /// Its id; absent when it enrols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
    /// The public half of the key that was made on its host.
    pub public_key: PublicKey,
    /// Its nonce.
    pub nonce: Nonce,
    /// What it offers.
    pub offer: Offer,
    /// What it calls itself; for people, decides nothing.
    pub name: String,
    /// Name and version of its software.
    pub software: String,
}

/// The gateway's answer: its proof, and its nonce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// The gateway's identity.
    pub gateway_key: PublicKey,
    /// Its nonce.
    pub nonce: Nonce,
    /// True when the signatures cover the TLS exporter.
    pub channel_bound: bool,
    /// Over [`Transcript::gateway_bytes`].
    pub signature: Signature,
}

/// The relay's proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Over [`Transcript::relay_bytes`].
    pub signature: Signature,
    /// The secret of the enrolment token, when it enrols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enrolment: Option<Secret>,
}

/// The gateway's welcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The relay's id, to be kept.
    pub relay: String,
}

/// Why a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoAwayReason {
    /// A newer connection of the same relay took over.
    Superseded,
    /// The relay was removed by an admin.
    Revoked,
    /// The gateway does not know this relay; it needs a new enrolment token.
    ReEnrol,
    /// The enrolment token is unknown, used or expired.
    TokenRefused,
    /// The signature does not hold.
    ProofRefused,
    /// Two holders of one key took turns; locked until an admin looks.
    CloneSuspected,
    /// The relay is started under another name than that of the project it is, or is to become, the relay of.
    OtherName,
    /// The peer stops.
    ShuttingDown,
    /// Too much is under way; try again.
    Overloaded,
    /// The gateway cannot reach its own store; try again.
    Unavailable,
    /// A message was late.
    TimedOut,
    /// A message was wrong.
    Protocol,
    /// A reason from a newer peer.
    #[serde(other)]
    Unknown,
}

/// The last message of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoAway {
    /// Why.
    pub reason: GoAwayReason,
}

/// Everything the two signatures cover.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// The tenant of the hello.
    pub tenant: &'a str,
    /// The relay id of the hello; empty when it enrols.
    pub relay: &'a str,
    /// The relay's key.
    pub relay_key: &'a PublicKey,
    /// The gateway's key.
    pub gateway_key: &'a PublicKey,
    /// The relay's nonce.
    pub relay_nonce: &'a Nonce,
    /// The gateway's nonce.
    pub gateway_nonce: &'a Nonce,
    /// The TLS exporter, where both ends have the same TLS connection.
    pub channel: Option<&'a ChannelBinding>,
}

impl Transcript<'_> {
    /// What the gateway signs.
    #[must_use]
    pub fn gateway_bytes(&self) -> Vec<u8> {
        self.bytes(b"toolgate/uplink/v1/gateway")
    }

    /// What the relay signs.
    #[must_use]
    pub fn relay_bytes(&self) -> Vec<u8> {
        self.bytes(b"toolgate/uplink/v1/relay")
    }

    /// Each part behind its length, so that no two transcripts have the same bytes.
    fn bytes(&self, context: &[u8]) -> Vec<u8> {
        let channel = self.channel.map_or(&[][..], |channel| &channel.0);
        let parts: [&[u8]; 8] = [
            context,
            self.tenant.as_bytes(),
            self.relay.as_bytes(),
            self.relay_key.as_ref(),
            self.gateway_key.as_ref(),
            self.relay_nonce.as_ref(),
            self.gateway_nonce.as_ref(),
            channel,
        ];
        let mut bytes = Vec::with_capacity(320);
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}
