//! The public halves: a list in which every key vouches for the next.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use ring::signature::{ED25519, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use super::CheckpointKey;
use crate::anchor::{
    CheckpointFault,
    line::{self, Parts},
};

const DOMAIN: &str = "toolgate/checkpoint-key/v1";
const KIND: &str = "key";
const ORIGIN: &str = "toolgate/";
/// A key that was replaced may still have been in use for so long: the keeper picks up a new one at its next round, and
/// a round may be an hour away.
const GRACE_US: i64 = 2 * 3600 * 1_000_000;
/// More keys than a daily rotation makes in ten years.
const MOST_KEYS: usize = 4096;

/// A public checkpoint key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// Its id.
    pub id: String,
    /// The key.
    pub key: [u8; 32],
    signed_by: String,
    signature: [u8; 64],
}

/// The public keys of one record, the first one first. Holds at least one, and each is vouched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKeys {
    origin: String,
    keys: Vec<PublicKey>,
}

/// What an auditor pins: the first key of a record. Written `<id>:<public key in hexadecimal>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRoot {
    /// Its id.
    pub id: String,
    /// The key.
    pub key: [u8; 32],
}

/// Why public keys are not accepted.
#[derive(Debug, thiserror::Error)]
pub enum PublicKeysError {
    /// They cannot be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There are none.
    #[error("there is no public checkpoint key in it")]
    Empty,
    /// One of them is not what the one before vouched for.
    #[error("public checkpoint key {number} is not accepted: {what}")]
    Key {
        /// Which one, from 1.
        number: usize,
        /// Why.
        what: &'static str,
    },
    /// They begin with another key than the pinned one.
    #[error("the first public checkpoint key is {found}, and {pinned} is the one to trust")]
    Unpinned {
        /// What they begin with.
        found: Box<TrustRoot>,
        /// What they must begin with.
        pinned: Box<TrustRoot>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wire {
    r#type: String,
    v: u8,
    origin: String,
    number: i64,
    key_id: String,
    public_key: String,
    signed_by: String,
    signature: String,
}

impl PublicKeys {
    /// The keys that begin with this one.
    #[must_use]
    pub(in crate::anchor) fn beginning_with(first: &CheckpointKey) -> Self {
        let mut keys = Self {
            origin: first.origin().to_owned(),
            keys: Vec::new(),
        };
        keys.add(first, first);
        keys
    }

    /// Reads `keys.ndjson`.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or holds a key that the one before it does not vouch for.
    pub fn read(path: &Path) -> Result<Self, PublicKeysError> {
        let failed = |source| PublicKeysError::Io {
            path: path.to_owned(),
            source,
        };
        // A longer file than any of ours is not read to its end.
        let mut text = String::new();
        let longest = (MOST_KEYS * line::LONGEST) as u64;
        let file = std::fs::File::open(path).map_err(failed)?;
        io::Read::read_to_string(&mut io::Read::take(file, longest), &mut text).map_err(failed)?;
        Self::parse(&text)
    }

    /// Reads the lines of public keys.
    ///
    /// # Errors
    /// As [`PublicKeys::read`].
    pub fn parse(text: &str) -> Result<Self, PublicKeysError> {
        let mut lines = text.lines();
        let first = lines.next().ok_or(PublicKeysError::Empty)?;
        let wrong = |number, what| PublicKeysError::Key { number, what };
        let (origin, key) = PublicKey::parse(first, 1).map_err(|what| wrong(1, what))?;
        if origin != origin_of(&key.id) || key.signed_by != key.id {
            return Err(wrong(1, "it is not the first key of a record"));
        }
        let mut keys = Self {
            origin,
            keys: Vec::new(),
        };
        keys.accept(key.clone(), &key).map_err(|what| wrong(1, what))?;
        for text in lines {
            let number = keys.keys.len() + 1;
            let (origin, key) = PublicKey::parse(text, number).map_err(|what| wrong(number, what))?;
            if origin != keys.origin {
                return Err(wrong(number, "it belongs to another record"));
            }
            let before = keys.newest().clone();
            keys.accept(key, &before).map_err(|what| wrong(number, what))?;
        }
        Ok(keys)
    }

    /// The same keys, when they begin with the pinned one.
    ///
    /// # Errors
    /// When they do not.
    pub fn pinned_to(self, pinned: &TrustRoot) -> Result<Self, PublicKeysError> {
        let found = self.trust_root();
        if found == *pinned {
            return Ok(self);
        }
        Err(PublicKeysError::Unpinned {
            found: Box::new(found),
            pinned: Box::new(pinned.clone()),
        })
    }

    /// The name of the record they belong to.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The first key, which vouches for all others.
    #[must_use]
    pub fn trust_root(&self) -> TrustRoot {
        let first = self.keys.first().unwrap_or_else(|| self.newest());
        TrustRoot {
            id: first.id.clone(),
            key: first.key,
        }
    }

    /// All of them, the first one first.
    #[must_use]
    pub fn keys(&self) -> &[PublicKey] {
        &self.keys
    }

    /// The lines of `keys.ndjson`, each without its end.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.keys
            .iter()
            .enumerate()
            .map(|(index, key)| key.to_line(&self.origin, index + 1))
    }

    /// The key that signs now.
    pub(super) fn newest(&self) -> &PublicKey {
        // There is always one: both constructors put it there.
        &self.keys[self.keys.len() - 1]
    }

    /// Adds `key`, for which `by` vouches.
    pub(super) fn add(&mut self, key: &CheckpointKey, by: &CheckpointKey) {
        let number = self.keys.len() + 1;
        let mut added = PublicKey {
            id: key.id().to_owned(),
            key: key.public_key(),
            signed_by: by.id().to_owned(),
            signature: [0; 64],
        };
        added.signature = by.sign(&added.signed_bytes(&self.origin, number));
        self.keys.push(added);
    }

    /// Says whether a key of ours made `signature`, at a time when it was in use.
    pub(in crate::anchor) fn check(
        &self,
        origin: &str,
        key_id: &str,
        time_us: i64,
        signed: &[u8],
        signature: &[u8; 64],
    ) -> Result<(), CheckpointFault> {
        if origin != self.origin {
            return Err(CheckpointFault::Origin {
                found: origin.to_owned(),
                expected: self.origin.clone(),
            });
        }
        let place = self.keys.iter().rposition(|key| key.id == key_id);
        let place = place.ok_or_else(|| CheckpointFault::UnknownKey(key_id.to_owned()))?;
        if !self.keys[place].verifies(signed, signature) {
            return Err(CheckpointFault::Signature);
        }
        let replaced_us = self.keys.get(place + 1).map(|next| born_us(&next.id));
        if replaced_us.is_some_and(|replaced| time_us > replaced.saturating_add(GRACE_US)) {
            return Err(CheckpointFault::RetiredKey(key_id.to_owned()));
        }
        Ok(())
    }

    fn accept(&mut self, key: PublicKey, by: &PublicKey) -> Result<(), &'static str> {
        let number = self.keys.len() + 1;
        if number > MOST_KEYS {
            return Err("there are too many");
        }
        if key.signed_by != by.id {
            return Err("it is not signed by the key before it");
        }
        if number > 1 && key.id <= by.id {
            return Err("it is older than the key before it");
        }
        if !by.verifies(&key.signed_bytes(&self.origin, number), &key.signature) {
            return Err("its signature does not hold");
        }
        self.keys.push(key);
        Ok(())
    }
}

impl PublicKey {
    /// When it was made, microseconds UTC, as its id tells.
    #[must_use]
    pub fn made_us(&self) -> i64 {
        born_us(&self.id)
    }

    /// The key in hexadecimal.
    #[must_use]
    pub fn hex(&self) -> String {
        line::hex(&self.key)
    }

    fn parse(text: &str, number: usize) -> Result<(String, Self), &'static str> {
        const MALFORMED: &str = "its line is not as a gateway writes it";
        let wire: Wire = line::read(text).ok_or(MALFORMED)?;
        let sound = wire.r#type == KIND && wire.v == 1 && is_key_id(&wire.key_id);
        let key = Self {
            key: line::from_hex(&wire.public_key).ok_or(MALFORMED)?,
            signature: line::from_base64(&wire.signature).ok_or(MALFORMED)?,
            id: wire.key_id,
            signed_by: wire.signed_by,
        };
        if sound && key.to_line(&wire.origin, number) == text {
            Ok((wire.origin, key))
        } else {
            Err(MALFORMED)
        }
    }

    fn to_line(&self, origin: &str, number: usize) -> String {
        line::write(&Wire {
            r#type: KIND.into(),
            v: 1,
            origin: origin.to_owned(),
            number: as_number(number),
            key_id: self.id.clone(),
            public_key: line::hex(&self.key),
            signed_by: self.signed_by.clone(),
            signature: line::base64(&self.signature),
        })
    }

    fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.key)
            .verify(message, signature)
            .is_ok()
    }

    fn signed_bytes(&self, origin: &str, number: usize) -> Vec<u8> {
        Parts::of(DOMAIN)
            .text(origin)
            .number(as_number(number))
            .text(&self.id)
            .bytes(&self.key)
            .text(&self.signed_by)
            .finish()
    }
}

impl fmt::Display for TrustRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.id, line::hex(&self.key))
    }
}

impl FromStr for TrustRoot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str =
            "not a checkpoint key: write it as `toolgate keys show` prints it, <id>:<64 digits>";
        let (id, key) = text.split_once(':').ok_or(WRONG)?;
        if !is_key_id(id) {
            return Err(WRONG);
        }
        let key = line::from_hex(&key.to_ascii_lowercase()).ok_or(WRONG)?;
        Ok(Self {
            id: id.to_owned(),
            key,
        })
    }
}

/// The name of the record whose first key has this id.
pub(super) fn origin_of(first_key: &str) -> String {
    format!("{ORIGIN}{first_key}")
}

pub(super) fn is_key_id(id: &str) -> bool {
    Ulid::from_string(id).is_ok_and(|ulid| ulid.to_string() == id)
}

/// When the key of this id was made, microseconds UTC.
fn born_us(id: &str) -> i64 {
    let ms = Ulid::from_string(id).map_or(0, |ulid| ulid.timestamp_ms());
    i64::try_from(ms).unwrap_or(i64::MAX).saturating_mul(1_000)
}

// There are a few thousand keys at the most.
fn as_number(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
