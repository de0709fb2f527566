//! Lend: the target's secret, for this call only.
//!
//! An ssh target has none: the relay on the host proved its own identity when it dialled in, and the gateway holds
//! nothing that could log in there.

use tokio_util::sync::CancellationToken;

use super::{
    facts::{Facts, Refusal},
    intend::Intended,
};

/// A call with everything it needs at the target.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(super) intended: Intended,
    cancelled: CancellationToken,
    _step: (),
}

pub(super) fn lend(intended: Intended) -> Result<Lent, Box<Refusal>> {
    Ok(Lent {
        intended,
        cancelled: CancellationToken::new(),
        _step: (),
    })
}

impl Lent {
    pub(super) fn facts(&self) -> &Facts {
        &self.intended.permitted.facts
    }

    /// Fires when nobody waits for the result any more.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.cancelled.clone()
    }
}
