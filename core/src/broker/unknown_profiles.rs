//! What becomes of profiles that nobody knows, and who hears of them.
//!
//! The log hears of a name once in ten minutes, not at every request that repeats it, and of so many names only: whoever
//! may name a profile must not be able to fill it.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use super::admit::bounded;
use crate::{clock::Clock, profiles::UnknownProfile};

/// A name is said again after this long.
const AGAIN: Duration = Duration::from_secs(600);
/// So many names are said in that time.
const MOST: usize = 32;

/// The rule for them, and which were said of late.
#[derive(Debug)]
pub(crate) struct UnknownProfiles {
    rule: UnknownProfile,
    clock: Clock,
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    since: Duration,
    names: HashSet<String>,
}

/// What the log is to hear.
#[derive(Debug, PartialEq, Eq)]
enum Word {
    Nothing,
    Name,
    /// The last that it hears for a while.
    More,
}

impl UnknownProfiles {
    /// None was said yet.
    pub(crate) fn new(rule: UnknownProfile, clock: Clock) -> Self {
        Self {
            rule,
            clock,
            said: Mutex::default(),
        }
    }

    /// What becomes of them.
    pub(crate) fn rule(&self) -> UnknownProfile {
        self.rule
    }

    /// Says in the log that somebody named this one.
    pub(super) fn say(&self, name: &str) {
        let name = bounded(name.to_owned()).escape_debug().to_string();
        let becomes = match self.rule {
            UnknownProfile::Open => "nothing is hidden by it",
            UnknownProfile::Closed => "only what no profile leaves out is there",
        };
        match self.word(&name) {
            Word::Nothing => {}
            Word::Name => tracing::warn!(profile = %name, "unknown profile, {becomes}"),
            Word::More => tracing::warn!("more unknown profiles than are said here, {becomes}"),
        }
    }

    fn word(&self, name: &str) -> Word {
        let now = self.clock.monotonic();
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_sub(said.since) >= AGAIN {
            *said = Said {
                since: now,
                names: HashSet::new(),
            };
        }
        if said.names.len() > MOST || said.names.contains(name) {
            return Word::Nothing;
        }
        said.names.insert(name.to_owned());
        match said.names.len() > MOST {
            true => Word::More,
            false => Word::Name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_said_once_in_ten_minutes_and_not_more_than_so_many_of_them() {
        let clock = Clock::manual(0);
        let unknown = UnknownProfiles::new(UnknownProfile::Open, clock.clone());
        let hear = |name: &str| unknown.word(name);
        assert_eq!(hear("revue"), Word::Name);
        for _ in 0..1_000 {
            assert_eq!(hear("revue"), Word::Nothing);
        }
        for other in 1..MOST {
            assert_eq!(hear(&other.to_string()), Word::Name);
        }
        assert_eq!(hear("one more"), Word::More);
        for other in 0..1_000 {
            assert_eq!(hear(&format!("flood {other}")), Word::Nothing);
        }
        assert!(unknown.said.lock().unwrap().names.len() <= MOST + 1);

        clock.advance(AGAIN);
        assert_eq!(hear("revue"), Word::Name);
        assert_eq!(hear("revue"), Word::Nothing);
    }
}
