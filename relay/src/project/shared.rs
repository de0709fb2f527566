//! The conversation that all callers share: opened, kept, and opened again when it ends.
//!
//! A server that ends again and again is started less and less often. What is known of it is in one place, which the
//! rest of the room watches.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    era::{self, Era, Opened},
    gateway::Gateway,
    local::Local,
    stateless,
    wire::Unanswered,
};
use crate::backoff::Backoff;

/// How often a server that is no child of ours is asked whether it is there.
const LOOK: Duration = Duration::from_secs(15);
const LOOK_PATIENCE: Duration = Duration::from_secs(10);

/// How the server is.
#[derive(Debug, Clone)]
pub(crate) enum Standing {
    /// It has not said yet that it is there.
    Starting,
    /// It serves.
    Up(Arc<Opened>),
    /// It does not, and why.
    Down(String),
}

/// What there is to tell: how the server is, to a gateway that may be another one than before.
#[derive(Debug, Clone)]
pub(crate) struct Now {
    /// Counts connections to the gateway.
    pub(crate) connection: u64,
    pub(crate) standing: Standing,
}

impl Now {
    /// Before anything is known.
    pub(crate) fn new() -> Self {
        Self {
            connection: 0,
            standing: Standing::Starting,
        }
    }
}

/// Keeps the shared conversation until `stop`.
pub(crate) async fn keep(
    local: Arc<Local>,
    gateway: Arc<Gateway>,
    now: Arc<watch::Sender<Now>>,
    stop: CancellationToken,
) {
    let set = |standing| now.send_modify(|now| now.standing = standing);
    let mut backoff = Backoff::new();
    while !stop.is_cancelled() {
        set(Standing::Starting);
        let opened = tokio::select! {
            opened = era::open(&local, &gateway) => opened,
            () = stop.cancelled() => break,
        };
        let (why, served) = match opened {
            Ok(opened) => {
                let since = Instant::now();
                tracing::info!(
                    revision = opened.revision,
                    transport = local.transport(),
                    "the server is up"
                );
                let opened = Arc::new(opened);
                set(Standing::Up(Arc::clone(&opened)));
                tokio::select! {
                    () = opened.conversation.ended() => {}
                    () = attend(&opened, local.is_url()) => {}
                    () = stop.cancelled() => break,
                }
                let why = opened.conversation.why_over();
                (
                    why.unwrap_or_else(|| "it ended".to_owned()),
                    Some(since.elapsed()),
                )
            }
            Err(why) => (why, None),
        };
        let wait = backoff.next(served, &mut rand::rng());
        let again_in_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(why, again_in_ms, "the server is down");
        set(Standing::Down(why));
        tokio::select! {
            () = sleep(wait) => {}
            () = stop.cancelled() => break,
        }
    }
    if let Standing::Up(opened) = &now.borrow().standing {
        opened.conversation.close();
    }
}

/// What is done while the server is up. Never ends.
async fn attend(opened: &Opened, is_url: bool) {
    tokio::join!(look(opened, is_url), hear_of_changes(opened));
}

/// A connection that cannot be made ends the conversation by itself; this only sees to it that one is tried.
async fn look(opened: &Opened, is_url: bool) {
    if !is_url {
        return std::future::pending().await;
    }
    let (method, params) = match opened.era {
        Era::Sessions => ("ping", "{}".to_owned()),
        Era::Stateless => ("server/discover", stateless::completed("{}").unwrap_or_default()),
    };
    let mut beat = interval(LOOK);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat.tick().await;
    loop {
        beat.tick().await;
        if let Ok(mut asked) = opened.conversation.ask(None, method, &params) {
            let _ = timeout(LOOK_PATIENCE, asked.answer()).await;
        }
    }
}

/// In the era without sessions, changes are told only to who asks for them.
async fn hear_of_changes(opened: &Opened) {
    let wanted = r#"{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}"#;
    let mut backoff = Backoff::new();
    loop {
        if opened.era == Era::Sessions {
            break;
        }
        let params = stateless::completed(wanted).unwrap_or_default();
        let since = Instant::now();
        let Ok(mut asked) = opened.conversation.ask(None, "subscriptions/listen", &params) else {
            break;
        };
        // A server that knows no such thing has nothing to tell.
        if let Err(Unanswered::Error(_)) = asked.answer().await {
            break;
        }
        let pause = backoff.next(Some(since.elapsed()), &mut rand::rng());
        sleep(pause).await;
    }
    std::future::pending().await
}
