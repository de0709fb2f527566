//! The lock of a state directory: one relay runs on it at a time.
//!
//! Two of them would take turns at the gateway, which then takes the key for a copied one and locks the host. The lock
//! is the kernel's, so it goes with its process, however that ends.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

const LOCK: &str = "lock";

/// Why a state directory is not ours now.
#[derive(Debug)]
pub(crate) enum HoldError {
    /// Another relay runs on it.
    InUse {
        /// Its process id, or `unknown`.
        pid: String,
    },
    /// It cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for HoldError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A state directory held by this process until this is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    _lock: File,
}

impl Hold {
    pub(crate) fn of(dir: &Path) -> Result<Self, HoldError> {
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(dir.join(LOCK))?;
        match rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                return Err(HoldError::InUse {
                    pid: holder(&mut lock)?,
                });
            }
            Err(error) => return Err(HoldError::Io(error.into())),
        }
        lock.set_len(0)?;
        lock.rewind()?;
        write!(lock, "{}", std::process::id())?;
        Ok(Self { _lock: lock })
    }
}

fn holder(lock: &mut File) -> io::Result<String> {
    let mut pid = String::new();
    // A process id has at most ten digits; whatever else stands there is no id.
    lock.take(32).read_to_string(&mut pid)?;
    let pid = pid.trim();
    let is_id = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    Ok(if is_id { pid } else { "unknown" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_one_relay_at_a_time_and_says_whose_it_is() {
        let dir = tempfile::tempdir().expect("a directory");
        let first = Hold::of(dir.path()).expect("free");
        match Hold::of(dir.path()) {
            Err(HoldError::InUse { pid }) => assert_eq!(pid, std::process::id().to_string()),
            other => panic!("{other:?}"),
        }
        drop(first);
        Hold::of(dir.path()).expect("free again");
    }

    #[test]
    fn a_lock_left_by_a_process_that_is_gone_holds_nobody_off() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join(LOCK), "4194304").expect("writes");
        Hold::of(dir.path()).expect("free");
        let told = std::fs::read_to_string(dir.path().join(LOCK)).expect("reads");
        assert_eq!(told, std::process::id().to_string());
    }
}
