//! What is derived from a root key: one key per purpose and tenant, by HKDF-SHA256 (RFC 5869).
//!
//! Forgetting a root forgets all of them; nothing derived is ever stored.

use std::{fmt, sync::Arc};

use ring::{
    hkdf::{HKDF_SHA256, Prk, Salt},
    hmac::{self, HMAC_SHA256},
};
use toolgate_contract::ids::TenantId;

/// One root key, ready to derive from.
#[derive(Clone)]
pub(super) struct Root {
    id: Arc<str>,
    secret: Prk,
}

impl Root {
    pub(super) fn new(id: &Arc<str>, secret: &[u8; 32]) -> Self {
        Self {
            id: Arc::clone(id),
            secret: Salt::new(HKDF_SHA256, b"toolgate/v1").extract(secret),
        }
    }

    pub(super) fn record_key(&self, tenant: &TenantId) -> RecordKey {
        RecordKey {
            id: Arc::clone(&self.id),
            key: self.derive("toolgate/v1/record", tenant),
        }
    }

    pub(super) fn arguments_key(&self, tenant: &TenantId) -> ArgumentsKey {
        ArgumentsKey(self.derive("toolgate/v1/arguments", tenant))
    }

    // Labels hold no NUL, so label and tenant cannot be read in two ways.
    fn derive(&self, label: &str, tenant: &TenantId) -> hmac::Key {
        let info = [label.as_bytes(), &[0], tenant.as_str().as_bytes()];
        match self.secret.expand(&info, HMAC_SHA256) {
            Ok(okm) => okm.into(),
            // Only for outputs longer than 255 digests; this one is one digest long.
            Err(ring::error::Unspecified) => unreachable!("one digest is never too long for HKDF"),
        }
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Root({}, ***)", self.id)
    }
}

/// Seals the rows of one tenant's record.
#[derive(Clone)]
pub struct RecordKey {
    id: Arc<str>,
    key: hmac::Key,
}

impl RecordKey {
    /// Id of the root it comes from; stands in every row it sealed.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The MAC of a row's hash.
    #[must_use]
    pub fn mac(&self, hash: &[u8; 32]) -> [u8; 32] {
        bytes_of(hmac::sign(&self.key, hash))
    }

    /// Whether this key made `mac` for `hash`; takes the same time for every wrong MAC.
    #[must_use]
    pub fn verifies(&self, hash: &[u8; 32], mac: &[u8]) -> bool {
        hmac::verify(&self.key, hash, mac).is_ok()
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RecordKey({}, ***)", self.id)
    }
}

/// Hashes the arguments of one tenant's calls, so that the record can tell equal from different and nothing else.
#[derive(Clone)]
pub struct ArgumentsKey(hmac::Key);

impl ArgumentsKey {
    /// The keyed hash of canonical arguments.
    #[must_use]
    pub fn hash(&self, canonical: &[u8]) -> [u8; 32] {
        bytes_of(hmac::sign(&self.0, canonical))
    }
}

impl fmt::Debug for ArgumentsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArgumentsKey(***)")
    }
}

fn bytes_of(tag: hmac::Tag) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}
