//! The files of checkpoint keys, checked like every other key file. What they are good for is the anchor's matter.

use std::path::Path;

use zeroize::Zeroizing;

use super::{KeyError, files::KeyFolder};

/// The checkpoint keys of a data directory. Locked while it is open, so that two processes never make a key at once.
pub(crate) struct CheckpointKeyFiles(KeyFolder);

impl CheckpointKeyFiles {
    /// Opens `dir/keys`, which is made when it is not there.
    pub(crate) fn open(dir: &Path) -> Result<Self, KeyError> {
        KeyFolder::open_or_create(&dir.join("keys")).map(Self)
    }

    /// Id of the newest key, for a look that makes and locks nothing.
    pub(crate) fn newest(dir: &Path) -> Result<Option<String>, KeyError> {
        Ok(KeyFolder::open(&dir.join("keys"))?.checkpoint_names()?.pop())
    }

    /// Ids of the keys, oldest first.
    pub(crate) fn ids(&self) -> Result<Vec<String>, KeyError> {
        self.0.checkpoint_names()
    }

    /// The PKCS#8 document of one.
    pub(crate) fn read(&self, id: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        self.0.checkpoint_key(id)
    }

    /// Makes one.
    pub(crate) fn create(&self, id: &str) -> Result<(), KeyError> {
        self.0.create_checkpoint_key(id)
    }

    /// What to say of one that holds no key.
    pub(crate) fn damaged(&self, id: &str) -> KeyError {
        self.0.damaged_checkpoint_key(id)
    }
}
