//! Byte strings of fixed length: keys, nonces, signatures. In JSON they are base64url without padding.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// `N` public bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Octets<const N: usize>(pub [u8; N]);

/// An Ed25519 public key.
pub type PublicKey = Octets<32>;
/// 32 random bytes that are used once.
pub type Nonce = Octets<32>;
/// An Ed25519 signature.
pub type Signature = Octets<64>;

impl<const N: usize> Octets<N> {
    /// Parses base64url without padding.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

impl<const N: usize> AsRef<[u8]> for Octets<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> fmt::Display for Octets<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64URL_NOPAD.encode(&self.0))
    }
}

impl<const N: usize> fmt::Debug for Octets<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Serialize for Octets<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Octets<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not base64url of the right length"))
    }
}

/// 32 secret bytes: never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(Octets<32>);

impl Secret {
    /// Takes the bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Octets(bytes))
    }

    /// The bytes, for hashing or for the one message that carries them.
    #[must_use]
    pub fn expose(&self) -> &[u8; 32] {
        &self.0.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
