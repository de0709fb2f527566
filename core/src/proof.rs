//! What shows a record to be genuine beyond its own chain: signed checkpoints held against rows, for the store, for a
//! data directory, and for an export that is checked far from any gateway.
//!
//! Brings `audit` (rows, chain, verdicts) and `anchor` (checkpoints and their keys) together; neither knows the other's
//! use here. An export is untrusted from its first byte: every file, line and figure in it has a bound, links are not
//! followed, and what it says of itself counts only once it was recomputed.

mod archive;
mod directory;
mod export;
#[cfg(test)]
mod exported;
mod files;
mod folder;
mod lines;
mod manifest;
mod records;
#[cfg(test)]
mod tampering;
mod testimony;
mod trust;
mod witness;
mod witnessed;

#[cfg(test)]
pub(crate) use self::archive::tests::unpacked;
pub use self::{
    archive::Archive,
    directory::{OfflineError, TenantReport, verify_directory},
    export::{Asked, ExportError, ExportReport, verify_export},
    files::FileFault,
    folder::{Folder, FolderError, JoinPoint},
    manifest::{Listed, Manifest, ManifestFault},
    records::{Evidence, Extent, Records},
    trust::{Trust, TrustFault},
};
