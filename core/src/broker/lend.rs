//! Lend: the target's secret, for this call only.
//!
//! An ssh target has none: the relay on the host proved its own identity when it dialled in, and the gateway holds
//! nothing that could log in there. Where a target has one and it cannot be had, the target is never contacted and the
//! call is settled as a failure. A caller who leaves meanwhile takes the intent away with it.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{Rooms, dispatch, facts::Facts, intend::Intended, refuse::Failed, settle};
use crate::{
    error::Error,
    secrets::{Lease, SecretRef},
};

/// A call with everything it needs at the target.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(super) intended: Intended,
    pub(super) secret: Option<Lease>,
    cancelled: CancellationToken,
    _step: (),
}

pub(super) async fn lend(rooms: &Arc<Rooms>, intended: Intended) -> Result<Lent, Failed> {
    let Some(reference) = intended.permitted.target.secret.clone() else {
        return Ok(Lent::new(intended, None));
    };
    let waiting = Waiting {
        rooms,
        intended: Some(intended),
    };
    let asked = waiting.ask(&reference).await;
    let Some(intended) = waiting.end() else {
        return Err(Failed {
            call: None,
            error: Error::internal("a call lost its intent"),
        });
    };
    match asked {
        Ok(lease) => Ok(Lent::new(intended, Some(lease))),
        Err(error) => Err(fail(rooms, intended, error).await),
    }
}

// Settled by a task of its own: the row stands although the caller vanished.
async fn fail(rooms: &Arc<Rooms>, intended: Intended, error: Error) -> Failed {
    let call = Some(intended.permitted.facts.call);
    let room = Arc::clone(rooms);
    let settled = rooms.calls.spawn(async move {
        let dispatched = dispatch::not_contacted(intended, error);
        settle::settle(&room, dispatched).await
    });
    match settled.await {
        Ok(Err(failed)) => failed,
        Ok(Ok(_)) => Failed {
            call,
            error: Error::internal("a call that failed was settled as done"),
        },
        Err(lost) => Failed {
            call,
            error: Error::internal(lost),
        },
    }
}

/// A call that waits for its secret. Dropped with its intent, it has contacted nobody and the intent is withdrawn.
struct Waiting<'a> {
    rooms: &'a Arc<Rooms>,
    intended: Option<Intended>,
}

impl Waiting<'_> {
    async fn ask(&self, reference: &SecretRef) -> Result<Lease, Error> {
        let Some(intended) = &self.intended else {
            return Err(Error::internal("a call lost its intent"));
        };
        let permitted = &intended.permitted;
        let left = dispatch::left(self.rooms, &permitted.facts, permitted.deadline).unwrap_or(Duration::MAX);
        let asked = self
            .rooms
            .secrets
            .lend(&permitted.facts.caller.principal().tenant, reference);
        match timeout(left, asked).await {
            Ok(lent) => lent.map_err(Error::SecretUnavailable),
            Err(_) => Err(Error::DeadlineExceeded),
        }
    }

    fn end(mut self) -> Option<Intended> {
        self.intended.take()
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Without a runtime the intent lapses instead, and says that it does not know.
        let (Some(intended), Ok(_)) = (self.intended.take(), Handle::try_current()) else {
            return;
        };
        let rooms = Arc::clone(self.rooms);
        self.rooms.calls.spawn(async move {
            if let Err(error) = rooms.journal.withdraw(intended.contact).await {
                tracing::warn!(%error, "the intent of a call that contacted nobody stays open for the reconciler");
            }
        });
    }
}

impl Lent {
    fn new(intended: Intended, secret: Option<Lease>) -> Self {
        Self {
            intended,
            secret,
            cancelled: CancellationToken::new(),
            _step: (),
        }
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.intended.permitted.facts
    }

    /// Fires when nobody waits for the result any more.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.cancelled.clone()
    }
}
