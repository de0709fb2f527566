//! What the lines of checkpoint files have in common: how signed bytes are laid out and how a line is written.
//!
//! A line has exactly one spelling: what reads to the same values and is written otherwise is refused, so that a changed
//! byte is never overlooked.

use std::fmt;

use data_encoding::{BASE64, HEXLOWER};
use ring::digest::{Context, SHA256};
use serde::{Serialize, de::DeserializeOwned};

/// The longest line that is read.
pub(super) const LONGEST: usize = 2048;

/// The bytes that are hashed or signed: every part with its length before it, as in the hash of a row.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<u8>);

impl Parts {
    pub(super) fn of(domain: &str) -> Self {
        Self(Vec::with_capacity(320)).text(domain)
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    pub(super) fn number(self, number: i64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// SHA-256 over lines as they come.
#[derive(Clone)]
pub(super) struct Digest(Context);

impl Digest {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> [u8; 32] {
        let mut hash = [0; 32];
        hash.copy_from_slice(self.0.finish().as_ref());
        hash
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self(Context::new(&SHA256))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest")
    }
}

/// SHA-256.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = Digest::default();
    digest.add(bytes);
    digest.finish()
}

/// A line, without its end.
pub(super) fn write<T: Serialize>(wire: &T) -> String {
    // Fails for maps with keys that are no text; these are structs of texts and numbers.
    serde_json::to_string(wire).unwrap_or_default()
}

/// Reads a line, which must be no longer than any of ours.
pub(super) fn read<T: DeserializeOwned>(line: &str) -> Option<T> {
    if line.len() > LONGEST {
        return None;
    }
    serde_json::from_str(line).ok()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

pub(super) fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

pub(super) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok()
}

pub(super) fn from_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE64.decode(text.as_bytes()).ok()?.try_into().ok()
}
