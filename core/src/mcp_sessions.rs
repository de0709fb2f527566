//! Sessions of MCP clients of the revisions that have them, without remembering one.
//!
//! The id says everything: its revision, when it ends, and under which root key its MAC was made; the MAC covers tenant
//! and principal as well. So every instance with the same keys takes it, opening one costs no memory, and another
//! principal's session is no session. A session is no authentication: whoever presents one was authenticated by a
//! credential before, and a new credential of the same principal goes on with it. Only what was closed before its time is
//! remembered here, until that time, and bounded. Knows no message of MCP.

mod closed;
mod id;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::rand::{SecureRandom, SystemRandom};

use self::{
    closed::{Closed, Tombstone},
    id::Id,
};
use crate::{
    clock::Clock,
    error::{Error, Missing},
    identity::Principal,
    keys::Keyring,
    telemetry,
};

/// A session lives this long, in seconds.
const LIFE_S: u64 = 24 * 60 * 60;

/// Opens, checks and closes sessions. Clones share what was closed.
#[derive(Debug, Clone)]
pub struct McpSessions(Arc<Room>);

#[derive(Debug)]
struct Room {
    keys: Arc<Keyring>,
    clock: Clock,
    closed: Mutex<Closed>,
}

impl McpSessions {
    /// Under the keys of this gateway; nothing was closed yet.
    #[must_use]
    pub fn new(keys: Arc<Keyring>, clock: Clock) -> Self {
        Self(Arc::new(Room {
            keys,
            clock,
            closed: Mutex::new(Closed::new(closed::MOST, closed::MOST_OF_TENANT)),
        }))
    }

    /// The id of a new session of this principal.
    ///
    /// # Errors
    /// When the revision is no date, or there is no randomness.
    pub fn open(&self, principal: &Principal, revision: &str) -> Result<String, Error> {
        if !id::is_revision(revision) {
            return Err(Error::malformed("revision", "is no date such as 2025-06-18"));
        }
        let mut nonce = [0; id::NONCE];
        SystemRandom::new()
            .fill(&mut nonce)
            .map_err(|_| Error::internal("no randomness for the id of a session"))?;
        let key = self.0.keys.session_key(&principal.tenant);
        let ends_s = self.now_s().saturating_add(LIFE_S);
        telemetry::mcp_session("opened");
        Ok(id::write(revision, (ends_s, nonce), &key, principal))
    }

    /// Whether this is the id of a session of this very principal that goes on.
    ///
    /// # Errors
    /// When it is not; for every cause the same.
    pub fn check(&self, principal: &Principal, text: &str) -> Result<(), Error> {
        self.find(principal, text).map(drop)
    }

    /// Ends a session of this principal before its time.
    ///
    /// # Errors
    /// When there is none.
    pub fn close(&self, principal: &Principal, text: &str) -> Result<(), Error> {
        let tombstone = self.find(principal, text)?;
        self.closed().put(&principal.tenant, tombstone);
        telemetry::mcp_session("closed");
        Ok(())
    }

    /// Forgets what was closed and would have ended by now anyway.
    pub fn sweep(&self) {
        let now_s = self.now_s();
        let left = {
            let mut closed = self.closed();
            closed.forget(now_s);
            closed.len()
        };
        telemetry::mcp_tombstones(left);
    }

    fn find(&self, principal: &Principal, text: &str) -> Result<Tombstone, Error> {
        self.alive(principal, text).ok_or_else(|| {
            telemetry::mcp_session("unknown");
            Error::NotFound(Missing::Session)
        })
    }

    fn alive(&self, principal: &Principal, text: &str) -> Option<Tombstone> {
        let id = Id::parse(text)?;
        let key = self.0.keys.session_key_by_id(id.root()?, &principal.tenant)?;
        let tombstone = (id.ends_s(), id.nonce());
        let alive = id.verifies(&key, principal)
            && self.now_s() < id.ends_s()
            && !self.closed().has(&principal.tenant, &tombstone);
        alive.then_some(tombstone)
    }

    fn closed(&self) -> MutexGuard<'_, Closed> {
        self.0.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_s(&self) -> u64 {
        u64::try_from(self.0.clock.wall_us() / 1_000_000).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
