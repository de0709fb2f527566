//! The file with the secret of our client at the provider.
//!
//! Read anew for each sign-in, so that what was replaced is used. Refused when everybody on the machine could read or
//! write it; a group may, and links are followed, because that is how such files are mounted.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use crate::identity::Secret;

const LONGEST: u64 = 4096;

/// What it holds now, without white space around it.
pub(super) async fn read(path: &Path) -> Result<Secret, String> {
    let path = path.to_owned();
    // A disk may hang; it does not hold up the runtime then.
    let read = tokio::task::spawn_blocking(move || read_now(&path)).await;
    read.unwrap_or_else(|_| Err("cannot be read".into()))
}

/// The same at once, for a start.
pub(super) fn read_now(path: &PathBuf) -> Result<Secret, String> {
    let unreadable = |error: std::io::Error| format!("{} cannot be read: {error}", path.display());
    let file = File::open(path).map_err(unreadable)?;
    let mode = file.metadata().map_err(unreadable)?.mode() & 0o7777;
    if mode & 0o007 != 0 {
        return Err(format!(
            "{} has mode {mode:04o}, which lets everybody in: run chmod 0600 on it",
            path.display()
        ));
    }
    let mut text = Zeroizing::new(String::with_capacity(LONGEST as usize));
    file.take(LONGEST).read_to_string(&mut text).map_err(unreadable)?;
    let trimmed = text.trim();
    match trimmed.is_empty() || text.len() as u64 == LONGEST {
        true => Err(format!("{} is empty or over 4 KiB", path.display())),
        false => Ok(Secret::new(trimmed.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[tokio::test]
    async fn the_secret_is_read_anew_and_not_from_a_file_that_stands_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(read(&path).await.unwrap_err().contains("cannot be read"));
        fs::write(&path, " one\n").unwrap();
        mode(0o644);
        assert!(read(&path).await.unwrap_err().contains("chmod 0600"));
        mode(0o600);
        assert_eq!(read(&path).await.unwrap().reveal(), "one");
        fs::write(&path, "two").unwrap();
        assert_eq!(read(&path).await.unwrap().reveal(), "two");
        for useless in ["\n".to_owned(), "x".repeat(5_000)] {
            fs::write(&path, useless).unwrap();
            assert!(read(&path).await.unwrap_err().contains("empty or over"));
        }
    }
}
