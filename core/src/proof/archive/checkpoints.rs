//! The checkpoints of an archive's rows: measured, and then read once more to be given away.
//!
//! Files of checkpoints only grow, and a tenant's places in them never go down; so what lies within a range of signed
//! places is the same each time.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use toolgate_contract::ids::TenantId;

use crate::{
    anchor::{self, Checkpoint, Witness},
    audit::export::CHUNK,
    store::StoreError,
};

/// What the lines are together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) bytes: u64,
    pub(super) sha256: String,
    /// The record that the newest names.
    pub(super) origin: Option<String>,
}

/// Lines on their way out.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// `None` at the end.
    within: Option<Within>,
    given: u64,
    measured: Measured,
}

/// Checkpoints of places after the start of a range, up to its end.
#[derive(Debug)]
struct Within {
    witness: Witness,
    places: Range<i64>,
}

impl Checkpoints {
    /// Reads them once.
    pub(super) async fn measure(
        folder: &Path,
        tenant: &TenantId,
        places: Range<i64>,
    ) -> Result<(Self, Measured), StoreError> {
        let (folder, tenant): (PathBuf, _) = (folder.to_owned(), tenant.clone());
        aside(move || {
            let open = || Within::open(&folder, &tenant, places.clone());
            let mut measured = Measured {
                bytes: 0,
                sha256: String::new(),
                origin: None,
            };
            let (mut within, mut digest) = (open()?, Context::new(&SHA256));
            while let Some(checkpoint) = within.next()? {
                let line = checkpoint.to_line() + "\n";
                measured.bytes += line.len() as u64;
                measured.origin = Some(checkpoint.origin);
                digest.update(line.as_bytes());
            }
            measured.sha256 = HEXLOWER.encode(digest.finish().as_ref());
            let again = Self {
                within: Some(open()?),
                given: 0,
                measured: measured.clone(),
            };
            Ok((again, measured))
        })
        .await
    }

    /// Some whole lines; `None` at the end.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<Bytes>, StoreError> {
        let Some(mut within) = self.within.take() else {
            return Ok(None);
        };
        let (lines, within) = aside(move || {
            let mut lines = String::new();
            while lines.len() < CHUNK {
                match within.next()? {
                    Some(checkpoint) => lines += &(checkpoint.to_line() + "\n"),
                    None => return Ok((lines, None)),
                }
            }
            Ok((lines, Some(within)))
        })
        .await?;
        self.within = within;
        self.given += lines.len() as u64;
        Ok((!lines.is_empty()).then(|| lines.into()))
    }

    /// What they are, once all are given.
    pub(super) fn end(self) -> Result<Measured, StoreError> {
        match self.given == self.measured.bytes {
            true => Ok(self.measured),
            false => Err(StoreError::Engine(
                "checkpoints: their files changed while they were read".into(),
            )),
        }
    }
}

impl Within {
    fn open(folder: &Path, tenant: &TenantId, places: Range<i64>) -> Result<Self, StoreError> {
        let keys = Arc::new(anchor::public_keys(folder).map_err(failed)?);
        let witness = Witness::open(folder, keys, tenant.as_str()).map_err(failed)?;
        Ok(Self { witness, places })
    }

    fn next(&mut self) -> Result<Option<Checkpoint>, StoreError> {
        while let Some(checkpoint) = self.witness.next_place().map_err(failed)? {
            if checkpoint.seq > self.places.start && checkpoint.seq <= self.places.end {
                return Ok(Some(checkpoint));
            }
        }
        Ok(None)
    }
}

fn failed(fault: impl std::fmt::Display) -> StoreError {
    StoreError::Engine(format!("checkpoints: {fault}"))
}

pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or(Err(StoreError::Panicked))
}
