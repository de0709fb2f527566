//! A file with a credential of the gateway's own, such as a token that an agent beside it renews.
//!
//! Read anew each time, so that what was renewed is used. Refused when everybody on the machine could read or write it;
//! a group may, and links are followed, because that is how such files are mounted.

use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::MetadataExt,
    path::PathBuf,
};

use zeroize::Zeroizing;

use crate::secrets::{Fault, SetupError};

const LONGEST: usize = 64 * 1024;

/// A credential file.
#[derive(Debug, Clone)]
pub struct SecretFile {
    key: &'static str,
    path: PathBuf,
}

impl SecretFile {
    /// The file at `path`, which the setting `key` names.
    ///
    /// # Errors
    /// When it cannot be read now, is empty, or stands open to everybody.
    pub fn new(key: &'static str, path: PathBuf) -> Result<Self, SetupError> {
        let file = Self { key, path };
        match file.try_read() {
            Ok(_) => Ok(file),
            Err(what) => Err(SetupError::File {
                key,
                path: file.path,
                what,
            }),
        }
    }

    /// What it holds now, without white space around it.
    pub(in crate::secrets) async fn read(&self) -> Result<Zeroizing<String>, Fault> {
        let file = self.clone();
        // A disk may hang; the caller's deadline does not wait for it then.
        let read = tokio::task::spawn_blocking(move || file.try_read()).await;
        match read {
            Ok(Ok(text)) => Ok(text),
            Ok(Err(what)) => {
                tracing::warn!(key = self.key, path = %self.path.display(), %what, "a credential file cannot be used");
                Err(Fault::Denied)
            }
            Err(_) => Err(Fault::Unavailable),
        }
    }

    fn try_read(&self) -> Result<Zeroizing<String>, String> {
        let metadata = fs::metadata(&self.path).map_err(|error| format!("cannot be read: {error}"))?;
        let mode = metadata.mode() & 0o7777;
        if mode & 0o007 != 0 {
            return Err(format!(
                "has mode {mode:04o}, which lets everybody in: run chmod o-rwx on it"
            ));
        }
        if !metadata.is_file() {
            return Err("is no file".into());
        }
        let mut text = Zeroizing::new(String::with_capacity(LONGEST));
        File::open(&self.path)
            .and_then(|file| file.take(LONGEST as u64).read_to_string(&mut text))
            .map_err(|error| format!("cannot be read: {error}"))?;
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.len() == LONGEST {
            return Err("is empty or over 64 KiB".into());
        }
        Ok(Zeroizing::new(trimmed.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[tokio::test]
    async fn a_file_is_read_anew_and_refused_when_it_stands_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(SecretFile::new("k", path.clone()).is_err(), "not there");
        fs::write(&path, " one\n").unwrap();
        mode(0o604);
        let told = SecretFile::new("k", path.clone()).unwrap_err().to_string();
        assert!(
            told.starts_with("k: ") && told.contains("0604") && told.contains("chmod"),
            "{told}"
        );
        mode(0o640);
        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        let file = SecretFile::new("k", link).unwrap();
        assert_eq!(file.read().await.unwrap().as_str(), "one");
        fs::write(&path, "two").unwrap();
        assert_eq!(file.read().await.unwrap().as_str(), "two");
        mode(0o644);
        assert_eq!(file.read().await.unwrap_err(), Fault::Denied);
        mode(0o600);
        fs::write(&path, "\n").unwrap();
        assert_eq!(file.read().await.unwrap_err(), Fault::Denied);
    }
}
