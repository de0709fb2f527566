//! A checkpoint: what the head of one tenant's chain was at a time, signed.
//!
//! Pure: reads no store and no clock. `docs/audit.md` tells the format for those who write a checker of their own.

use serde::{Deserialize, Serialize};
use toolgate_contract::ids::TenantId;

use super::{
    key::{CheckpointKey, PublicKeys},
    line::{self, Parts},
};
use crate::rfc3339;

const DOMAIN: &str = "toolgate/checkpoint/v1";
const KIND: &str = "checkpoint";

/// What the head of a tenant's chain was at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whose record it is: the name that the first checkpoint key gave it.
    pub origin: String,
    /// The tenant.
    pub tenant_id: String,
    /// Place of the last row.
    pub seq: i64,
    /// Hash of the last row.
    pub hash: [u8; 32],
    /// Rows the chain had; as many as `seq`, for rows are never taken away.
    pub count: i64,
    /// When, microseconds UTC.
    pub time_us: i64,
    /// The key that signed it.
    pub key_id: String,
    /// Ed25519 over all of the above.
    pub signature: [u8; 64],
}

/// Why a checkpoint is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointFault {
    /// It is no line that a gateway wrote.
    #[error("this line is no {0}: something changed or cut it")]
    Malformed(&'static str),
    /// It belongs to another record.
    #[error("it names the record {found}, and the keys are those of {expected}")]
    Origin {
        /// The record it names.
        found: String,
        /// The record of the keys.
        expected: String,
    },
    /// Nobody vouches for its key.
    #[error("it names the key {0}, which is not among the public keys")]
    UnknownKey(String),
    /// It is dated long after its key was replaced.
    #[error("it is dated after its key {0} was replaced")]
    RetiredKey(String),
    /// The signature is not that of the key for this content.
    #[error("its signature does not hold: its content or its signature was changed")]
    Signature,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wire {
    r#type: String,
    v: u8,
    origin: String,
    tenant_id: String,
    seq: i64,
    hash: String,
    count: i64,
    time: String,
    key_id: String,
    signature: String,
}

impl Checkpoint {
    /// Signs that the chain of `tenant` ended at `seq` with `hash` at this time.
    #[must_use]
    pub fn sign(key: &CheckpointKey, tenant: &TenantId, seq: i64, hash: [u8; 32], time_us: i64) -> Self {
        let mut checkpoint = Self {
            origin: key.origin().to_owned(),
            tenant_id: tenant.to_string(),
            seq,
            hash,
            count: seq,
            // As the line can write it.
            time_us: time_us.max(0),
            key_id: key.id().to_owned(),
            signature: [0; 64],
        };
        checkpoint.signature = key.sign(&checkpoint.signed_bytes());
        checkpoint
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

    /// Reads a line, without its end. Whether it is genuine, [`Checkpoint::check`] says.
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
            tenant_id: self.tenant_id.clone(),
            seq: self.seq,
            hash: line::hex(&self.hash),
            count: self.count,
            time: rfc3339::format(self.time_us),
            key_id: self.key_id.clone(),
            signature: line::base64(&self.signature),
        })
    }

    fn of(wire: Wire) -> Option<Self> {
        let sound = wire.r#type == KIND
            && wire.v == 1
            && wire.seq >= 0
            && wire.count >= 0
            && wire.tenant_id.parse::<TenantId>().is_ok();
        sound.then_some(())?;
        Some(Self {
            hash: line::from_hex(&wire.hash)?,
            time_us: rfc3339::parse(&wire.time).ok()?,
            signature: line::from_base64(&wire.signature)?,
            origin: wire.origin,
            tenant_id: wire.tenant_id,
            seq: wire.seq,
            count: wire.count,
            key_id: wire.key_id,
        })
    }

    fn signed_bytes(&self) -> Vec<u8> {
        Parts::of(DOMAIN)
            .text(&self.origin)
            .text(&self.tenant_id)
            .number(self.seq)
            .bytes(&self.hash)
            .number(self.count)
            .number(self.time_us)
            .text(&self.key_id)
            .finish()
    }
}

#[cfg(test)]
mod tests;
