//! New roots and the end of old ones, beside a running gateway: it looks into the folder every second.
//!
//! Nothing here knows what a root is still needed for; whoever retires one has looked.

use std::path::Path;

use super::{
    KeyError,
    files::{self, KeyFolder},
};

/// Makes a root that is newer than every other, and gives its id. It seals and wraps as soon as the gateway sees it.
///
/// # Errors
/// When there is no folder of keys, when it cannot be used, or when no newer id can be made.
pub fn rotate_root(dir: &Path) -> Result<String, KeyError> {
    let folder = KeyFolder::open_locked(&dir.join("keys"))?;
    if folder.root_names()?.is_empty() {
        return Err(folder.no_root());
    }
    folder.create_root()
}

/// Ids of the roots in the folder, oldest first.
///
/// # Errors
/// When the folder cannot be used.
pub fn roots(dir: &Path) -> Result<Vec<String>, KeyError> {
    KeyFolder::open(&dir.join("keys"))?.root_names()
}

/// Removes a root for good. What it sealed or wrapped can never be read again; the newest root is never removed.
///
/// # Errors
/// When there is no such root, when it is the newest, or when the folder cannot be used.
pub fn retire_root(dir: &Path, id: &str) -> Result<(), KeyError> {
    let folder = KeyFolder::open_locked(&dir.join("keys"))?;
    let names = folder.root_names()?;
    let path = files::root_path(folder.path(), id);
    if !names.iter().any(|name| name == id) {
        return Err(files::damaged(&path, "is no root of this folder"));
    }
    if names.last().is_some_and(|newest| newest == id) {
        return Err(files::damaged(
            &path,
            "is the newest root and in use: rotate first, then retire it",
        ));
    }
    folder.remove(&path)
}
