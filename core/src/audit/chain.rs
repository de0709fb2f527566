//! The chain: one per tenant, each row bound to its place, to the row before it and to a key no database holds.
//!
//! Hashing and sealing are pure; who owns the head, and that only one row takes each place, is the journal's matter.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use ring::digest::{Context, SHA256};
use toolgate_contract::ids::TenantId;

use super::{Columns, Event, RowError, row_bytes};
use crate::keys::{Keyring, RecordKey};

/// SHA-256 over the row, HMAC-SHA256 over that. The only one there is; it stands in every row and in its hash.
pub const ALGORITHM: i64 = 1;

const ROW_DOMAIN: &[u8] = b"toolgate/audit/v1";
const GENESIS_DOMAIN: &[u8] = b"toolgate/audit/v1/genesis";
/// How many tenants' keys are kept at hand; deriving one anew costs two HMACs.
const KEYS_AT_HAND: usize = 16_384;

/// The end of a tenant's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Place of the last row; 0 before the first.
    pub seq: i64,
    /// Hash of the last row; of the tenant's name before the first.
    pub hash: [u8; 32],
}

impl Head {
    /// The head of an empty chain. It binds the tenant, so one tenant's chain never passes for another's.
    #[must_use]
    pub fn genesis(tenant: &TenantId) -> Self {
        let mut context = Context::new(&SHA256);
        part(&mut context, GENESIS_DOMAIN);
        part(&mut context, tenant.as_str().as_bytes());
        Self {
            seq: 0,
            hash: finish(context),
        }
    }
}

/// A row with its place in the chain, ready to be stored.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedRow {
    /// Its place, from 1, without gaps.
    pub seq: i64,
    /// Hash of the row before it.
    pub prev: [u8; 32],
    /// The event (`row_bytes`).
    pub bytes: Vec<u8>,
    /// [`row_hash`] of all of the above.
    pub hash: [u8; 32],
    /// MAC of the hash under the tenant's record key.
    pub mac: [u8; 32],
    /// [`ALGORITHM`].
    pub algorithm: i64,
    /// Which root key the record key comes from.
    pub key_id: Arc<str>,
}

impl SealedRow {
    /// The head of the chain once this row is stored.
    #[must_use]
    pub fn head(&self) -> Head {
        Head {
            seq: self.seq,
            hash: self.hash,
        }
    }

    /// The index columns, read from the bytes: exactly these belong beside them, not the event's raw texts.
    ///
    /// # Errors
    /// Never for a row that a [`Sealer`] made.
    pub fn columns(&self) -> Result<Columns<'_>, RowError> {
        Columns::of(&self.bytes)
    }
}

impl fmt::Debug for SealedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedRow({}, {} bytes)", self.seq, self.bytes.len())
    }
}

/// Seals events into rows.
#[derive(Debug)]
pub struct Sealer {
    keys: Arc<Keyring>,
    at_hand: RwLock<HashMap<TenantId, RecordKey>>,
}

impl Sealer {
    /// A sealer with the newest root of `keys`.
    #[must_use]
    pub fn new(keys: Arc<Keyring>) -> Self {
        Self {
            keys,
            at_hand: RwLock::default(),
        }
    }

    /// The row that comes after `head`.
    #[must_use]
    pub fn seal(&self, tenant: &TenantId, head: &Head, event: &Event) -> SealedRow {
        let bytes = row_bytes::encode(event);
        // Nine quintillion rows are out of reach; saturating only keeps the arithmetic total.
        let seq = head.seq.saturating_add(1);
        let hash = row_hash(ALGORITHM, tenant, seq, &head.hash, &bytes);
        let key = self.key(tenant);
        SealedRow {
            seq,
            prev: head.hash,
            bytes,
            hash,
            mac: key.mac(&hash),
            algorithm: ALGORITHM,
            key_id: Arc::clone(key.id()),
        }
    }

    fn key(&self, tenant: &TenantId) -> RecordKey {
        let known = self.at_hand.read().unwrap_or_else(PoisonError::into_inner);
        // A root that was rotated in meanwhile seals from the next row on.
        if let Some(key) = known.get(tenant)
            && *key.id() == self.keys.newest_id()
        {
            return key.clone();
        }
        drop(known);
        let key = self.keys.record_key(tenant);
        let mut known = self.at_hand.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEYS_AT_HAND {
            known.clear();
        }
        known.insert(tenant.clone(), key.clone());
        key
    }
}

/// The hash of a row: domain, algorithm, tenant, place, the row before and the bytes, each with its length before it.
#[must_use]
pub fn row_hash(algorithm: i64, tenant: &TenantId, seq: i64, prev: &[u8; 32], bytes: &[u8]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    part(&mut context, ROW_DOMAIN);
    part(&mut context, &algorithm.to_be_bytes());
    part(&mut context, tenant.as_str().as_bytes());
    part(&mut context, &seq.to_be_bytes());
    part(&mut context, prev);
    part(&mut context, bytes);
    finish(context)
}

fn part(context: &mut Context, bytes: &[u8]) {
    context.update(&(bytes.len() as u64).to_be_bytes());
    context.update(bytes);
}

fn finish(context: Context) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

#[cfg(test)]
mod tests;
