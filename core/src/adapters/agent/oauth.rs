//! Tokens for client credentials (RFC 6749 §4.4): one per target, kept for as long as it lasts and renewed ahead of its
//! end while calls go on, by one request however many calls wait for it.
//!
//! Nothing of it is written anywhere: no log, no store, no error tells a token or the client's secret.

mod endpoint;
mod token;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture, future::Shared};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use self::endpoint::Endpoint;
pub(super) use self::token::{Token, bearer, traces};
use super::{credential::Credential, settings::Settings};
use crate::upstream::{
    UpstreamError,
    reader::{Allow, Fault, Trust},
};

/// One request for a token, and where tokens are handed out, take no longer than this, as with any other secret.
const TOTAL: Duration = Duration::from_secs(5);
/// After a failure nobody asks again for this long: who hands out tokens is not to be stormed by everyone who waits.
const PAUSE: Duration = Duration::from_secs(1);
/// A token that was just made because the former one was rejected is not worth another one.
const MOMENT: Duration = Duration::from_secs(5);

type Got = Result<Arc<Token>, Fault>;
type Flight = Shared<BoxFuture<'static, Got>>;

/// The tokens of one target. Clones share them.
#[derive(Clone)]
pub(super) struct Tokens(Arc<Room>);

struct Room {
    endpoint: Endpoint,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Arc<Token>>,
    flight: Option<Flight>,
    failed: Option<(Instant, Fault)>,
    /// When a token was last made in place of one that was rejected.
    forced: Option<Instant>,
}

impl Tokens {
    /// For a client, as the settings of the target say.
    ///
    /// # Errors
    /// When there is no client, or nothing is said of where it gets tokens.
    pub(super) fn new(
        settings: &Settings,
        credential: Credential,
        trust: &Trust,
        allow: &Allow,
    ) -> Result<Self, Fault> {
        let endpoint = Endpoint::new(settings, credential, trust, allow)?;
        Ok(Self(Arc::new(Room {
            endpoint,
            state: Mutex::default(),
        })))
    }

    /// A token that is good, at once where one is there.
    pub(super) async fn current(&self) -> Got {
        let flight = {
            let mut state = self.0.state();
            let now = Instant::now();
            if let Some(token) = state.token.as_ref().filter(|token| token.is_good(now)).cloned() {
                if token.is_due(now) && !state.failed_lately(now) {
                    // Nobody waits for it: whoever comes before it has landed takes the token that is there.
                    drop(self.renewing(&mut state));
                }
                return Ok(token);
            }
            if let Some((at, fault)) = &state.failed
                && now.duration_since(*at) < PAUSE
            {
                return Err(fault.clone());
            }
            self.renewing(&mut state)
        };
        flight.await
    }

    /// Another token in place of one that the back end rejected; `None` where that was tried a moment ago.
    pub(super) async fn after_rejected(&self, rejected: &Arc<Token>) -> Option<Got> {
        let flight = {
            let mut state = self.0.state();
            let now = Instant::now();
            match &state.token {
                Some(token) if !Arc::ptr_eq(token, rejected) && token.is_good(now) => {
                    return Some(Ok(Arc::clone(token)));
                }
                _ => {}
            }
            if state.flight.is_none() {
                let lately = state.forced.is_some_and(|at| now.duration_since(at) < MOMENT);
                if lately || state.failed_lately(now) {
                    return None;
                }
                state.forced = Some(now);
                state.token = None;
            }
            self.renewing(&mut state)
        };
        Some(flight.await)
    }

    // The task is begun under the lock that it takes at its end, so it always finds its own flight there.
    fn renewing(&self, state: &mut State) -> Flight {
        if let Some(flight) = &state.flight {
            return flight.clone();
        }
        let room = Arc::clone(&self.0);
        let task = AbortOnDropHandle::new(tokio::spawn(async move { room.renew().await }));
        let landed = async move {
            let lost = || {
                Fault::new(
                    UpstreamError::TokenUnavailable,
                    "the request for a token was lost",
                )
            };
            task.await.unwrap_or_else(|_| Err(lost()))
        };
        let flight = landed.boxed().shared();
        state.flight = Some(flight.clone());
        flight
    }
}

impl Room {
    async fn renew(&self) -> Got {
        let asked = timeout(TOTAL, self.endpoint.ask()).await;
        let got = asked.unwrap_or_else(|_| {
            let detail = format!("{} gave no token within 5 s", self.endpoint.place());
            Err(Fault::new(UpstreamError::TokenUnavailable, detail))
        });
        let got = got.map(Arc::new);
        let mut state = self.state();
        state.flight = None;
        match &got {
            Ok(token) => {
                state.token = Some(Arc::clone(token));
                state.failed = None;
            }
            Err(fault) => {
                tracing::warn!(why = %fault.detail, "no token for a target of agents");
                state.failed = Some((Instant::now(), fault.clone()));
            }
        }
        got
    }

    // Nothing is done under the lock that can fail, so a poisoned one holds what it held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn failed_lately(&self, now: Instant) -> bool {
        self.failed
            .as_ref()
            .is_some_and(|(at, _)| now.duration_since(*at) < PAUSE)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({})", self.0.endpoint.place())
    }
}

#[cfg(test)]
mod tests;
