//! A credential in memory: one buffer of its final size, wiped when it is dropped, never shown.

use std::fmt;

use zeroize::Zeroizing;

/// The longest credential, as the strictest of the providers has it.
pub const LONGEST: usize = 64 * 1024;

/// A credential. Cannot be shown, serialised or cloned; whoever needs it longer shares it.
pub struct SecretValue(Zeroizing<Box<[u8]>>);

impl SecretValue {
    /// Takes a copy into custody; `None` when it is empty or longer than [`LONGEST`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let fits = (1..=LONGEST).contains(&bytes.len());
        fits.then(|| Self(Zeroizing::new(bytes.into())))
    }

    /// A buffer that is to be filled in place.
    pub(super) fn filled(bytes: Zeroizing<Box<[u8]>>) -> Self {
        Self(bytes)
    }

    /// The bytes, for the one place that sends or seals them.
    #[must_use]
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }

    /// Whether this is the same credential. Both are the gateway's own, so nobody can learn from the time it takes.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
