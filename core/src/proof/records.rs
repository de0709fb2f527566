//! The record of a gateway, verified while it is written: whole, or from where it was last found intact.
//!
//! The place to go on from is read from the record itself: the newest row that tells of an intact verification, whose
//! MAC must hold. So it survives a restart, and nobody can move it who does not hold the root key.

mod evidence;
mod remembered;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use toolgate_contract::ids::TenantId;

pub use self::evidence::Evidence;
use self::remembered::Remembered;
use super::{Archive, witness};
use crate::{
    anchor::{self, Progress},
    audit::{
        Head,
        export::{Export, Format},
        verify::{Mark, Telling, Testimonies, Testimony, Verdict, Verification, Walk},
    },
    keys::Keyring,
    store::{Store, StoreError},
};

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every row.
    Whole,
    /// What came after the last verification that found the record intact; every row where there was none.
    Since,
}

/// Verifies chains of one store beside its checkpoints.
#[derive(Debug, Clone)]
pub struct Records {
    store: Store,
    keys: Arc<Keyring>,
    data_dir: PathBuf,
    progress: Option<Arc<Progress>>,
}

impl Records {
    /// The record in `store` and what lies in its data directory.
    #[must_use]
    pub fn new(store: Store, keys: Arc<Keyring>, data_dir: &Path) -> Self {
        Self {
            store,
            keys,
            data_dir: data_dir.to_owned(),
            progress: None,
        }
    }

    /// Asks this keeper for checkpoints.
    #[must_use]
    pub fn signed_by(self, progress: Arc<Progress>) -> Self {
        Self {
            progress: Some(progress),
            ..self
        }
    }

    /// Verifies the chain of `tenant`.
    ///
    /// # Errors
    /// When the store does not answer. What it holds is never an error, only a verdict.
    pub async fn verify(&self, tenant: &TenantId, extent: Extent) -> Result<Verification, StoreError> {
        self.verify_telling(tenant, extent, None).await
    }

    /// Verifies the chain of `tenant`, and tells how far it is.
    ///
    /// # Errors
    /// When the store does not answer. What it holds is never an error, only a verdict.
    pub async fn verify_telling(
        &self,
        tenant: &TenantId,
        extent: Extent,
        telling: Option<Telling>,
    ) -> Result<Verification, StoreError> {
        // Before the rows: what is signed later is about rows that are read later.
        let survey = self.survey().await?;
        let mut found = self.walk_chain(tenant, extent, telling).await?;
        if let Some(Err(why)) = survey {
            doubt(&mut found, &why);
        }
        Ok(found)
    }

    /// What the checkpoint files say taken together; `None` where nothing was ever signed.
    pub(super) async fn survey(&self) -> Result<Option<Result<Vec<(String, i64)>, String>>, StoreError> {
        let dir = self.data_dir.clone();
        tokio::task::spawn_blocking(move || witness::survey(&dir))
            .await
            .map_err(|_| StoreError::Panicked)
    }

    /// Verifies the chain of `tenant` beside its own checkpoints alone.
    pub(super) async fn verify_chain(
        &self,
        tenant: &TenantId,
        extent: Extent,
    ) -> Result<Verification, StoreError> {
        self.walk_chain(tenant, extent, None).await
    }

    async fn walk_chain(
        &self,
        tenant: &TenantId,
        extent: Extent,
        telling: Option<Telling>,
    ) -> Result<Verification, StoreError> {
        let testimonies = self.testimonies(tenant).await?;
        let walk = Walk::whole(tenant, &self.keys);
        let remembered = match extent {
            Extent::Whole => None,
            Extent::Since => remembered::find(&self.store, &self.keys, tenant).await?,
        };
        let walk = match remembered {
            None => walk.hearing(testimonies),
            Some(remembered) => {
                let head = remembered.head;
                match self.store.hash_at(tenant, head.seq).await? == Some(head.hash) {
                    true => walk.starting_after(head).hearing(testimonies),
                    // Something was changed before that place: the whole chain tells what.
                    false => walk.hearing(with(testimonies, remembered)),
                }
            }
        };
        walk.telling(telling).run(&self.store, tenant).await
    }

    /// What proves an export of the rows after place `after`: public keys and checkpoints, the newest one of now.
    ///
    /// # Errors
    /// When the checkpoints cannot be read.
    pub async fn evidence(&self, tenant: &TenantId, after: i64) -> Result<Evidence, StoreError> {
        if let Some(progress) = &self.progress {
            evidence::ask_to_sign(progress, tenant).await;
        }
        Evidence::open(&self.data_dir, tenant, after).await
    }

    /// A whole export of the rows after place `after`, as far as the newest checkpoint goes, which is asked for now.
    /// `None` where there are no such rows.
    ///
    /// # Errors
    /// When nothing is signed, or store or checkpoints cannot be read.
    pub async fn archive(
        &self,
        tenant: &TenantId,
        after: i64,
        format: Format,
        now_us: i64,
    ) -> Result<Option<Archive>, StoreError> {
        let newest = match &self.progress {
            None => None,
            Some(progress) => {
                evidence::ask_to_sign(progress, tenant).await;
                progress.newest(tenant)
            }
        };
        let Some(newest) = newest else {
            return Err(StoreError::Engine(
                "checkpoints: none was signed of this record, so nothing would prove an export".into(),
            ));
        };
        if newest.seq <= after {
            return Ok(None);
        }
        let export = Export::new(self.store.clone(), tenant.clone(), after, format);
        let folder = anchor::folder(&self.data_dir);
        Ok(Some(Archive::new(
            export,
            folder,
            tenant,
            after..newest.seq,
            format,
            now_us,
        )))
    }

    async fn testimonies(&self, tenant: &TenantId) -> Result<Testimonies, StoreError> {
        let (dir, tenant) = (self.data_dir.clone(), tenant.clone());
        tokio::task::spawn_blocking(move || witness::of_directory(&dir, &tenant))
            .await
            .map_err(|_| StoreError::Panicked)
    }
}

/// The testimonies, with what is remembered in its place among them.
fn with(testimonies: Testimonies, remembered: Remembered) -> Testimonies {
    let mark = Mark {
        seq: remembered.head.seq,
        hash: remembered.head.hash,
        by: format!("the verification of row {}", remembered.told_by),
    };
    let mut rest = testimonies.peekable();
    let mut mark = Some(mark);
    Box::new(std::iter::from_fn(move || {
        let later = rest.peek().is_none_or(|next| match (next, &mark) {
            (Testimony::Sound(next), Some(mark)) => next.seq > mark.seq,
            _ => false,
        });
        match mark.take_if(|_| later) {
            Some(mark) => Some(Testimony::Sound(mark)),
            None => rest.next(),
        }
    }))
}

/// What is wrong with the checkpoints of all tenants counts, unless worse is known of this one.
pub(super) fn doubt(found: &mut Verification, why: &str) {
    if found.is_intact() {
        found.verdict = Verdict::BadSignature;
        found.message = format!("the checkpoint files of all tenants: {why}");
    }
}

/// Where a chain was found intact up to.
fn head_of(seq: i64, hash: [u8; 32]) -> Head {
    Head { seq, hash }
}

#[cfg(test)]
mod tests;
