//! A token as text: three parts of base64url, a header, and nothing believed yet.
//!
//! Headers that name keys by address or bring them along (`jku`, `x5u`, `jwk`) are not read: a key comes from the
//! issuer of the settings or not at all.

use data_encoding::BASE64URL_NOPAD;
use ring::digest::{SHA256, SHA512, digest};
use serde::Deserialize;

use super::{Refused, claims::Claims, keys::Key};
use crate::canonical::CanonicalJson;

/// The longest token, in bytes; looked at before anything else.
pub const LONGEST_TOKEN: usize = 8 * 1024;
const LONGEST_KEY_ID: usize = 256;
/// What a token may say it is (RFC 9068 §2.1); one made for another purpose says something else.
const TYPES: [&str; 4] = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"];

/// The ways to sign that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// A token that could be read so far that its key can be looked for.
pub struct Token<'a> {
    algorithm: Algorithm,
    key_id: String,
    /// Header and payload as they stand: what is signed.
    signed: &'a [u8],
    payload: &'a str,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    // An extension that has to be understood: none is.
    #[serde(default, deserialize_with = "is_there")]
    crit: bool,
}

impl<'a> Token<'a> {
    /// Whether this is a JWT rather than a credential of another kind.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.bytes().filter(|byte| *byte == b'.').count() == 2
    }

    /// Reads the header.
    ///
    /// # Errors
    /// When this is no token that could be signed here.
    pub fn parse(text: &'a str) -> Result<Self, Refused> {
        if text.len() > LONGEST_TOKEN {
            return Err(Refused::TooLong);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(Refused::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(Refused::Malformed)?;
        if payload.contains('.') {
            return Err(Refused::Malformed);
        }
        let header: Header =
            serde_json::from_slice(object(header)?.as_bytes()).map_err(|_| Refused::Malformed)?;
        let typ = header.typ.map(|typ| typ.to_ascii_lowercase());
        if header.crit || typ.is_some_and(|typ| !TYPES.contains(&typ.as_str())) {
            return Err(Refused::Malformed);
        }
        let algorithm = Algorithm::parse(&header.alg).ok_or(Refused::Algorithm)?;
        let key_id = header
            .kid
            .filter(|id| !id.is_empty() && id.len() <= LONGEST_KEY_ID);
        Ok(Self {
            algorithm,
            key_id: key_id.ok_or(Refused::KeyUnknown)?,
            signed: signed.as_bytes(),
            payload,
            signature: decoded(signature)?,
        })
    }

    /// Which of its issuer's keys signed it, as it says.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// What it says, once the key has signed it.
    pub(super) fn verified(&self, key: &Key) -> Result<Claims, Refused> {
        // The key knows its algorithm; a token cannot choose another one for it.
        if self.algorithm != key.algorithm() {
            return Err(Refused::Algorithm);
        }
        if !key.has_signed(self.signed, &self.signature) {
            return Err(Refused::Signature);
        }
        Claims::parse(&decoded(self.payload)?)
    }

    /// The left half of a text's hash, by the hash that its signature goes with: how a token names another one beside it
    /// (OpenID Connect Core §3.1.3.6).
    #[must_use]
    pub fn half_hash(&self, text: &str) -> String {
        let hash = match self.algorithm {
            Algorithm::Rs256 | Algorithm::Es256 => digest(&SHA256, text.as_bytes()),
            // The one within Ed25519 (RFC 8032).
            Algorithm::EdDsa => digest(&SHA512, text.as_bytes()),
        };
        let hash = hash.as_ref();
        BASE64URL_NOPAD.encode(&hash[..hash.len() / 2])
    }
}

impl std::fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

/// A part that is one JSON object with one reading.
fn object(part: &str) -> Result<CanonicalJson, Refused> {
    let read = CanonicalJson::parse(&decoded(part)?).map_err(|_| Refused::Malformed)?;
    read.is_object().then_some(read).ok_or(Refused::Malformed)
}

// Strict: without padding, and without bits that decode to nothing.
fn decoded(part: &str) -> Result<Vec<u8>, Refused> {
    BASE64URL_NOPAD
        .decode(part.as_bytes())
        .map_err(|_| Refused::Malformed)
}

// Even a null is there.
fn is_there<'de, D: serde::Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(value).map(|_| true)
}
