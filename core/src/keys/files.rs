//! Key files on disk: made whole or not at all, and refused when anybody else could have read or written them.
//!
//! A file is written under another name, synced and renamed, so that a crash leaves no half key. While the folder is
//! open for creation it is locked, so that two processes starting at once make one root and not two.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::{
    rand::{SecureRandom, SystemRandom},
    signature::Ed25519KeyPair,
};
use rustix::fs::{FlockOperation, flock};
use ulid::Ulid;
use zeroize::Zeroizing;

use super::lost;

pub(super) const IDENTITY: &str = "gateway.ed25519";
const LONGEST_FILE: u64 = 4096;

/// Why the keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file system said no.
    #[error("cannot {doing} {path}: {source}", path = .path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others may read or write it.
    #[error("{path} has mode {mode:04o}, which lets others in: run chmod {wanted:04o} {path}", path = .path.display())]
    Mode {
        /// The folder or file.
        path: PathBuf,
        /// What it has.
        mode: u32,
        /// What it must have.
        wanted: u32,
    },
    /// It belongs to another user.
    #[error("{path} belongs to user {owner}, but the gateway runs as user {user}: run as its owner or chown it",
        path = .path.display())]
    Owner {
        /// The folder or file.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// It is not what its name says.
    #[error("{path} {what}", path = .path.display())]
    Damaged {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong and what to do.
        what: &'static str,
    },
    /// The record was sealed with keys that are not there.
    #[error(
        "{path} does not hold {missing}, which this database needs: restore the folder from its backup; without one, \
         start once with accept_lost_keys, and rows sealed with a lost root can never be verified and relays that know \
         a lost gateway.ed25519 must enrol again",
        path = .path.display())]
    Lost {
        /// The folder.
        path: PathBuf,
        /// The files that are missing.
        missing: String,
    },
    /// The system gave no random bytes.
    #[error("no random bytes to make {path} from", path = .path.display())]
    NoRandom {
        /// The key that was to be made.
        path: PathBuf,
    },
}

/// The folder of keys, checked.
pub(super) struct KeyFolder {
    path: PathBuf,
    handle: File,
}

impl KeyFolder {
    pub(super) fn open_or_create(path: &Path) -> Result<Self, KeyError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|source| failed("create", path, source))?;
        Self::open_locked(path)
    }

    /// Opens a folder that is there, and keeps others from changing it until this is dropped.
    pub(super) fn open_locked(path: &Path) -> Result<Self, KeyError> {
        let folder = Self::open(path)?;
        flock(&folder.handle, FlockOperation::LockExclusive)
            .map_err(|errno| failed("lock", path, errno.into()))?;
        Ok(folder)
    }

    pub(super) fn open(path: &Path) -> Result<Self, KeyError> {
        let metadata = fs::symlink_metadata(path).map_err(|source| failed("open", path, source))?;
        if !metadata.is_dir() {
            return Err(damaged(path, "is not a folder: move it away"));
        }
        guard(path, &metadata, 0o700)?;
        let handle = File::open(path).map_err(|source| failed("open", path, source))?;
        Ok(Self {
            path: path.to_owned(),
            handle,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Ids of the root keys, oldest first (ULIDs sort by age).
    pub(super) fn root_names(&self) -> Result<Vec<String>, KeyError> {
        self.names("root-", ".key")
    }

    /// Ids of the checkpoint keys, oldest first.
    pub(super) fn checkpoint_names(&self) -> Result<Vec<String>, KeyError> {
        self.names("checkpoint-", ".ed25519")
    }

    fn names(&self, prefix: &str, suffix: &str) -> Result<Vec<String>, KeyError> {
        let entries = fs::read_dir(&self.path).map_err(|source| failed("list", &self.path, source))?;
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| failed("list", &self.path, source))?;
            let name = entry.file_name();
            let id = name
                .to_str()
                .and_then(|name| name.strip_prefix(prefix)?.strip_suffix(suffix));
            ids.extend(id.filter(|id| is_root_id(id)).map(str::to_owned));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Makes a root and gives its id, which sorts behind every other's whatever the wall clock says.
    pub(super) fn create_root(&self) -> Result<String, KeyError> {
        let id = self.next_root_id()?;
        let path = root_path(&self.path, &id);
        let mut secret = Zeroizing::new([0; 32]);
        SystemRandom::new()
            .fill(&mut *secret)
            .map_err(|_| KeyError::NoRandom { path: path.clone() })?;
        let mut text = Zeroizing::new(String::with_capacity(65));
        HEXLOWER.encode_append(&*secret, &mut text);
        text.push('\n');
        self.write_new(&path, text.as_bytes())?;
        Ok(id)
    }

    fn next_root_id(&self) -> Result<String, KeyError> {
        let fresh = Ulid::generate();
        let newest = self
            .root_names()?
            .pop()
            .and_then(|name| Ulid::from_string(&name).ok());
        let next = match newest {
            Some(newest) if newest >= fresh => newest.increment().map_err(|_| {
                damaged(
                    &root_path(&self.path, &newest.to_string()),
                    "has the last id there is",
                )
            })?,
            _ => fresh,
        };
        Ok(next.to_string())
    }

    pub(super) fn remove(&self, path: &Path) -> Result<(), KeyError> {
        let removed = fs::remove_file(path).and_then(|()| self.handle.sync_all());
        removed.map_err(|source| failed("remove", path, source))
    }

    /// Keeps in mind that the loss of these roots was accepted.
    pub(super) fn accept_loss(&self, ids: &[String]) -> Result<(), KeyError> {
        let lost = ids
            .iter()
            .filter(|id| is_root_id(id) && !root_path(&self.path, id).exists());
        for id in lost {
            self.write_new(&lost::marker(&self.path, id), b"")?;
        }
        Ok(())
    }

    pub(super) fn root_secret(&self, id: &str) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let path = root_path(&self.path, id);
        let text = read_guarded(&path)?;
        let mut secret = Zeroizing::new([0; 32]);
        let hex = text.trim_ascii();
        let decoded = hex.len() == 64 && HEXLOWER_PERMISSIVE.decode_mut(hex, &mut *secret).is_ok();
        if decoded {
            Ok(secret)
        } else {
            Err(damaged(
                &path,
                "does not hold 64 hexadecimal digits: restore it from a backup",
            ))
        }
    }

    /// The identity's PKCS#8 document, made when there is none.
    pub(super) fn identity(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let path = self.path.join(IDENTITY);
        if !path.exists() {
            self.create_ed25519(&path)?;
        }
        read_guarded(&path)
    }

    pub(super) fn create_checkpoint_key(&self, id: &str) -> Result<(), KeyError> {
        self.create_ed25519(&checkpoint_path(&self.path, id))
    }

    pub(super) fn checkpoint_key(&self, id: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        read_guarded(&checkpoint_path(&self.path, id))
    }

    pub(super) fn damaged_checkpoint_key(&self, id: &str) -> KeyError {
        damaged(
            &checkpoint_path(&self.path, id),
            "is no Ed25519 key in PKCS#8, or not the one that signed: restore it from a backup",
        )
    }

    fn create_ed25519(&self, path: &Path) -> Result<(), KeyError> {
        let document =
            Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| KeyError::NoRandom {
                path: path.to_owned(),
            })?;
        self.write_new(path, document.as_ref())
    }

    pub(super) fn existing_identity(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        read_guarded(&self.path.join(IDENTITY))
    }

    pub(super) fn damaged_identity(&self) -> KeyError {
        damaged(
            &self.path.join(IDENTITY),
            "is no Ed25519 key in PKCS#8: restore it from a backup, or relays must enrol again",
        )
    }

    pub(super) fn no_root(&self) -> KeyError {
        damaged(&self.path, "holds no root-<id>.key: restore it from a backup")
    }

    fn write_new(&self, path: &Path, content: &[u8]) -> Result<(), KeyError> {
        let draft = path.with_extension("new");
        let written = (|| {
            // A draft left by a crash is nobody's key yet.
            match fs::remove_file(&draft) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&draft)?;
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&draft, path)?;
            self.handle.sync_all()
        })();
        written.map_err(|source| failed("write", path, source))
    }
}

pub(super) fn is_root_id(id: &str) -> bool {
    Ulid::from_string(id).is_ok_and(|ulid| ulid.to_string() == id)
}

pub(super) fn root_path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("root-{id}.key"))
}

fn checkpoint_path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("checkpoint-{id}.ed25519"))
}

fn read_guarded(path: &Path) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    // Not following a link also keeps the check and the reading on one file.
    let nofollow = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(nofollow.bits().cast_signed())
        .open(path)
        .map_err(|source| failed("open", path, source))?;
    let metadata = file
        .metadata()
        .map_err(|source| failed("inspect", path, source))?;
    if !metadata.is_file() || metadata.len() > LONGEST_FILE {
        return Err(damaged(path, "is no key file: restore it from a backup"));
    }
    guard(path, &metadata, 0o600)?;
    let mut content = Zeroizing::new(Vec::with_capacity(LONGEST_FILE as usize));
    Read::by_ref(&mut file)
        .take(LONGEST_FILE)
        .read_to_end(&mut content)
        .map_err(|source| failed("read", path, source))?;
    Ok(content)
}

fn guard(path: &Path, metadata: &fs::Metadata, wanted: u32) -> Result<(), KeyError> {
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(KeyError::Owner {
            path: path.to_owned(),
            owner: metadata.uid(),
            user,
        });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Mode {
            path: path.to_owned(),
            mode,
            wanted,
        });
    }
    Ok(())
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> KeyError {
    KeyError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}

pub(super) fn damaged(path: &Path, what: &'static str) -> KeyError {
    KeyError::Damaged {
        path: path.to_owned(),
        what,
    }
}
