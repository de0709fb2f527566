//! The signed root: one line over the newest checkpoints of all tenants, chained to the root before.
//!
//! It makes a removed tenant visible, ties the lines of a round together so that none can be taken out of a file, and
//! shows by a path of hashes that a tenant is under it without showing any other. Trees are those of RFC 6962.

mod tree;

use serde::{Deserialize, Serialize};

pub use self::tree::{Inclusion, Tree};
use super::{
    checkpoint::CheckpointFault,
    key::{CheckpointKey, PublicKeys},
    line::{self, Parts},
};
use crate::rfc3339;

const DOMAIN: &str = "toolgate/root/v1";
const KIND: &str = "root";

/// One round of the keeper, signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Whose record it is.
    pub origin: String,
    /// Which round, from 1, without gaps.
    pub number: i64,
    /// How many tenants are under it.
    pub tenants: i64,
    /// Root of the tree of their newest checkpoints.
    pub root: [u8; 32],
    /// SHA-256 over the lines of this round, each with its end: all between the root before and this one.
    pub lines: [u8; 32],
    /// [`Root::link`] of the root before; zeros in the first.
    pub prev: [u8; 32],
    /// When, microseconds UTC.
    pub time_us: i64,
    /// The key that signed it.
    pub key_id: String,
    /// Ed25519 over all of the above.
    pub signature: [u8; 64],
}

/// What a root says of its round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) number: i64,
    pub(super) tenants: i64,
    pub(super) root: [u8; 32],
    pub(super) lines: [u8; 32],
    pub(super) prev: [u8; 32],
    pub(super) time_us: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wire {
    r#type: String,
    v: u8,
    origin: String,
    number: i64,
    tenants: i64,
    root: String,
    lines: String,
    prev: String,
    time: String,
    key_id: String,
    signature: String,
}

impl Root {
    pub(super) fn sign(key: &CheckpointKey, said: Said) -> Self {
        let mut root = Self {
            origin: key.origin().to_owned(),
            number: said.number,
            tenants: said.tenants,
            root: said.root,
            lines: said.lines,
            prev: said.prev,
            // As the line can write it.
            time_us: said.time_us.max(0),
            key_id: key.id().to_owned(),
            signature: [0; 64],
        };
        root.signature = key.sign(&root.signed_bytes());
        root
    }

    /// Says whether one of `keys` made it, and it alone.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, keys: &PublicKeys) -> Result<(), CheckpointFault> {
        keys.check(
            &self.origin,
            &self.key_id,
            self.time_us,
            &self.signed_bytes(),
            &self.signature,
        )
    }

    /// What the next root names as the one before it: SHA-256 over the signed bytes.
    #[must_use]
    pub fn link(&self) -> [u8; 32] {
        line::sha256(&self.signed_bytes())
    }

    /// Reads a line, without its end. Whether it is genuine, [`Root::check`] says.
    ///
    /// # Errors
    /// When it is not written exactly as a gateway writes one.
    pub fn parse(text: &str) -> Result<Self, CheckpointFault> {
        const MALFORMED: CheckpointFault = CheckpointFault::Malformed(KIND);
        let wire: Wire = line::read(text).ok_or(MALFORMED)?;
        let read = Self::of(wire).ok_or(MALFORMED)?;
        if read.to_line() == text {
            Ok(read)
        } else {
            Err(MALFORMED)
        }
    }

    /// The line, without its end.
    #[must_use]
    pub fn to_line(&self) -> String {
        line::write(&Wire {
            r#type: KIND.into(),
            v: 1,
            origin: self.origin.clone(),
            number: self.number,
            tenants: self.tenants,
            root: line::hex(&self.root),
            lines: line::hex(&self.lines),
            prev: line::hex(&self.prev),
            time: rfc3339::format(self.time_us),
            key_id: self.key_id.clone(),
            signature: line::base64(&self.signature),
        })
    }

    fn of(wire: Wire) -> Option<Self> {
        let sound = wire.r#type == KIND && wire.v == 1 && wire.number >= 1 && wire.tenants >= 0;
        sound.then_some(())?;
        Some(Self {
            root: line::from_hex(&wire.root)?,
            lines: line::from_hex(&wire.lines)?,
            prev: line::from_hex(&wire.prev)?,
            time_us: rfc3339::parse(&wire.time).ok()?,
            signature: line::from_base64(&wire.signature)?,
            origin: wire.origin,
            number: wire.number,
            tenants: wire.tenants,
            key_id: wire.key_id,
        })
    }

    fn signed_bytes(&self) -> Vec<u8> {
        Parts::of(DOMAIN)
            .text(&self.origin)
            .number(self.number)
            .number(self.tenants)
            .bytes(&self.root)
            .bytes(&self.lines)
            .bytes(&self.prev)
            .number(self.time_us)
            .text(&self.key_id)
            .finish()
    }
}

#[cfg(test)]
mod tests;
