//! The keys that sign checkpoints, and what an auditor needs to know of them.
//!
//! The private halves lie in `keys/checkpoint-<id>.ed25519`, which only the gateway's user can read; the newest signs.
//! The public halves stand in `checkpoints/keys.ndjson`, each later one signed by the one before it, so whoever knows
//! the first knows them all. The first one is the trust root: it signs itself, and its id names the record (`origin`).

mod folder;
mod public;

use std::{fmt, sync::Arc};

use ring::signature::{Ed25519KeyPair, KeyPair};

pub(super) use self::folder::{FOLDER, LIST};
pub use self::{
    folder::{SigningKeys, SigningKeysError},
    public::{PublicKey, PublicKeys, PublicKeysError, TrustRoot},
};

/// A key that signs checkpoints and roots.
pub struct CheckpointKey {
    id: Arc<str>,
    origin: Arc<str>,
    pair: Ed25519KeyPair,
}

impl CheckpointKey {
    /// A key from its PKCS#8 document; `None` where it is none.
    fn from_pkcs8(id: &str, origin: &str, document: &[u8]) -> Option<Self> {
        Some(Self {
            id: id.into(),
            origin: origin.into(),
            pair: Ed25519KeyPair::from_pkcs8(document).ok()?,
        })
    }

    /// The key of a seed that everybody knows: for examples.
    #[cfg(test)]
    pub(super) fn of_seed(id: &str, origin: &str, seed: &[u8; 32]) -> Option<Self> {
        Some(Self {
            id: id.into(),
            origin: origin.into(),
            pair: Ed25519KeyPair::from_seed_unchecked(seed).ok()?,
        })
    }

    /// Its id, a ULID: it tells when the key was made.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The record it signs for.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Its public half.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        bytes
    }

    /// Signs `message`, which begins with the domain that separates its use from every other.
    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.pair.sign(message).as_ref());
        bytes
    }
}

impl fmt::Debug for CheckpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckpointKey({}, ***)", self.id)
    }
}

#[cfg(test)]
mod tests;
