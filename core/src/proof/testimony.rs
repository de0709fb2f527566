//! From a signed checkpoint to what a verification hears.

use toolgate_contract::ids::TenantId;

use crate::{
    anchor::{Checkpoint, PublicKeys},
    audit::verify::{Mark, Testimony},
    rfc3339,
};

/// What the line of a checkpoint file says about the chain of `tenant`.
pub(super) fn of_line(line: &str, tenant: &TenantId, keys: &PublicKeys) -> Testimony {
    match Checkpoint::parse(line) {
        Ok(checkpoint) => of_checkpoint(&checkpoint, tenant, keys),
        Err(fault) => Testimony::Unsound {
            seq: 0,
            why: format!("a checkpoint cannot be read: {fault}"),
        },
    }
}

/// What a checkpoint says about the chain of `tenant`.
pub(super) fn of_checkpoint(checkpoint: &Checkpoint, tenant: &TenantId, keys: &PublicKeys) -> Testimony {
    let (seq, time) = (checkpoint.seq, rfc3339::format(checkpoint.time_us));
    let unsound = |why: String| Testimony::Unsound { seq, why };
    if checkpoint.tenant_id != tenant.as_str() {
        return unsound(format!("the checkpoint of {time} is another tenant's"));
    }
    if let Err(fault) = checkpoint.check(keys) {
        return unsound(format!(
            "the checkpoint of {time} for row {seq} is not genuine: {fault}"
        ));
    }
    Testimony::Sound(Mark {
        seq,
        hash: checkpoint.hash,
        by: format!("the checkpoint of {time}"),
    })
}
