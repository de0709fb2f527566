//! What an auditor pins: the first checkpoint key of a record, as text or as a list of keys that was kept.

use std::{path::Path, str::FromStr};

use data_encoding::HEXLOWER_PERMISSIVE;

use super::files;
use crate::anchor::{PublicKeys, PublicKeysError, TrustRoot};

const LONGEST: u64 = 16 * 1024 * 1024;

/// The key that everything must lead back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The first key, with its id.
    Root(TrustRoot),
    /// The first key alone.
    Key([u8; 32]),
}

/// Why nothing can be pinned.
#[derive(Debug, thiserror::Error)]
pub enum TrustFault {
    /// Neither a key nor a file that holds one.
    #[error(
        "{0} is neither a checkpoint key, written <id>:<64 hexadecimal digits> or as the digits alone, nor a file that \
         begins with one"
    )]
    NoKey(String),
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] super::FileFault),
    /// The list in the file is not accepted.
    #[error("{path}: {source}")]
    List {
        /// The file.
        path: String,
        /// Why.
        source: PublicKeysError,
    },
}

impl Trust {
    /// Reads a key, or the file of this name: a `keys.ndjson`, or a file with a key in it.
    ///
    /// # Errors
    /// When it is neither.
    pub fn read(text: &str) -> Result<Self, TrustFault> {
        if let Ok(trust) = text.parse() {
            return Ok(trust);
        }
        let path = Path::new(text);
        if !path.exists() {
            return Err(TrustFault::NoKey(text.into()));
        }
        let content = files::read(path, LONGEST)?;
        let content = String::from_utf8_lossy(&content);
        if content.starts_with('{') {
            let keys = PublicKeys::parse(&content).map_err(|source| TrustFault::List {
                path: text.into(),
                source,
            })?;
            return Ok(Self::Root(keys.trust_root()));
        }
        content
            .trim()
            .parse()
            .map_err(|()| TrustFault::NoKey(text.into()))
    }

    /// Whether `keys` begin with the pinned one.
    #[must_use]
    pub fn holds(&self, keys: &PublicKeys) -> bool {
        match self {
            Self::Root(root) => keys.trust_root() == *root,
            Self::Key(key) => keys.trust_root().key == *key,
        }
    }
}

impl FromStr for Trust {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Ok(root) = text.parse() {
            return Ok(Self::Root(root));
        }
        let key = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| ())?;
        key.try_into().map(Self::Key).map_err(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_text_or_from_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let hex = "ab".repeat(32);
        let key = Trust::Key([0xab; 32]);
        assert_eq!(Trust::read(&hex).unwrap(), key);
        let file = dir.path().join("pinned");
        std::fs::write(&file, format!("{hex}\n")).unwrap();
        assert_eq!(Trust::read(file.to_str().unwrap()).unwrap(), key);
        let rooted = Trust::read(&format!("01ARZ3NDEKTSV4RRFFQ69G5FAV:{hex}")).unwrap();
        assert!(matches!(rooted, Trust::Root(root) if root.key == [0xab; 32]));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pinned");
        for (content, expected) in [("no key", "neither"), ("{\"type\":\"key\"}\n", "not accepted")] {
            std::fs::write(&file, content).unwrap();
            let refused = Trust::read(file.to_str().unwrap()).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        for text in ["", "abcd", "/no/such/file"] {
            assert!(matches!(Trust::read(text), Err(TrustFault::NoKey(_))), "{text}");
        }
    }
}
