//! Who this relay is, and whom it believes: the key made on this host, and the pinned gateway.
//!
//! Kept in the state directory, readable by its owner only; a directory or key that others can read is refused. The
//! enrolment token itself is never written, only a hash by which an already redeemed one is recognised.

mod hold;

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use data_encoding::HEXLOWER;
use ring::{
    digest,
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair},
};
use serde::{Deserialize, Serialize};
use toolgate_contract::{
    enrolment::EnrolmentToken,
    frame::{Octets, PublicKey},
};
use zeroize::Zeroizing;

use self::hold::Hold;
pub(crate) use self::hold::HoldError;

const KEY: &str = "relay.ed25519";
const RECORD: &str = "relay.json";

/// Whether a relay has enrolled from this state directory before. Whether its key still counts is the gateway's to say.
#[must_use]
pub fn has_identity(state_dir: &Path) -> bool {
    state_dir.join(KEY).is_file() && state_dir.join(RECORD).is_file()
}

/// What is known once the relay has enrolled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Enrolled {
    pub(crate) tenant: String,
    pub(crate) relay: String,
    /// The pinned gateway; a second one while the gateway changes its key.
    pub(crate) gateway_keys: Vec<PublicKey>,
    /// Hash of the token that was redeemed.
    token: String,
}

/// The private key of this relay.
pub(crate) struct Key {
    pair: Ed25519KeyPair,
}

impl Key {
    pub(crate) fn public(&self) -> PublicKey {
        // Ed25519 public keys have 32 bytes.
        Octets(self.pair.public_key().as_ref().try_into().unwrap_or([0; 32]))
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        // Ed25519 signatures have 64 bytes.
        self.pair.sign(bytes).as_ref().try_into().unwrap_or([0; 64])
    }

    fn from_pkcs8(bytes: &[u8]) -> io::Result<Self> {
        let pair =
            Ed25519KeyPair::from_pkcs8(bytes).map_err(|_| io::Error::other("it holds no Ed25519 key"))?;
        Ok(Self { pair })
    }

    #[cfg(test)]
    pub(crate) fn for_test() -> Self {
        let bytes = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("random");
        Self::from_pkcs8(bytes.as_ref()).expect("a key")
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({}, ***)", self.public())
    }
}

/// The state directory, held by this process.
#[derive(Debug)]
pub(crate) struct Keeper {
    dir: PathBuf,
    _hold: Hold,
}

impl Keeper {
    pub(crate) fn open(dir: &Path) -> Result<Self, HoldError> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        own(dir)?;
        Ok(Self {
            dir: dir.to_owned(),
            _hold: Hold::of(dir)?,
        })
    }

    /// What an earlier enrolment left, unless the operator now gives another token.
    pub(crate) fn enrolled(&self, token: Option<&EnrolmentToken>) -> io::Result<Option<(Key, Enrolled)>> {
        let Some(record) = self.read(RECORD)? else {
            return Ok(None);
        };
        let enrolled: Enrolled = serde_json::from_slice(&record)
            .map_err(|_| broken(&self.dir.join(RECORD), "it is not what a relay writes"))?;
        if token.is_some_and(|token| fingerprint(token) != enrolled.token) {
            return Ok(None);
        }
        let path = self.dir.join(KEY);
        let key = self
            .read(KEY)?
            .ok_or_else(|| broken(&path, "it is missing; enrol anew"))?;
        let key = Key::from_pkcs8(&key).map_err(|error| broken(&path, error))?;
        Ok(Some((key, enrolled)))
    }

    /// Makes a key for an enrolment. Nothing is written until it has succeeded.
    pub(crate) fn new_key() -> io::Result<(Key, NewKey)> {
        let bytes = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| io::Error::other("the system has no randomness"))?;
        let bytes = Zeroizing::new(bytes.as_ref().to_vec());
        Ok((Key::from_pkcs8(&bytes)?, NewKey(bytes)))
    }

    /// Keeps a successful enrolment: the key first, so that a record never stands without it.
    pub(crate) fn keep(&self, key: &NewKey, token: &EnrolmentToken, relay: &str) -> io::Result<Enrolled> {
        let enrolled = Enrolled {
            tenant: token.tenant.to_string(),
            relay: relay.to_owned(),
            gateway_keys: vec![token.gateway_key],
            token: fingerprint(token),
        };
        self.write(KEY, &key.0)?;
        self.write(
            RECORD,
            &serde_json::to_vec_pretty(&enrolled).map_err(io::Error::other)?,
        )?;
        Ok(enrolled)
    }

    fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let path = self.dir.join(name);
        match fs::read(&path) {
            Ok(bytes) => {
                let bytes = Zeroizing::new(bytes);
                own(&path)?;
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(broken(&path, error)),
        }
    }

    /// Whole or not at all, also when the power fails.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let draft = self.dir.join(format!("{name}.new"));
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&draft, self.dir.join(name))?;
        File::open(&self.dir)?.sync_all()
    }
}

/// A key that has not been written yet.
pub(crate) struct NewKey(Zeroizing<Vec<u8>>);

fn fingerprint(token: &EnrolmentToken) -> String {
    HEXLOWER.encode(digest::digest(&digest::SHA256, token.reveal().as_bytes()).as_ref())
}

/// Refuses what others can read, or what is not ours.
fn own(path: &Path) -> io::Result<()> {
    let meta = path.metadata()?;
    if meta.mode() & 0o077 != 0 {
        return Err(broken(path, "others can read it; make it private (chmod go-rwx)"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(broken(path, "it belongs to another user"));
    }
    Ok(())
}

fn broken(path: &Path, why: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use toolgate_contract::frame::Secret;

    use super::*;

    fn token(secret: u8) -> EnrolmentToken {
        EnrolmentToken {
            tenant: "local".parse().expect("reserved name"),
            secret: Secret::new([secret; 32]),
            gateway_key: Octets([9; 32]),
        }
    }

    fn enrolled_keeper() -> (tempfile::TempDir, Keeper, PublicKey) {
        let dir = tempfile::tempdir().expect("a directory");
        let keeper = Keeper::open(&dir.path().join("relay")).expect("opens");
        let (key, new) = Keeper::new_key().expect("a key");
        keeper.keep(&new, &token(1), "r").expect("keeps");
        (dir, keeper, key.public())
    }

    #[test]
    fn an_enrolment_survives_a_restart_and_its_used_token_is_passed_over() {
        let (_dir, keeper, public) = enrolled_keeper();
        for given in [None, Some(token(1))] {
            let (key, enrolled) = keeper.enrolled(given.as_ref()).expect("reads").expect("enrolled");
            assert_eq!((key.public(), enrolled.relay.as_str()), (public, "r"));
            assert_eq!(enrolled.gateway_keys, [Octets([9; 32])]);
        }
    }

    #[test]
    fn another_token_means_a_new_enrolment() {
        let (_dir, keeper, _) = enrolled_keeper();
        assert!(keeper.enrolled(Some(&token(2))).expect("reads").is_none());
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let (_dir, keeper, _) = enrolled_keeper();
        fs::set_permissions(keeper.dir.join(KEY), fs::Permissions::from_mode(0o640)).expect("chmod");
        let error = keeper.enrolled(None).expect_err("refused").to_string();
        assert!(
            error.contains(KEY) && error.contains("others can read it"),
            "{error}"
        );
    }

    #[test]
    fn the_secret_is_never_written() {
        let (_dir, keeper, _) = enrolled_keeper();
        let secret = token(1).reveal().rsplit_once('_').expect("a secret").1[..40].to_owned();
        for file in [KEY, RECORD] {
            let bytes = fs::read(keeper.dir.join(file)).expect("reads");
            assert!(!String::from_utf8_lossy(&bytes).contains(&secret));
            assert!(!bytes.windows(32).any(|window| window == [1; 32]));
        }
    }

    #[test]
    fn a_damaged_record_is_named() {
        let (_dir, keeper, _) = enrolled_keeper();
        fs::write(keeper.dir.join(RECORD), "{").expect("writes");
        assert!(
            keeper
                .enrolled(None)
                .expect_err("refused")
                .to_string()
                .contains(RECORD)
        );
    }
}
