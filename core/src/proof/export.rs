//! Verifies an export where it lies: no database, no gateway, no network.
//!
//! Recomputed are the chain, the members beside the bytes of each row, the signatures of the checkpoints, the digests of
//! all files, and with root keys the MACs. The first fault in the order of the chain is told; what only the manifest
//! shows comes after it. What is not under a checkpoint is not taken for intact: without keys nothing else proves it.

mod walk;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use toolgate_contract::ids::TenantId;

use self::walk::Walk;
use super::{
    FileFault, ManifestFault, Trust, files,
    manifest::{KEYS, MANIFEST, Manifest, SUMS},
};
use crate::{
    anchor::{PublicKeys, TrustRoot},
    audit::verify::{Verdict, Verification},
    keys::RecordKeys,
};

const LONGEST_MANIFEST: u64 = 64 * 1024 * 1024;
const LONGEST_KEYS: u64 = 16 * 1024 * 1024;

/// What to verify, and what is known beforehand.
pub struct Asked<'a> {
    /// The folder of the export.
    pub dir: &'a Path,
    /// Root keys, to check the MACs as well.
    pub keys: Option<Arc<dyn RecordKeys>>,
    /// The checkpoint key that everything must lead back to.
    pub trust: Option<Trust>,
    /// Is told how many rows were looked at, now and then.
    pub progress: &'a dyn Fn(i64),
}

impl std::fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Asked({})", self.dir.display())
    }
}

/// What was found in an export.
#[derive(Debug, Clone)]
pub struct ExportReport {
    /// What it says of itself.
    pub manifest: Manifest,
    /// The verdict.
    pub verification: Verification,
    /// The first checkpoint key in it, on which the trust rests; `None` where there is none.
    pub trust_root: Option<TrustRoot>,
    /// Whether that is the one that was given to trust.
    pub pinned: bool,
    /// Whether MACs were checked.
    pub macs: bool,
    /// When the last checkpoint was signed, microseconds UTC; `None` where the export is not intact.
    pub signed_us: Option<i64>,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is no export, or not a whole one.
    #[error(
        "{path} is not there, so this is no export, or one that is not finished: run `toolgate audit export --out` on \
         that folder again",
        path = .0.display())]
    NoManifest(PathBuf),
    /// The manifest is none.
    #[error("{path}: {source}", path = .path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ManifestFault,
    },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileFault),
}

/// Verifies an export. Reads files and computes: not for a thread that serves others.
///
/// # Errors
/// When there is no readable manifest, or a file of the export is no plain file. What the files hold is never an error,
/// only a verdict.
pub fn verify_export(asked: &Asked<'_>) -> Result<ExportReport, ExportError> {
    let manifest = read_manifest(asked.dir)?;
    let keys = read_keys(asked.dir)?;
    let pinned = match (&keys, &asked.trust) {
        (Ok(keys), Some(trust)) => trust.holds(keys),
        _ => false,
    };
    let mut report = ExportReport {
        verification: nothing(&manifest),
        trust_root: keys.as_ref().ok().map(PublicKeys::trust_root),
        pinned,
        macs: asked.keys.is_some(),
        signed_us: None,
        manifest,
    };
    let manifest = &report.manifest;
    let Ok(tenant) = manifest.tenant_id.parse::<TenantId>() else {
        report.verification = fault(manifest, Verdict::Edited, "the manifest names no tenant");
        return Ok(report);
    };
    let keys = match keys {
        Ok(keys) => keys,
        Err(why) => {
            report.verification = fault(manifest, Verdict::BadSignature, &format!("{KEYS}: {why}"));
            return Ok(report);
        }
    };
    if asked.trust.is_some() && !pinned {
        let text = format!(
            "its checkpoints rest on the key {}, which is not the one to trust",
            keys.trust_root()
        );
        report.verification = fault(manifest, Verdict::BadSignature, &text);
        return Ok(report);
    }
    (report.verification, report.signed_us) = Walk::new(asked, manifest, &tenant, keys).run()?;
    Ok(report)
}

fn read_manifest(dir: &Path) -> Result<Manifest, ExportError> {
    let path = dir.join(MANIFEST);
    let text = match files::read(&path, LONGEST_MANIFEST) {
        Ok(text) => text,
        Err(fault) if fault.is_missing() => return Err(ExportError::NoManifest(path)),
        Err(fault) => return Err(fault.into()),
    };
    Manifest::parse(&text).map_err(|source| ExportError::Manifest { path, source })
}

// Keys that are not accepted are a finding.
fn read_keys(dir: &Path) -> Result<Result<PublicKeys, String>, FileFault> {
    let text = match files::read(&dir.join(KEYS), LONGEST_KEYS) {
        Ok(text) => text,
        Err(fault) if fault.is_missing() => return Ok(Err("the file is missing".into())),
        Err(fault) => return Err(fault),
    };
    let text = String::from_utf8(text).unwrap_or_default();
    Ok(PublicKeys::parse(&text).map_err(|fault| fault.to_string()))
}

fn nothing(manifest: &Manifest) -> Verification {
    fault(manifest, Verdict::Intact, "")
}

fn fault(manifest: &Manifest, verdict: Verdict, message: &str) -> Verification {
    Verification {
        verdict,
        rows: 0,
        seq: 0,
        message: message.to_owned(),
        head: crate::audit::Head {
            seq: 0,
            hash: [0; 32],
        },
        from: manifest.first_seq,
        checkpoints: 0,
        covered: 0,
    }
}

/// Says what is wrong with the digests that lie beside the manifest.
fn differs_from_sums(dir: &Path, manifest: &Manifest) -> Result<Option<String>, FileFault> {
    let sums = manifest.sums();
    let text = match files::read(&dir.join(SUMS), LONGEST_MANIFEST) {
        Ok(text) => text,
        Err(fault) if fault.is_missing() => return Ok(Some(format!("{SUMS} is missing"))),
        Err(fault) => return Err(fault),
    };
    Ok((text != sums.as_bytes()).then(|| format!("{MANIFEST} and {SUMS} do not fit together")))
}

#[cfg(test)]
mod tests;
