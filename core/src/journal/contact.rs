//! The proofs: that an intent is durable, that a row is.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use toolgate_contract::ids::{EventId, TenantId};

use super::{
    Room,
    waiting::{Op, Reply, Work},
};
use crate::audit::{Event, EventKind, Outcome};

/// What is known of a call before its target is contacted: enough to tell of it if nobody else does.
#[derive(Debug, Clone)]
pub struct Intent(Event);

impl Intent {
    /// The intent of a call. Kind and outcome of the event do not count: a call that is left over is an invocation
    /// with an unknown end.
    #[must_use]
    pub fn new(event: Event) -> Self {
        Self(Event {
            kind: EventKind::CapabilityInvoked,
            result: Outcome::Unknown,
            ..event
        })
    }
}

/// Whose intent it is, and what would be told of it.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) tenant: TenantId,
    pub(super) event: Arc<Event>,
}

impl Facts {
    pub(super) fn new(tenant: TenantId, intent: Intent) -> Self {
        Self {
            tenant,
            event: Arc::new(intent.0),
        }
    }

    pub(super) fn id(&self) -> EventId {
        self.event.id
    }
}

/// Proof that a call's intent is durable. Only the journal makes one; without it nothing can be contacted.
///
/// It ends in [`settle`](super::Journal::settle), [`close_cancelled`](super::Journal::close_cancelled) or
/// [`withdraw`](super::Journal::withdraw). Dropped instead, its call goes on the record with the result `unknown`.
#[derive(Debug)]
pub struct Contact {
    facts: Facts,
    // Does not keep a closed journal alive: what it cannot tell then, the next start finds.
    room: Weak<Room>,
    spent: AtomicBool,
    cancelled: AtomicBool,
}

impl Contact {
    /// The tenant whose call it is.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.facts.tenant
    }

    /// The id of the intent, and of the row to come.
    #[must_use]
    pub fn event_id(&self) -> EventId {
        self.facts.id()
    }

    /// For a read whose caller left while an errand that it began goes on for others: the intent stays open as long as
    /// anybody holds the contact, and is closed as cancelled with the last of them.
    pub(crate) fn cancel_when_let_go(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// From here on the contact's end is told by whoever took this.
    pub(super) fn spend(&self) -> Facts {
        self.spent.store(true, Ordering::SeqCst);
        self.facts.clone()
    }

    /// A contact without a journal, for tests of what needs one.
    #[cfg(test)]
    #[allow(dead_code, reason = "for the tests of other rooms")]
    pub(crate) fn for_tests(tenant: &TenantId, event: Event) -> Self {
        let facts = Facts::new(tenant.clone(), Intent::new(event));
        Self {
            facts,
            room: Weak::new(),
            spent: AtomicBool::new(true),
            cancelled: AtomicBool::new(false),
        }
    }
}

impl Drop for Contact {
    fn drop(&mut self) {
        if self.spent.load(Ordering::SeqCst) {
            return;
        }
        let facts = self.facts.clone();
        let work = match self.cancelled.load(Ordering::SeqCst) {
            true => Work::Cancel(facts),
            false => Work::Lapse(facts),
        };
        if let Some(room) = self.room.upgrade() {
            room.queue_past_the_limit(Op::new(work, Reply::Nobody));
        }
    }
}

/// A contact on its way to whoever asked for it. If nobody takes it, nobody can have used it, and the intent is
/// withdrawn.
#[derive(Debug)]
pub(super) struct Grant {
    facts: Facts,
    room: Arc<Room>,
    taken: bool,
}

impl Grant {
    pub(super) fn new(facts: Facts, room: Arc<Room>) -> Self {
        Self {
            facts,
            room,
            taken: false,
        }
    }

    pub(super) fn accept(mut self) -> Contact {
        self.taken = true;
        Contact {
            facts: self.facts.clone(),
            room: Arc::downgrade(&self.room),
            spent: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
        }
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if !self.taken {
            let work = Work::Withdraw(self.facts.clone());
            self.room.queue_past_the_limit(Op::new(work, Reply::Nobody));
        }
    }
}

/// Proof that an event's row is durable. Only the journal makes one; without it nothing is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::manual_non_exhaustive,
    reason = "no other room of this crate may make one either"
)]
pub struct Receipt {
    /// The row's place in its tenant's chain.
    pub seq: i64,
    /// The event's id.
    pub event_id: EventId,
    _proof: (),
}

impl Receipt {
    pub(super) fn new(seq: i64, event_id: EventId) -> Self {
        Self {
            seq,
            event_id,
            _proof: (),
        }
    }
}
