//! The keys the gateway holds and no database does: root secrets, what is derived from them, and its identity.
//!
//! `DIR/keys` holds `root-<id>.key` files (the newest seals, older ones still verify) and `gateway.ed25519`. Both are
//! made on first use; `checkpoint-<id>.ed25519`, which room `anchor` signs with, lies beside them. Instances share the folder, so a root that another instance made is found by its id. Keys of
//! single purposes are derived by HKDF with labels `toolgate/v1/…` and the tenant; no root key signs anything itself.
//! Keys that a record needs are never replaced in silence. Nothing here knows the store: a reader of the whole database cannot seal a row.

mod checkpoint;
mod derive;
mod files;
mod identity;
mod lost;
mod record_keys;
mod rotate;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use arc_swap::ArcSwap;
use toolgate_contract::ids::TenantId;

pub(crate) use self::checkpoint::CheckpointKeyFiles;
use self::{derive::Root, files::KeyFolder};
pub use self::{
    derive::{ArgumentsKey, IdentifiersKey, RecordKey, SessionKey, SignInKey, WrappingKey},
    files::KeyError,
    identity::GatewayIdentity,
    record_keys::{RecordKeys, RootKeys},
    rotate::{retire_root, roots, rotate_root},
};

type Roots = BTreeMap<Arc<str>, Root>;

/// Every key of one data directory.
#[derive(Debug)]
pub struct Keyring {
    folder: PathBuf,
    newest: ArcSwap<Root>,
    roots: RwLock<Roots>,
    identity: GatewayIdentity,
}

impl Keyring {
    /// Opens `dir/keys` and makes on first use what is missing.
    ///
    /// # Errors
    /// When the folder or a file is readable by others, belongs to someone else, is no plain file or does not hold
    /// what its name says. The gateway must then not start.
    pub fn open(dir: &Path) -> Result<Self, KeyError> {
        Self::open_in(&KeyFolder::open_or_create(&dir.join("keys"))?)
    }

    /// Opens `dir/keys` for a record that was sealed with these roots; keys are made for an empty record only, unless
    /// the loss of older ones is accepted.
    ///
    /// # Errors
    /// As [`Keyring::open`], and when a key is missing that the record needs. Then nothing was made.
    pub fn open_for(dir: &Path, sealed_with: &[String], accept_lost: bool) -> Result<Self, KeyError> {
        let path = dir.join("keys");
        let missing = lost::missing(&path, sealed_with).join(", ");
        if missing.is_empty() {
            return Self::open(dir);
        }
        if !accept_lost {
            return Err(KeyError::Lost { path, missing });
        }
        tracing::warn!(%missing, "keys are lost and the gateway goes on with new ones, as it was told to");
        let folder = KeyFolder::open_or_create(&path)?;
        folder.accept_loss(sealed_with)?;
        Self::open_in(&folder)
    }

    fn open_in(folder: &KeyFolder) -> Result<Self, KeyError> {
        if folder.root_names()?.is_empty() {
            folder.create_root()?;
        }
        let identity =
            GatewayIdentity::from_pkcs8(&folder.identity()?).ok_or_else(|| folder.damaged_identity())?;
        Self::assemble(folder, identity)
    }

    /// Opens `dir/keys` as it is and changes nothing: for a verifier that must not leave traces.
    ///
    /// # Errors
    /// As [`Keyring::open`], and when a key is missing.
    pub fn open_existing(dir: &Path) -> Result<Self, KeyError> {
        let folder = KeyFolder::open(&dir.join("keys"))?;
        let identity = GatewayIdentity::from_pkcs8(&folder.existing_identity()?)
            .ok_or_else(|| folder.damaged_identity())?;
        Self::assemble(&folder, identity)
    }

    fn assemble(folder: &KeyFolder, identity: GatewayIdentity) -> Result<Self, KeyError> {
        let roots = read_roots(folder)?;
        let newest = roots
            .values()
            .next_back()
            .cloned()
            .ok_or_else(|| folder.no_root())?;
        Ok(Self {
            folder: folder.path().to_owned(),
            newest: ArcSwap::from_pointee(newest),
            roots: RwLock::new(roots),
            identity,
        })
    }

    /// The key that seals new rows of this tenant's record.
    #[must_use]
    pub fn record_key(&self, tenant: &TenantId) -> RecordKey {
        self.newest.load().record_key(tenant)
    }

    /// The key that sealed a row, by the id which the row carries; looks into the folder again for an unknown id.
    #[must_use]
    pub fn record_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<RecordKey> {
        self.root(key_id).map(|root| root.record_key(tenant))
    }

    /// The key under which call arguments appear on the record.
    #[must_use]
    pub fn arguments_key(&self, tenant: &TenantId) -> ArgumentsKey {
        self.newest.load().arguments_key(tenant)
    }

    /// The key under which identifiers of secrets appear on the record and in logs.
    #[must_use]
    pub fn identifiers_key(&self, tenant: &TenantId) -> IdentifiersKey {
        self.newest.load().identifiers_key(tenant)
    }

    /// The key that makes the ids of this tenant's MCP sessions from now on.
    #[must_use]
    pub fn session_key(&self, tenant: &TenantId) -> SessionKey {
        self.newest.load().session_key(tenant)
    }

    /// The key that made the id of a session, by the root's id that stands in it; looks into the folder again for an
    /// unknown one.
    #[must_use]
    pub fn session_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<SessionKey> {
        self.root(key_id).map(|root| root.session_key(tenant))
    }

    /// The key that seals what browsers keep while people of this tenant sign in from now on.
    #[must_use]
    pub fn sign_in_key(&self, tenant: &TenantId) -> SignInKey {
        self.newest.load().sign_in_key(tenant)
    }

    /// The key that sealed it, by the root's id that stands before it; looks into the folder again for an unknown one.
    #[must_use]
    pub fn sign_in_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<SignInKey> {
        self.root(key_id).map(|root| root.sign_in_key(tenant))
    }

    /// The key that wraps the data keys of this tenant's secrets from now on.
    #[must_use]
    pub fn wrapping_key(&self, tenant: &TenantId) -> WrappingKey {
        self.newest.load().wrapping_key(tenant)
    }

    /// The key that wrapped a data key, by the id that stands beside it; looks into the folder again for an unknown id.
    #[must_use]
    pub fn wrapping_key_by_id(&self, key_id: &str, tenant: &TenantId) -> Option<WrappingKey> {
        self.root(key_id).map(|root| root.wrapping_key(tenant))
    }

    /// Id of the root that seals and wraps now.
    #[must_use]
    pub fn newest_id(&self) -> Arc<str> {
        Arc::clone(self.newest.load().id())
    }

    /// Takes up a newer root that was put into the folder since, so that it seals and wraps from now on. True when
    /// there was one.
    ///
    /// # Errors
    /// When the folder or one of its roots cannot be read; then everything stays as it was.
    pub fn take_up_newer(&self) -> Result<bool, KeyError> {
        let names = KeyFolder::open(&self.folder)?.root_names()?;
        let current = self.newest_id();
        if names.last().is_none_or(|newest| **newest <= *current) {
            return Ok(false);
        }
        let roots = read_roots(&KeyFolder::open(&self.folder)?)?;
        if let Some(newest) = roots.values().next_back() {
            self.newest.store(Arc::new(newest.clone()));
        }
        *self.roots.write().unwrap_or_else(PoisonError::into_inner) = roots;
        Ok(true)
    }

    /// The identity that relays pin.
    #[must_use]
    pub fn gateway_identity(&self) -> &GatewayIdentity {
        &self.identity
    }

    fn root(&self, key_id: &str) -> Option<Root> {
        if let Some(root) = self.known_root(key_id) {
            return Some(root);
        }
        // Only an id that names a file of the folder is worth a look; a forged row must not cost a directory scan.
        if !files::is_root_id(key_id) || !files::root_path(&self.folder, key_id).exists() {
            return None;
        }
        let roots = KeyFolder::open(&self.folder)
            .and_then(|folder| read_roots(&folder))
            .ok()?;
        *self.roots.write().unwrap_or_else(PoisonError::into_inner) = roots;
        self.known_root(key_id)
    }

    fn known_root(&self, key_id: &str) -> Option<Root> {
        let roots = self.roots.read().unwrap_or_else(PoisonError::into_inner);
        roots.get(key_id).cloned()
    }
}

fn read_roots(folder: &KeyFolder) -> Result<Roots, KeyError> {
    let mut roots = Roots::new();
    for id in folder.root_names()? {
        let id: Arc<str> = id.into();
        roots.insert(Arc::clone(&id), Root::new(&id, &*folder.root_secret(&id)?));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests;
