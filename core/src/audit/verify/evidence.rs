//! What can be said of one row without knowing the others.

use std::sync::Arc;

use toolgate_contract::ids::TenantId;

use super::{StoredRow, row_hash};
use crate::{
    audit::chain::ALGORITHM,
    keys::{RecordKey, RecordKeys},
};

/// The keys of one tenant that rows were sealed with, looked up once each.
///
/// Without keys nobody can tell whether a MAC holds. The hash that a row carries then stands for its MAC: it shows what
/// was changed by accident or by somebody who did not make the hashes fit; the others are for the checkpoints to show.
#[derive(Debug)]
pub(super) struct Seals {
    tenant: TenantId,
    keys: Option<Arc<dyn RecordKeys>>,
    known: Vec<(String, RecordKey)>,
}

/// What a row carries to prove itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seal<'a> {
    pub(super) key_id: &'a str,
    pub(super) mac: &'a [u8],
    pub(super) hash: &'a [u8],
}

impl<'a> Seal<'a> {
    pub(super) fn of(row: &StoredRow<'a>) -> Self {
        Self {
            key_id: row.key_id,
            mac: row.mac,
            hash: row.hash,
        }
    }
}

impl Seals {
    pub(super) fn new(tenant: TenantId, keys: Option<Arc<dyn RecordKeys>>) -> Self {
        Self {
            tenant,
            keys,
            known: Vec::new(),
        }
    }

    pub(super) fn hash(&self, seq: i64, prev: &[u8; 32], bytes: &[u8]) -> [u8; 32] {
        row_hash(ALGORITHM, &self.tenant, seq, prev, bytes)
    }

    /// Whether the key that the seal names is at hand.
    pub(super) fn has_key_of(&mut self, seal: Seal<'_>) -> bool {
        self.keys.is_none() || self.key(seal.key_id).is_some()
    }

    /// Whether `seal` was made for `hash`.
    pub(super) fn was_made_for(&mut self, seal: Seal<'_>, hash: &[u8; 32]) -> bool {
        if self.keys.is_none() {
            return seal.hash == hash;
        }
        self.key(seal.key_id)
            .is_some_and(|key| key.verifies(hash, seal.mac))
    }

    fn key(&mut self, key_id: &str) -> Option<&RecordKey> {
        let place = match self.known.iter().position(|(id, _)| id == key_id) {
            Some(place) => place,
            None => {
                let key = self.keys.as_ref()?.record_key_by_id(key_id, &self.tenant)?;
                self.known.push((key_id.to_owned(), key));
                self.known.len() - 1
            }
        };
        self.known.get(place).map(|(_, key)| key)
    }
}

/// What was found at one place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Evidence {
    /// The algorithm is the one there is.
    pub(super) algorithm: bool,
    /// The key it names lies in the folder.
    pub(super) key: bool,
    /// The stored hash is that of the stored content at this place.
    pub(super) content: bool,
    /// The stored MAC was made for the stored hash: the gateway once sealed exactly this hash.
    pub(super) sealed: bool,
    /// It names the row before it.
    pub(super) linked: bool,
    /// The stored MAC was made for the stored bytes at this place after that row, whatever hash and link say.
    pub(super) belongs_here: bool,
    /// The index columns say what the bytes say.
    pub(super) columns: bool,
    expected_hash: [u8; 32],
}

impl Evidence {
    pub(super) fn gather(row: &StoredRow<'_>, prev: &[u8; 32], seals: &mut Seals) -> Self {
        let linked = row.prev == prev;
        let expected_hash = seals.hash(row.seq, prev, row.bytes);
        let content = if linked {
            row.hash == expected_hash
        } else {
            as_hash(row.prev).is_some_and(|own_prev| row.hash == seals.hash(row.seq, &own_prev, row.bytes))
        };
        let seal = Seal::of(row);
        let key = seals.has_key_of(seal);
        let belongs_here = seals.was_made_for(seal, &expected_hash);
        // In a sound row the two hashes are one, and so is the MAC.
        let sealed = if row.hash == expected_hash {
            belongs_here
        } else {
            as_hash(row.hash).is_some_and(|hash| seals.was_made_for(seal, &hash))
        };
        Self {
            algorithm: row.algorithm == ALGORITHM,
            key,
            content,
            sealed,
            linked,
            belongs_here,
            columns: row.columns_agree,
            expected_hash,
        }
    }

    /// The row's hash when nothing is wrong with it.
    pub(super) fn hash_of_sound_row(&self) -> Option<[u8; 32]> {
        let sound = self.algorithm && self.content && self.sealed && self.linked && self.columns;
        sound.then_some(self.expected_hash)
    }
}

pub(super) fn as_hash(bytes: &[u8]) -> Option<[u8; 32]> {
    bytes.try_into().ok()
}
