//! GitHub's limits, and the time in which the credential is left alone because of them.
//!
//! Limits are of the credential, not of a path: while it cools down nothing is sent with it. A limit that GitHub does
//! not tell (a server of one's own has none by default) is not a limit of zero.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderMap, StatusCode, header};
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

use crate::clock::Clock;

/// What GitHub asks of clients when it does not say how long they should wait.
const UNSAID: Duration = Duration::from_secs(60);
/// GitHub counts by the hour; whatever is told beyond that is not believed.
const LONGEST: Duration = Duration::from_secs(3_600);
/// Doublings of a wait that was not said.
const DOUBLINGS: u32 = 5;

/// How long the credential is left alone.
#[derive(Debug)]
pub(super) struct CoolDown {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    until: Duration,
    unsaid: u32,
}

/// A limit that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// It is over at this moment, in seconds since 1970 by GitHub's own time.
    Until {
        /// The moment.
        reset: u64,
        /// What time it is there, where it says.
        now: Option<u64>,
    },
    /// It is over after this.
    For(Duration),
    /// It is over some time.
    Unsaid,
}

impl CoolDown {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            state: Mutex::default(),
        }
    }

    /// How much longer nothing may be sent.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.state().until.saturating_sub(self.clock.monotonic());
        (!left.is_zero()).then_some(left)
    }

    /// Begins to leave the credential alone, or goes on; gives how long.
    pub(super) fn begin(&self, limit: Limit) -> Duration {
        let now = self.clock.monotonic();
        let mut state = self.state();
        // Of several that met the same limit at once only the first makes it worse.
        if limit == Limit::Unsaid && state.until > now {
            return state.until.saturating_sub(now);
        }
        let wait = match limit {
            Limit::For(wait) => wait,
            Limit::Until { reset, now } => {
                let now = now.unwrap_or_else(|| u64::try_from(self.clock.wall_us() / 1_000_000).unwrap_or(0));
                Duration::from_secs(reset.saturating_sub(now))
            }
            Limit::Unsaid => {
                let wait = UNSAID * 2_u32.pow(state.unsaid.min(DOUBLINGS));
                state.unsaid += 1;
                wait
            }
        };
        let wait = wait.clamp(Duration::from_secs(1), LONGEST);
        state.until = state.until.max(now + wait);
        state.until.saturating_sub(now)
    }

    /// An answer came that no limit kept back.
    pub(super) fn over(&self) {
        self.state().unsaid = 0;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limit that an answer tells of, if it is one that tells of a limit.
///
/// A secondary limit without `Retry-After` looks like a missing permission but for its message.
pub(super) fn limit(status: StatusCode, headers: &HeaderMap, message: &str) -> Option<Limit> {
    if !matches!(status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) {
        return None;
    }
    let message = message.to_ascii_lowercase();
    let says = |words: &str| message.contains(words);
    let secondary = says("secondary rate limit") || says("abuse detection");
    let spent = number(headers, "x-ratelimit-remaining") == Some(0);
    let after = number(headers, header::RETRY_AFTER.as_str());
    if let Some(seconds) = after {
        return Some(Limit::For(Duration::from_secs(seconds)));
    }
    let reset = number(headers, "x-ratelimit-reset").filter(|_| spent);
    if let Some(reset) = reset {
        let now = date(headers);
        return Some(Limit::Until { reset, now });
    }
    let limited =
        secondary || spent || says("rate limit exceeded") || status == StatusCode::TOO_MANY_REQUESTS;
    limited.then_some(Limit::Unsaid)
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

fn date(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(header::DATE)?.to_str().ok()?;
    let time = OffsetDateTime::parse(text, &Rfc2822).ok()?;
    u64::try_from(time.unix_timestamp()).ok()
}

#[cfg(test)]
mod tests;
