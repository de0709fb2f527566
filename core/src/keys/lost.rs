//! Keys that the record needs and the folder does not hold any more.
//!
//! A new root in place of a lost one would seal on in silence, and only a verification much later would tell. That a
//! loss was accepted is kept beside the keys, as `root-<id>.lost`, so that the next loss is a new one.

use std::path::{Path, PathBuf};

use super::files::{IDENTITY, is_root_id, root_path};

/// The files that are missing from `folder` for a record that was sealed with these roots.
pub(super) fn missing(folder: &Path, sealed_with: &[String]) -> Vec<String> {
    let is_missing = |id: &&String| {
        // Another text in the store is no key of ours; verifying tells of it.
        is_root_id(id) && !root_path(folder, id).exists() && !marker(folder, id).exists()
    };
    let mut missing: Vec<String> = sealed_with
        .iter()
        .filter(is_missing)
        .map(|id| format!("root-{id}.key"))
        .collect();
    if !sealed_with.is_empty() && !folder.join(IDENTITY).exists() {
        missing.push(IDENTITY.into());
    }
    missing
}

/// Tells of a root that is known to be lost.
pub(super) fn marker(folder: &Path, id: &str) -> PathBuf {
    root_path(folder, id).with_extension("lost")
}
