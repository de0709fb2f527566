//! Conversations that clients of the pipe lead with projects' servers, by their sessions.
//!
//! A conversation lives here alone: it does not survive the gateway, its relay or its idle time, and then its client begins
//! anew. Bounded by tenant and in all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use toolgate_contract::ids::{TargetId, TenantId};

use crate::{
    clock::Clock,
    error::{Error, Missing},
    identity::Principal,
    uplinks::Conversation,
};

/// Conversations in all, of one tenant, and of one principal with one project: a relay leads 64.
const MOST: usize = 4_096;
const MOST_OF_TENANT: usize = 512;
const MOST_OF_PRINCIPAL: usize = 32;
/// One that nobody speaks in for so long is ended.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The conversations. Clones share them.
#[derive(Debug, Clone)]
pub struct Pipes(Arc<Room>);

#[derive(Debug)]
struct Room {
    clock: Clock,
    open: Mutex<HashMap<Arc<str>, Pipe>>,
}

#[derive(Debug)]
struct Pipe {
    tenant: TenantId,
    principal: Arc<str>,
    target: TargetId,
    conversation: Arc<Conversation>,
    used: Duration,
    /// Held as well by every request that goes on.
    busy: Arc<()>,
    /// Held as well by whoever listens.
    listening: Arc<()>,
}

/// That something goes on in a conversation, which keeps it from being idle.
#[derive(Debug)]
pub struct Busy {
    _held: Arc<()>,
}

impl Pipes {
    /// None yet.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self(Arc::new(Room {
            clock,
            open: Mutex::default(),
        }))
    }

    /// Makes room for one more of this principal with this project. Many clients never say goodbye, so the one that was
    /// used longest ago, and in which nothing goes on, ends for it; its client begins anew.
    ///
    /// # Errors
    /// When there are too many.
    pub fn make_room(&self, principal: &Principal, target: TargetId) -> Result<(), Error> {
        let mut open = self.open();
        let own = || open.values().filter(|pipe| pipe.tenant == principal.tenant);
        if open.len() >= MOST || own().count() >= MOST_OF_TENANT {
            return Err(Error::Overloaded);
        }
        let is_same = |pipe: &Pipe| {
            pipe.tenant == principal.tenant && pipe.target == target && pipe.principal == principal.name
        };
        if open.values().filter(|pipe| is_same(pipe)).count() < MOST_OF_PRINCIPAL {
            return Ok(());
        }
        let idle = open
            .iter()
            .filter(|(_, pipe)| is_same(pipe) && Arc::strong_count(&pipe.busy) == 1);
        let oldest = idle
            .min_by_key(|(_, pipe)| pipe.used)
            .map(|(session, _)| Arc::clone(session));
        let ended = oldest.and_then(|session| open.remove(&session));
        // Not under the lock: it says goodbye.
        drop(open);
        ended.map(drop).ok_or(Error::Overloaded)
    }

    /// Keeps a conversation under the hash of its session's id.
    pub fn keep(
        &self,
        session: Arc<str>,
        principal: &Principal,
        target: TargetId,
        conversation: Arc<Conversation>,
    ) {
        let pipe = Pipe {
            tenant: principal.tenant.clone(),
            principal: Arc::clone(&principal.name),
            target,
            conversation,
            used: self.0.clock.monotonic(),
            busy: Arc::default(),
            listening: Arc::default(),
        };
        self.open().insert(session, pipe);
    }

    /// The conversation of a session with this project.
    ///
    /// # Errors
    /// When there is none, or it has ended; for every cause the same.
    pub fn find(
        &self,
        session: Option<&str>,
        tenant: &TenantId,
        target: TargetId,
    ) -> Result<Arc<Conversation>, Error> {
        let mut open = self.open();
        let pipe = session.and_then(|session| open.get_mut(session));
        let pipe = pipe
            .filter(|pipe| pipe.tenant == *tenant && pipe.target == target && !pipe.conversation.is_over());
        let pipe = pipe.ok_or(Error::NotFound(Missing::Session))?;
        pipe.used = self.0.clock.monotonic();
        Ok(Arc::clone(&pipe.conversation))
    }

    /// Notes that somebody listens in the conversation of a session: it is not idle, and may end for a newer one.
    #[must_use]
    pub fn listening(&self, session: &str) -> Option<Busy> {
        self.open().get(session).map(|pipe| Busy {
            _held: Arc::clone(&pipe.listening),
        })
    }

    /// Notes that something goes on in the conversation of a session.
    #[must_use]
    pub fn busy(&self, session: &str) -> Option<Busy> {
        let open = self.open();
        open.get(session).map(|pipe| Busy {
            _held: Arc::clone(&pipe.busy),
        })
    }

    /// Ends the conversation of a session; its server hears so when the last request in it has ended.
    pub fn end(&self, session: &str) {
        let ended = self.open().remove(session);
        drop(ended);
    }

    /// Ends what is over and what nobody speaks in.
    pub fn sweep(&self) {
        let now = self.0.clock.monotonic();
        let mut ended = vec![];
        self.open().retain(|_, pipe| {
            if Arc::strong_count(&pipe.busy) > 1 || Arc::strong_count(&pipe.listening) > 1 {
                pipe.used = now;
            }
            let stays = !pipe.conversation.is_over() && now.saturating_sub(pipe.used) < IDLE;
            if !stays {
                ended.push(Arc::clone(&pipe.conversation));
            }
            stays
        });
        // Not under the lock: each says goodbye.
        drop(ended);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, Pipe>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
