//! What is derived from a root key: one key per purpose and tenant, by HKDF-SHA256 (RFC 5869).
//!
//! Forgetting a root forgets all of them; nothing derived is ever stored.

use std::{fmt, sync::Arc};

use ring::{
    hkdf::{HKDF_SHA256, KeyType, Prk, Salt},
    hmac::{self, HMAC_SHA256},
};
use toolgate_contract::ids::TenantId;
use zeroize::Zeroizing;

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

    pub(super) fn identifiers_key(&self, tenant: &TenantId) -> IdentifiersKey {
        IdentifiersKey {
            id: Arc::clone(&self.id),
            key: self.derive("toolgate/v1/identifiers", tenant),
        }
    }

    pub(super) fn session_key(&self, tenant: &TenantId) -> SessionKey {
        SessionKey {
            id: Arc::clone(&self.id),
            key: self.derive("toolgate/v1/mcp-session", tenant),
        }
    }

    pub(super) fn wrapping_key(&self, tenant: &TenantId) -> WrappingKey {
        WrappingKey {
            id: Arc::clone(&self.id),
            key: self.derive_raw("toolgate/v1/kek", tenant),
        }
    }

    pub(super) fn sign_in_key(&self, tenant: &TenantId) -> SignInKey {
        SignInKey {
            id: Arc::clone(&self.id),
            key: self.derive_raw("toolgate/v1/sign-in", tenant),
        }
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
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

    fn derive_raw(&self, label: &str, tenant: &TenantId) -> Zeroizing<[u8; 32]> {
        let info = [label.as_bytes(), &[0], tenant.as_str().as_bytes()];
        let mut key = Zeroizing::new([0; 32]);
        let filled = self
            .secret
            .expand(&info, Raw)
            .and_then(|okm| okm.fill(key.as_mut()));
        match filled {
            Ok(()) => key,
            // Only for outputs longer than 255 digests, or for another length than was asked for.
            Err(ring::error::Unspecified) => unreachable!("one digest is never too long for HKDF"),
        }
    }
}

/// 32 raw bytes, for ciphers of another crate.
struct Raw;

impl KeyType for Raw {
    fn len(&self) -> usize {
        32
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

/// Hashes the identifiers of one tenant's secrets, so that the record can name them without telling them.
#[derive(Clone)]
pub struct IdentifiersKey {
    id: Arc<str>,
    key: hmac::Key,
}

impl IdentifiersKey {
    /// Id of the root it comes from; equal identifiers have equal hashes under one root only.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The keyed hash of an identifier.
    #[must_use]
    pub fn hash(&self, identifier: &[u8]) -> [u8; 32] {
        bytes_of(hmac::sign(&self.key, identifier))
    }
}

impl fmt::Debug for IdentifiersKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdentifiersKey({}, ***)", self.id)
    }
}

/// Makes the ids of one tenant's MCP sessions.
#[derive(Clone)]
pub struct SessionKey {
    id: Arc<str>,
    key: hmac::Key,
}

impl SessionKey {
    /// Id of the root it comes from; stands in every id it made.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The MAC of what a session's id stands for.
    #[must_use]
    pub fn mac(&self, covered: &[u8]) -> [u8; 32] {
        bytes_of(hmac::sign(&self.key, covered))
    }

    /// Whether this key made `mac`; takes the same time for every wrong MAC.
    #[must_use]
    pub fn verifies(&self, covered: &[u8], mac: &[u8]) -> bool {
        hmac::verify(&self.key, covered, mac).is_ok()
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({}, ***)", self.id)
    }
}

/// Wraps the data keys of one tenant's secrets.
pub struct WrappingKey {
    id: Arc<str>,
    key: Zeroizing<[u8; 32]>,
}

impl WrappingKey {
    /// Id of the root it comes from; stands beside every data key it wrapped.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The key itself, for the one room that seals secrets.
    #[must_use]
    pub(crate) fn reveal(&self) -> &[u8; 32] {
        &self.key
    }
}

impl fmt::Debug for WrappingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WrappingKey({}, ***)", self.id)
    }
}

/// Seals what a browser keeps while somebody signs in.
pub struct SignInKey {
    id: Arc<str>,
    key: Zeroizing<[u8; 32]>,
}

impl SignInKey {
    /// Id of the root it comes from; stands before everything it sealed.
    #[must_use]
    pub fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The key itself, for the one room that seals with it.
    #[must_use]
    pub(crate) fn reveal(&self) -> &[u8; 32] {
        &self.key
    }
}

impl fmt::Debug for SignInKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignInKey({}, ***)", self.id)
    }
}

fn bytes_of(tag: hmac::Tag) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}
