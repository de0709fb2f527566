//! `admin-token` in the data directory: the first admin's token, for its owner alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use crate::identity::Secret;

const NAME: &str = "admin-token";
const DRAFT: &str = ".admin-token.new";

/// Writes the file whole or not at all: 0600 from its first byte, durable when this returns.
pub(super) fn write(dir: &Path, token: &Secret) -> io::Result<()> {
    let draft = dir.join(DRAFT);
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    writeln!(file, "{}", token.reveal())?;
    file.sync_all()?;
    fs::rename(&draft, dir.join(NAME))?;
    File::open(dir)?.sync_all()
}

/// Closes the file to others where it stands open to them. Whoever could read it may have done so: that is said.
pub(super) fn close_to_others(dir: &Path) -> io::Result<()> {
    let path = dir.join(NAME);
    let found = match fs::metadata(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if found.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    tracing::warn!(
        path = %path.display(),
        "the admin token stood open to other users of this machine and is closed now; if one of them may have read it, make a new token and revoke this one"
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
}
