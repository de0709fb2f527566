//! A call that is ready: on its way to its target, or with its answer at hand.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    Rooms, dispatch,
    facts::Facts,
    lend::Lent,
    permit::Recalled,
    refuse::Failed,
    settle::{self, Settled},
};

/// A call that is ready to be ended.
#[derive(Debug)]
pub(super) enum Ready {
    /// With everything it needs at its target.
    Lent(Box<Lent>),
    /// With an answer that was kept: no contact, so nothing to cancel.
    Recalled(Box<Recalled>),
}

impl Ready {
    pub(super) fn facts(&self) -> &Facts {
        match self {
            Self::Lent(lent) => lent.facts(),
            Self::Recalled(recalled) => &recalled.facts,
        }
    }

    /// Fires when nobody waits for the result any more.
    pub(super) fn cancelled(&self) -> CancellationToken {
        match self {
            Self::Lent(lent) => lent.cancelled(),
            Self::Recalled(_) => CancellationToken::new(),
        }
    }

    /// From here a vanished caller changes nothing: every outcome is settled.
    pub(super) async fn finish(self, rooms: &Arc<Rooms>) -> Result<Settled, Failed> {
        match self {
            Self::Lent(lent) => settle::settle(rooms, dispatch::dispatch(rooms, *lent).await).await,
            Self::Recalled(recalled) => settle::recall(rooms, *recalled).await,
        }
    }
}
