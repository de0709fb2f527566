//! The gateway's Ed25519 identity: relays pin it at enrolment and ask for its signature at every connect.

use std::fmt;

use ring::signature::{Ed25519KeyPair, KeyPair};

/// The gateway's key pair.
pub struct GatewayIdentity(Ed25519KeyPair);

impl GatewayIdentity {
    pub(super) fn from_pkcs8(document: &[u8]) -> Option<Self> {
        Ed25519KeyPair::from_pkcs8(document).ok().map(Self)
    }

    /// Signs `message`; the caller brings the context string that separates its use from every other.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.0.sign(message).as_ref());
        bytes
    }

    /// What relays pin.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.public_key().as_ref());
        bytes
    }
}

impl fmt::Debug for GatewayIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GatewayIdentity(***)")
    }
}
