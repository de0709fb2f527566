//! The private halves in the data directory, and bringing the list of public ones up to them.
//!
//! A rotation is a new private key beside the others; its public half joins the list, signed by the key before it, when
//! the list is next opened. So a crash between the two is mended at the next round, and instances that share `keys/`
//! find each other's.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use ring::rand::{SecureRandom, SystemRandom};
use ulid::Ulid;

use super::{
    CheckpointKey,
    public::{PublicKeys, PublicKeysError, origin_of},
};
use crate::{
    anchor::files::{Lines, day_files},
    clock::Clock,
    keys::{CheckpointKeyFiles, KeyError},
};

/// The folder of checkpoint files in a data directory.
pub(in crate::anchor) const FOLDER: &str = "checkpoints";
/// The list of public keys in it.
pub(in crate::anchor) const LIST: &str = "keys.ndjson";

/// Why checkpoints cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum SigningKeysError {
    /// A private key.
    #[error(transparent)]
    Private(#[from] KeyError),
    /// The list of public keys.
    #[error("{path} is not accepted: {source}", path = .path.display())]
    Public {
        /// The list.
        path: PathBuf,
        /// Why.
        source: PublicKeysError,
    },
    /// The file system said no.
    #[error("cannot write {path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Nothing was ever signed here.
    #[error("there is no {path}: name the data directory of a gateway that was started once", path = .0.display())]
    None(PathBuf),
    /// The key that the list ends with is not there.
    #[error(
        "keys/checkpoint-{id}.ed25519 is not there, and the checkpoints need it: restore the keys folder from its \
         backup; without one, start once with accept_lost_keys, which sets {path} aside and begins with a new trust \
         root that auditors must pin anew",
        path = .path.display())]
    Lost {
        /// The missing key.
        id: String,
        /// The folder of checkpoints.
        path: PathBuf,
    },
}

/// What signs, and what vouches for it.
#[derive(Debug)]
pub struct SigningKeys {
    newest: CheckpointKey,
    public: PublicKeys,
}

impl SigningKeys {
    /// Opens the keys of a data directory, makes the first one where there is none, and adds to the list what a rotation
    /// made since.
    ///
    /// # Errors
    /// When a file is not as it should be, or the key that signed last is gone and its loss is not accepted.
    pub fn open(data_dir: &Path, clock: &Clock, accept_lost: bool) -> Result<Self, SigningKeysError> {
        let files = CheckpointKeyFiles::open(data_dir)?;
        let folder = data_dir.join(FOLDER);
        make_folder(&folder)?;
        if let Some(lost) = lost(&files, &folder)? {
            if !accept_lost {
                return Err(SigningKeysError::Lost {
                    id: lost,
                    path: folder,
                });
            }
            set_aside(&folder, &lost)?;
        }
        Self::open_in(&files, &folder, clock)
    }

    /// Makes a new key, which signs from the keeper's next round on. Gives what it signs with from then on.
    ///
    /// # Errors
    /// As [`SigningKeys::open`]. Where the new key exists and the list could not be written, the next open adds it.
    pub fn rotate(data_dir: &Path, clock: &Clock) -> Result<Self, SigningKeysError> {
        let folder = data_dir.join(FOLDER);
        if !folder.exists() {
            return Err(SigningKeysError::None(folder));
        }
        let before = Self::open(data_dir, clock, false)?;
        let files = CheckpointKeyFiles::open(data_dir)?;
        let id = new_id(clock, Some(before.newest.id())).ok_or_else(|| files.damaged("new"))?;
        files.create(&id)?;
        Self::open_in(&files, &data_dir.join(FOLDER), clock)
    }

    /// The keys once more, when there is a newer one than in `in_use`.
    pub(in crate::anchor) fn newer(
        data_dir: &Path,
        clock: &Clock,
        in_use: &Self,
    ) -> Result<Option<Self>, SigningKeysError> {
        let newest = CheckpointKeyFiles::newest(data_dir)?;
        if newest.is_none_or(|newest| newest.as_str() <= in_use.newest.id()) {
            return Ok(None);
        }
        let files = CheckpointKeyFiles::open(data_dir)?;
        Self::open_in(&files, &data_dir.join(FOLDER), clock).map(Some)
    }

    /// The key that signs.
    #[must_use]
    pub fn newest(&self) -> &CheckpointKey {
        &self.newest
    }

    /// The public halves.
    #[must_use]
    pub fn public(&self) -> &PublicKeys {
        &self.public
    }

    fn open_in(files: &CheckpointKeyFiles, folder: &Path, clock: &Clock) -> Result<Self, SigningKeysError> {
        let listed = listed(folder)?;
        let mut ids = files.ids()?;
        if ids.is_empty() {
            let id = new_id(clock, None).ok_or_else(|| files.damaged("new"))?;
            files.create(&id)?;
            ids.push(id);
        }
        let mut public = match &listed {
            Some(listed) => listed.clone(),
            None => {
                let oldest = &ids[0];
                PublicKeys::beginning_with(&private(files, oldest, &origin_of(oldest))?)
            }
        };
        let mut newest = private(files, &public.newest().id, public.origin())?;
        if newest.public_key() != public.newest().key {
            return Err(files.damaged(newest.id()).into());
        }
        for id in ids
            .iter()
            .filter(|id| *id.as_str() > *public.newest().id.as_str())
            .cloned()
            .collect::<Vec<_>>()
        {
            let next = private(files, &id, public.origin())?;
            public.add(&next, &newest);
            newest = next;
        }
        if listed.is_none() {
            tracing::info!(trust_root = %public.trust_root(), "the first checkpoint key of this record; auditors pin it");
        }
        if listed.as_ref() != Some(&public) || !folder.join(LIST).exists() {
            write_list(folder, &public)?;
        }
        Ok(Self { newest, public })
    }
}

fn listed(folder: &Path) -> Result<Option<PublicKeys>, SigningKeysError> {
    let path = folder.join(LIST);
    let read = match path.exists() {
        true => PublicKeys::read(&path).map(Some),
        // Every file of checkpoints begins with the list, so that another trust root never begins in silence.
        false => match told_keys(folder) {
            Some(lines) => {
                tracing::warn!(path = %path.display(), "the list of public checkpoint keys is gone, and is read from the newest checkpoints");
                PublicKeys::parse(&lines).map(Some)
            }
            None => Ok(None),
        },
    };
    read.map_err(|source| SigningKeysError::Public { path, source })
}

/// The key lines of the newest file of checkpoints; `None` where there is no file.
fn told_keys(folder: &Path) -> Option<String> {
    let newest = day_files(folder).ok()?.pop()?;
    let mut lines = Lines::of_files(folder, vec![newest]).ok()?;
    let mut keys = String::new();
    while let Ok(Some(found)) = lines.next() {
        if found.text().starts_with("{\"type\":\"key\"") {
            keys.push_str(found.text());
            keys.push('\n');
        }
    }
    Some(keys)
}

/// The key that the list ends with, where its private half is gone.
fn lost(files: &CheckpointKeyFiles, folder: &Path) -> Result<Option<String>, SigningKeysError> {
    let Some(listed) = listed(folder)? else {
        return Ok(None);
    };
    let last = listed.newest().id.clone();
    let there = files.ids()?.contains(&last);
    Ok((!there).then_some(last))
}

fn set_aside(folder: &Path, lost: &str) -> Result<(), SigningKeysError> {
    let aside = folder.with_file_name(format!("{FOLDER}.lost-{lost}"));
    tracing::warn!(aside = %aside.display(), "the checkpoint key is lost; a new trust root begins, as it was told to");
    fs::rename(folder, &aside).map_err(|source| SigningKeysError::Io { path: aside, source })?;
    make_folder(folder)
}

fn private(files: &CheckpointKeyFiles, id: &str, origin: &str) -> Result<CheckpointKey, SigningKeysError> {
    let document = files.read(id)?;
    CheckpointKey::from_pkcs8(id, origin, &document).ok_or_else(|| files.damaged(id).into())
}

/// A new id, later than `after` whatever the clock says.
fn new_id(clock: &Clock, after: Option<&str>) -> Option<String> {
    let mut random = [0; 16];
    SystemRandom::new().fill(&mut random).ok()?;
    let now = u64::try_from(clock.wall_us() / 1_000).unwrap_or(0);
    let after = after.and_then(|id| Ulid::from_string(id).ok());
    let ms = after.map_or(now, |after| now.max(after.timestamp_ms().saturating_add(1)));
    Some(Ulid::from_parts(ms, u128::from_be_bytes(random)).to_string())
}

fn make_folder(path: &Path) -> Result<(), SigningKeysError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| SigningKeysError::Io {
        path: path.to_owned(),
        source,
    })
}

/// Whole or not at all.
fn write_list(folder: &Path, public: &PublicKeys) -> Result<(), SigningKeysError> {
    let (path, draft) = (folder.join(LIST), folder.join("keys.new"));
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&draft)?;
        for line in public.lines() {
            writeln!(file, "{line}")?;
        }
        file.sync_all()?;
        fs::rename(&draft, &path)?;
        File::open(folder)?.sync_all()
    })();
    written.map_err(|source| SigningKeysError::Io { path, source })
}
