//! `admin-token` in the data directory: the first admin's token, for its owner alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
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
