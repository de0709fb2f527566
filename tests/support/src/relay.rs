//! A relay that speaks the real protocol over a real WebSocket, answers as it is told, and counts what it received.
//!
//! It stands for the agent on a host where a test must know exactly what reached it, or must make it misbehave.

mod session;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};
use toolgate_contract::frame::{GoAwayReason, Offer, RefusalCode};

use crate::uplink::{Identity, Link};

/// How a relay answers commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The command printed this and exited with 0.
    Prints(String),
    /// The same, after this long.
    PrintsAfter(Duration, String),
    /// The same, once the test says so.
    PrintsWhenTold(String),
    /// The command exited with this code.
    Exits(i32),
    /// Nothing, for ever.
    Hang,
    /// A result of so many bytes.
    Huge(usize),
    /// Bytes that are no JSON.
    Garbage,
    /// JSON that is no result.
    Shapeless,
    /// These bytes as they are.
    Says(String),
    /// A refusal.
    Refuses(RefusalCode),
    /// The socket is cut.
    Drop,
}

/// What a relay has seen.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The commands that reached it, in order.
    pub commands: Vec<String>,
    /// When each came.
    pub received_at: Vec<Instant>,
    /// When the gateway cancelled a request.
    pub cancelled_at: Vec<Instant>,
    /// Why the gateway said goodbye, if it did.
    pub goaway: Option<GoAwayReason>,
    /// The handshake is done and the socket open.
    pub connected: bool,
    /// When the socket closed last.
    pub closed_at: Option<Instant>,
}

/// A fake relay, and the host it would stand on.
#[derive(Debug)]
pub struct Relay {
    identity: Arc<Identity>,
    shared: Arc<Shared>,
    task: Mutex<Option<JoinHandle<()>>>,
    target: String,
}

#[derive(Debug)]
struct Shared {
    reply: Mutex<Reply>,
    seen: watch::Sender<Seen>,
    told: Notify,
}

impl Relay {
    /// Enrols at a gateway with a one-time token and stays connected.
    ///
    /// # Errors
    /// What the gateway said instead of a welcome.
    pub async fn enrol(url: &str, target: &str, token: &str) -> Result<Self, String> {
        let (identity, link) = Identity::enrol(url, token, Offer::Host).await?;
        let relay = Self {
            identity: Arc::new(identity),
            shared: Arc::new(Shared {
                reply: Mutex::new(Reply::Prints(UPTIME.to_owned())),
                seen: watch::Sender::new(Seen::default()),
                told: Notify::new(),
            }),
            task: Mutex::new(None),
            target: target.to_owned(),
        };
        relay.run(link);
        Ok(relay)
    }

    /// Dials again, maybe another address; a connection that still stands is left to the gateway to close.
    ///
    /// # Errors
    /// What the gateway said instead of a welcome.
    pub async fn dial(&self, url: &str) -> Result<(), String> {
        let link = self.identity.dial(url).await?;
        self.run(link);
        Ok(())
    }

    /// The id of the target this relay stands for.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// From now on answers so.
    pub fn replies(&self, reply: Reply) {
        *self.shared.reply.lock().unwrap_or_else(PoisonError::into_inner) = reply;
    }

    /// Lets the command that waits for it answer, or the next that will.
    pub fn tell(&self) {
        self.shared.told.notify_one();
    }

    /// What it has seen.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.shared.seen.borrow().clone()
    }

    /// The commands that reached it.
    #[must_use]
    pub fn received(&self) -> Vec<String> {
        self.seen().commands
    }

    /// Waits at most `limit` until what it has seen satisfies `check`; gives what it has seen either way.
    pub async fn wait(&self, limit: Duration, check: impl FnMut(&Seen) -> bool) -> Seen {
        let mut seen = self.shared.seen.subscribe();
        let _ = tokio::time::timeout(limit, seen.wait_for(check)).await;
        self.seen()
    }

    /// Cuts the socket.
    pub fn hang_up(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
            self.shared.closed();
        }
    }

    fn run(&self, link: Link) {
        let shared = Arc::clone(&self.shared);
        shared.seen.send_modify(|seen| {
            seen.connected = true;
            seen.goaway = None;
        });
        let task = tokio::spawn(async move {
            session::serve(link, &shared).await;
            shared.closed();
        });
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}

/// What `uptime` says on a host that is none.
pub(crate) const UPTIME: &str = " 12:00:00 up 1 day,  2:03,  1 user,  load average: 0.00, 0.01, 0.05\n";

impl Shared {
    fn closed(&self) {
        self.seen.send_modify(|seen| {
            seen.connected = false;
            seen.closed_at = Some(Instant::now());
        });
    }

    fn reply(&self) -> Reply {
        self.reply.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.hang_up();
    }
}
