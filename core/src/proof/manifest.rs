//! What an export says of itself, in two files: `manifest.json`, and `SHA256SUMS` over it and all others.
//!
//! Neither is signed. They show damage and tell where to look; what proves is recomputed. Both have exactly one
//! spelling, so a changed byte is seen.

use std::fmt::Write;

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::JoinPoint;
use crate::audit::export::Format;

/// The manifest's file.
pub(super) const MANIFEST: &str = "manifest.json";
/// Its digest and those of the files it lists, as `sha256sum -c` reads them.
pub(super) const SUMS: &str = "SHA256SUMS";
/// The signed checkpoints.
pub(super) const CHECKPOINTS: &str = "checkpoints.ndjson";
/// The public keys that they are signed with.
pub(super) const KEYS: &str = "keys.ndjson";

const KIND: &str = "toolgate-audit-export";
/// More than a record of ten thousand million rows needs.
const MOST_FILES: usize = 1 << 18;

/// What an export says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Manifest {
    r#type: String,
    version: u32,
    format: String,
    /// The record it was taken from.
    pub origin: String,
    /// Whose chain it is.
    pub tenant_id: String,
    /// Place of the first row.
    pub first_seq: i64,
    /// Place of the last row; one less than the first where there is none.
    pub last_seq: i64,
    /// How many rows.
    pub count: i64,
    /// Hash of the row before the first.
    pub first_prev: String,
    /// Hash of the last row.
    pub last_hash: String,
    /// When it was taken, RFC 3339.
    pub exported_at: String,
    /// What took it.
    pub exported_by: String,
    /// Its files, those with rows in the order of their places.
    pub files: Vec<Listed>,
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Listed {
    /// Its name, without a folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// Why a manifest is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestFault {
    /// It is none.
    #[error("it is no manifest of an export: {0}")]
    Malformed(String),
    /// A newer version wrote it.
    #[error("it has version {0}, and this build reads version 1; verify with a newer build")]
    Version(u32),
    /// It says something impossible.
    #[error("{0}")]
    Senseless(&'static str),
}

/// What a manifest tells, to make one from.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) format: Format,
    pub(super) origin: String,
    pub(super) tenant_id: String,
    /// Place of the first row, and the hash before it.
    pub(super) first: JoinPoint,
    pub(super) last: JoinPoint,
    pub(super) count: i64,
    pub(super) exported_at: String,
    pub(super) exported_by: String,
    pub(super) files: Vec<Listed>,
}

impl From<Told> for Manifest {
    fn from(told: Told) -> Self {
        Self {
            r#type: KIND.into(),
            version: 1,
            format: told.format.as_str().into(),
            origin: told.origin,
            tenant_id: told.tenant_id,
            first_seq: told.first.seq,
            last_seq: told.last.seq,
            count: told.count,
            first_prev: HEXLOWER.encode(&told.first.hash),
            last_hash: HEXLOWER.encode(&told.last.hash),
            exported_at: told.exported_at,
            exported_by: told.exported_by,
            files: told.files,
        }
    }
}

impl Manifest {
    /// Reads `manifest.json`.
    ///
    /// # Errors
    /// When it is not written exactly as an export writes it, or says what cannot be.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestFault> {
        let malformed = |why: &str| ManifestFault::Malformed(why.into());
        let read: Self =
            serde_json::from_slice(text).map_err(|error| ManifestFault::Malformed(error.to_string()))?;
        if read.r#type != KIND {
            return Err(malformed("its type is another"));
        }
        if read.version != 1 {
            return Err(ManifestFault::Version(read.version));
        }
        if read.to_text().as_bytes() != text {
            return Err(malformed("something changed or cut it"));
        }
        read.check().map_err(ManifestFault::Senseless)?;
        Ok(read)
    }

    /// The text of `manifest.json`.
    #[must_use]
    pub fn to_text(&self) -> String {
        // Texts, numbers and a list of such always serialise.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The text of `SHA256SUMS`.
    #[must_use]
    pub fn sums(&self) -> String {
        let mut text = String::new();
        let own = HEXLOWER.encode(digest(&SHA256, self.to_text().as_bytes()).as_ref());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{own}  {MANIFEST}");
        for file in &self.files {
            let _ = writeln!(text, "{}  {}", file.sha256, file.name);
        }
        text
    }

    /// How its rows are written.
    #[must_use]
    pub fn format(&self) -> Format {
        Format::parse(&self.format).unwrap_or_default()
    }

    /// The files that hold rows, in order.
    pub fn segments(&self) -> impl Iterator<Item = &Listed> {
        self.files
            .iter()
            .filter(|file| segment_start(&file.name, self.format()).is_some())
    }

    pub(super) fn hash(text: &str) -> Option<[u8; 32]> {
        HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
    }

    fn check(&self) -> Result<(), &'static str> {
        let Some(format) = Format::parse(&self.format) else {
            return Err("it names a format that is neither ndjson nor csv");
        };
        if Self::hash(&self.first_prev).is_none() || Self::hash(&self.last_hash).is_none() {
            return Err("a hash in it is none");
        }
        if self.first_seq < 1 || self.last_seq < self.first_seq - 1 || self.count < 0 {
            return Err("its places and its count do not fit together");
        }
        if self.files.len() > MOST_FILES {
            return Err("it lists too many files");
        }
        let mut before = 0;
        for file in &self.files {
            match segment_start(&file.name, format) {
                Some(start) if start <= before => return Err("its files do not stand in order"),
                Some(start) => before = start,
                None if file.name == CHECKPOINTS || file.name == KEYS => {}
                None => return Err("it lists a file that belongs to no export"),
            }
        }
        for name in [CHECKPOINTS, KEYS] {
            if self.files.iter().filter(|file| file.name == name).count() != 1 {
                return Err("it does not list checkpoints.ndjson and keys.ndjson, each once");
            }
        }
        Ok(())
    }
}

/// The name of a file whose rows begin at `seq`.
pub(super) fn segment_name(seq: i64, format: Format) -> String {
    format!("events-{seq:012}.{}", format.as_str())
}

/// The place in such a name.
pub(super) fn segment_start(name: &str, format: Format) -> Option<i64> {
    let digits = name
        .strip_prefix("events-")?
        .strip_suffix(format.as_str())?
        .strip_suffix('.')?;
    let seq = digits.parse().ok()?;
    (seq > 0 && segment_name(seq, format) == name).then_some(seq)
}

#[cfg(test)]
mod tests;
