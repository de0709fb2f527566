//! `DIR/address`: where the gateway of a data directory listens, for client commands on the same machine.
//!
//! Written by the process that serves HTTP and removed when it stops. It counts only while a gateway holds the
//! directory's lock, so what a crash leaves behind misleads nobody.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    net::SocketAddr,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::serve::owner;

const NAME: &str = "address";
const LONGEST: u64 = 16 * 1024;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Address {
    /// URL of REST, SSE and uplinks, as this machine can dial it.
    pub(crate) http: String,
    /// URL of gRPC, where the same process serves it.
    pub(crate) grpc: Option<String>,
    /// The certificate of both, where TLS ends here.
    pub(crate) certificate: Option<PathBuf>,
}

/// A written file; removed with it.
#[derive(Debug)]
pub(crate) struct Published {
    path: PathBuf,
    text: String,
}

/// The address of the gateway that runs in this directory.
pub(crate) fn read(dir: &Path) -> Option<Address> {
    let file = File::open(dir.join(NAME)).ok()?;
    // Our credential will be sent there, so the file must be of somebody who may have it.
    let owner = file.metadata().ok()?.uid();
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    let address = serde_json::from_str(&text).ok()?;
    // Last, since it takes the lock for a moment.
    owner::runs_in(dir).then_some(address)
}

/// The socket behind a URL of this file.
pub(crate) fn socket(url: &str) -> Option<SocketAddr> {
    url.split_once("://")?.1.parse().ok()
}

impl Address {
    /// Writes it where clients find it. Without it they look at the default address, so a failure is a warning only.
    pub(crate) fn publish(&self, dir: &Path) -> Option<Published> {
        let path = dir.join(NAME);
        // A facade in front of a core that runs elsewhere has no data directory.
        if !dir.is_dir() {
            return None;
        }
        let text = serde_json::to_string(self).ok()? + "\n";
        match write(&path, &text) {
            Ok(()) => Some(Published { path, text }),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "client commands will not find this gateway by its directory");
                None
            }
        }
    }
}

// Whole or not at all, and never through a link that lies there.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let partial = path.with_extension("partial");
    drop(fs::remove_file(&partial));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&partial)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&partial, path)
}

impl Drop for Published {
    fn drop(&mut self) {
        // Another process may have written its own since.
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            drop(fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::{FlockOperation, flock};

    use super::*;

    fn address() -> Address {
        Address {
            http: "http://127.0.0.1:17600".into(),
            grpc: Some("http://127.0.0.1:17601".into()),
            certificate: None,
        }
    }

    fn locked(dir: &Path) -> File {
        let lock = File::create(dir.join("lock")).unwrap();
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        lock
    }

    #[test]
    fn the_address_is_found_while_the_gateway_runs_and_gone_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        let published = address().publish(dir.path()).unwrap();
        let mode = fs::metadata(dir.path().join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(read(dir.path()), Some(address()));
        drop(published);
        assert_eq!(read(dir.path()), None);
        assert!(!dir.path().join(NAME).exists());
        drop(lock);
    }

    #[test]
    fn what_a_crash_left_behind_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let lock = locked(dir.path());
        std::mem::forget(address().publish(dir.path()));
        drop(lock);
        assert_eq!(read(dir.path()), None);
    }

    #[test]
    fn an_address_that_another_process_wrote_since_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let _lock = locked(dir.path());
        let first = address().publish(dir.path());
        let other = Address {
            http: "http://127.0.0.1:1".into(),
            ..address()
        };
        let _second = other.publish(dir.path());
        drop(first);
        assert_eq!(read(dir.path()), Some(other));
    }

    #[test]
    fn without_a_directory_nothing_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let none = dir.path().join("none");
        assert!(address().publish(&none).is_none());
        assert!(!none.exists());
    }

    #[test]
    fn a_file_that_says_something_else_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let _lock = locked(dir.path());
        for text in ["", "http://127.0.0.1:1", "{}", "[1]"] {
            fs::write(dir.path().join(NAME), text).unwrap();
            assert_eq!(read(dir.path()), None, "{text}");
        }
    }
}
