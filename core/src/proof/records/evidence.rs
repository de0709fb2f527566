//! What a gateway hands out about an export: its public checkpoint keys, and the checkpoints of one tenant.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use toolgate_contract::ids::TenantId;

use crate::{
    anchor::{self, Progress, Witness},
    audit::export::CHUNK,
    store::StoreError,
};

/// How long the keeper has to sign once more. Without it the export goes as far as the checkpoints before.
const PATIENCE: Duration = Duration::from_secs(10);

/// Lines, on their way out.
#[derive(Debug)]
pub struct Evidence {
    after: i64,
    keys: String,
    witness: Option<Witness>,
}

/// Asks for a checkpoint of the head as it is now, and waits until it is durable.
pub(super) async fn ask_to_sign(progress: &Progress, tenant: &TenantId) {
    let signed = tokio::time::timeout(PATIENCE, progress.want(tenant)).await;
    if !matches!(signed, Ok(Ok(()))) {
        tracing::warn!(%tenant, "no checkpoint was signed for an export in time");
    }
}

impl Evidence {
    /// What lies in a data directory now.
    pub(super) async fn open(data_dir: &Path, tenant: &TenantId, after: i64) -> Result<Self, StoreError> {
        let (folder, tenant) = (anchor::folder(data_dir), tenant.clone());
        aside(move || {
            let failed = |error: &dyn std::fmt::Display| StoreError::Engine(format!("checkpoints: {error}"));
            let keys = Arc::new(anchor::public_keys(&folder).map_err(|fault| failed(&fault))?);
            let witness = Witness::open(&folder, Arc::clone(&keys), tenant.as_str());
            Ok(Self {
                after,
                keys: keys.lines().map(|line| line + "\n").collect(),
                witness: Some(witness.map_err(|error| failed(&error))?),
            })
        })
        .await
    }

    /// Some whole lines; `None` at the end.
    ///
    /// # Errors
    /// When a checkpoint is not genuine, or cannot be read.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut text = std::mem::take(&mut self.keys);
        let Some(witness) = self.witness.take() else {
            return Ok(None);
        };
        let after = self.after;
        let (text, witness) = aside(move || {
            let mut witness = witness;
            while text.len() < CHUNK {
                match witness.next_place() {
                    Ok(Some(checkpoint)) if checkpoint.seq <= after => {}
                    Ok(Some(checkpoint)) => {
                        text.push_str(&checkpoint.to_line());
                        text.push('\n');
                    }
                    Ok(None) => return Ok((text, None)),
                    Err(fault) => return Err(StoreError::Engine(format!("checkpoints: {fault}"))),
                }
            }
            Ok((text, Some(witness)))
        })
        .await?;
        self.witness = witness;
        Ok((!text.is_empty()).then(|| text.into()))
    }
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(StoreError::Panicked))
}
