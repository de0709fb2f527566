//! The public keys of an issuer, out of its JWK Set (RFC 7517).
//!
//! Each key has one algorithm, which follows from what it is. Keys that cannot verify here are left out: sets hold
//! others for other readers. A set of which nothing is left is a fault, so that it never takes the place of a good one.

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;

use super::token::Algorithm;

/// The longest set, in bytes.
pub const LONGEST_KEYS: usize = 256 * 1024;
const MOST_KEYS: usize = 100;

/// The keys of an issuer at one time.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Key>);

/// Why a set of keys cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeysFault {
    /// Too long.
    #[error("the key set is over 256 KiB or holds over 100 keys")]
    TooLarge,
    /// No JWK Set.
    #[error("this is no JWK Set, a JSON object with a list `keys`")]
    Unreadable,
    /// Nothing in it verifies RS256, ES256 or EdDSA.
    #[error("the key set holds no public key with a `kid` for RS256, ES256 or EdDSA")]
    Empty,
}

#[derive(Debug, Clone)]
pub(super) struct Key {
    id: String,
    material: Material,
}

#[derive(Debug, Clone)]
enum Material {
    Rsa(RsaPublicKeyComponents<Vec<u8>>),
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: String,
    alg: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    d: Option<Value>,
}

impl Keys {
    /// Reads a JWK Set.
    ///
    /// # Errors
    /// When it cannot take the place of another one.
    pub fn parse(json: &[u8]) -> Result<Self, KeysFault> {
        if json.len() > LONGEST_KEYS {
            return Err(KeysFault::TooLarge);
        }
        let set: Set = serde_json::from_slice(json).map_err(|_| KeysFault::Unreadable)?;
        if set.keys.len() > MOST_KEYS {
            return Err(KeysFault::TooLarge);
        }
        let mut keys: Vec<Key> = Vec::new();
        for key in set.keys.into_iter().filter_map(read) {
            // Which of two of one name was meant nobody can say; the first is what most readers take.
            match keys.iter().any(|former| former.id == key.id) {
                true => tracing::warn!("two keys of the issuer have one kid; the first one counts"),
                false => keys.push(key),
            }
        }
        match keys.is_empty() {
            true => Err(KeysFault::Empty),
            false => Ok(Self(keys)),
        }
    }

    /// Whether there is a key of this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// An id is compared, and never a path, an address or part of a query.
    pub(super) fn find(&self, id: &str) -> Option<&Key> {
        self.0.iter().find(|key| key.id == id)
    }
}

impl Key {
    pub(super) fn algorithm(&self) -> Algorithm {
        match self.material {
            Material::Rsa(_) => Algorithm::Rs256,
            Material::P256(_) => Algorithm::Es256,
            Material::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let verdict = match &self.material {
            Material::Rsa(key) => key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
            Material::P256(key) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).verify(message, signature)
            }
            Material::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(message, signature),
        };
        verdict.is_ok()
    }
}

fn read(value: Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    if jwk.d.is_some() {
        tracing::warn!(
            "the issuer publishes a private key, which is not used; whoever reads it can sign tokens"
        );
        return None;
    }
    let signs = jwk.r#use.as_deref().is_none_or(|it| it == "sig");
    let verifies = jwk
        .key_ops
        .as_ref()
        .is_none_or(|ops| ops.iter().any(|op| op == "verify"));
    let material = jwk.material()?;
    let key = Key {
        id: jwk.kid,
        material,
    };
    let alg = jwk.alg.as_deref();
    let agrees = alg.is_none_or(|name| Algorithm::parse(name) == Some(key.algorithm()));
    (signs && verifies && agrees && !key.id.is_empty()).then_some(key)
}

impl Jwk {
    fn material(&self) -> Option<Material> {
        let part = |text: &Option<String>| BASE64URL_NOPAD.decode(text.as_ref()?.as_bytes()).ok();
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (number(part(&self.n)?), number(part(&self.e)?));
                let fits = (256..=1024).contains(&n.len()) && (1..=5).contains(&e.len());
                fits.then_some(Material::Rsa(RsaPublicKeyComponents { n, e }))
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (part(&self.x)?, part(&self.y)?);
                let fits = x.len() == 32 && y.len() == 32;
                // An uncompressed point.
                fits.then(|| Material::P256([&[4][..], &x, &y].concat()))
            }
            ("OKP", Some("Ed25519")) => {
                let x = part(&self.x)?;
                (x.len() == 32).then_some(Material::Ed25519(x))
            }
            _ => None,
        }
    }
}

// Some issuers write a zero in front, which ring does not read.
fn number(bytes: Vec<u8>) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes[zeros..].to_vec()
}
