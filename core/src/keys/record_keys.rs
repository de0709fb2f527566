//! Root keys for a verifier: to check MACs, and nothing else. An auditor needs no other file of the keys folder.

use std::{fmt, path::Path};

use toolgate_contract::ids::TenantId;

use super::{KeyError, Keyring, RecordKey, Roots, files::KeyFolder, read_roots};

/// Whatever finds the key that sealed a row.
pub trait RecordKeys: fmt::Debug + Send + Sync {
    /// The key, by the id which the row carries.
    fn record_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<RecordKey>;
}

impl RecordKeys for Keyring {
    fn record_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<RecordKey> {
        Self::record_key_by_id(self, key_id, tenant)
    }
}

/// The root keys of a folder.
#[derive(Debug)]
pub struct RootKeys(Roots);

impl RootKeys {
    /// Reads the `root-<id>.key` files of `dir`, or of the folder `keys` in it.
    ///
    /// # Errors
    /// As [`Keyring::open_existing`]; there must be one at least.
    pub fn open(dir: &Path) -> Result<Self, KeyError> {
        let inner = dir.join("keys");
        let folder = KeyFolder::open(if inner.is_dir() { &inner } else { dir })?;
        let roots = read_roots(&folder)?;
        if roots.is_empty() {
            return Err(folder.no_root());
        }
        Ok(Self(roots))
    }
}

impl RecordKeys for RootKeys {
    fn record_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<RecordKey> {
        self.0.get(key_id).map(|root| root.record_key(tenant))
    }
}
