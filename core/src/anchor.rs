//! Witnesses outside the database: signed checkpoints of every tenant's head, and one signed root over all of them.
//!
//! A chain cannot show that its own tail was cut, that it was rewritten by whoever holds the record key, or that it is
//! gone. A checkpoint can: it says what the head was at a time, under a key that no database holds. This room makes,
//! keeps and checks them. It reads heads and nothing else of the record, and never stands in the path of a call.

mod checkpoint;
mod key;
mod line;

pub use self::{
    checkpoint::{Checkpoint, CheckpointFault},
    key::{CheckpointKey, PublicKey, PublicKeys, PublicKeysError, SigningKeys, SigningKeysError, TrustRoot},
};
