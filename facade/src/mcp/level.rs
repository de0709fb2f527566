//! Levels of log messages, and which one each conversation has asked for.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use bytes::Bytes;
use serde::Deserialize;

use super::{envelope::text, fault::Fault};

/// Conversations of a generation. Two generations are kept; a conversation that falls out asks again.
const GENERATION: usize = 4096;

/// The least level wanted, by its name of RFC 5424.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level(&'static str);

impl Level {
    const NAMES: [&str; 8] = [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ];

    pub(super) fn read(member: &[u8]) -> Result<Self, Fault> {
        let said = text(&Bytes::copy_from_slice(member)).unwrap_or_default();
        let known = Self::NAMES.into_iter().find(|name| *name == said);
        known.map(Self).ok_or_else(|| {
            Fault::params(
                "the level is none of debug, info, notice, warning, error, critical, alert, emergency",
            )
        })
    }

    pub(super) fn name(self) -> &'static str {
        self.0
    }

    /// Whether a message of these parameters is of this level or above. One whose level is none is let through.
    pub(super) fn lets_through(self, params: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Said<'a> {
            #[serde(borrow)]
            level: Cow<'a, str>,
        }
        let rank = |name: &str| Self::NAMES.iter().position(|known| *known == name);
        match serde_json::from_slice::<Said<'_>>(params) {
            Ok(said) => rank(&said.level) >= rank(self.0) || rank(&said.level).is_none(),
            Err(_) => true,
        }
    }
}

/// Who shares a level, and ids of requests that can be cancelled: a session, a credential, or a pipe. A keyed hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scope(pub(crate) u64);

/// The levels that were asked for by `logging/setLevel`. Kept by this process only.
#[derive(Debug, Default)]
pub(super) struct Levels(Mutex<[HashMap<Scope, Level>; 2]>);

impl Levels {
    pub(super) fn set(&self, scope: Scope, level: Level) {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if generations[0].len() >= GENERATION && !generations[0].contains_key(&scope) {
            generations[1] = std::mem::take(&mut generations[0]);
        }
        generations[0].insert(scope, level);
    }

    pub(super) fn of(&self, scope: Scope) -> Option<Level> {
        let generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generations.iter().find_map(|levels| levels.get(&scope)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_conversation_has_its_own_level_and_the_oldest_are_forgotten() {
        let levels = Levels::default();
        let level = |name: &str| Level::read(format!("\"{name}\"").as_bytes()).unwrap();
        levels.set(Scope(1), level("debug"));
        levels.set(Scope(2), level("error"));
        levels.set(Scope(1), level("info"));
        assert_eq!(levels.of(Scope(1)), Some(level("info")));
        assert_eq!(levels.of(Scope(2)), Some(level("error")));
        assert_eq!(levels.of(Scope(3)), None);
        for other in 10..10 + 2 * GENERATION as u64 {
            levels.set(Scope(other), level("alert"));
        }
        assert_eq!(levels.of(Scope(1)), None);
    }

    #[test]
    fn a_message_is_let_through_from_its_level_on() {
        let check = |wanted: &str, params: &str, expected: bool| {
            let level = Level::read(format!("\"{wanted}\"").as_bytes()).unwrap();
            assert_eq!(
                level.lets_through(params.as_bytes()),
                expected,
                "{wanted} {params}"
            );
        };
        check("info", r#"{"level":"debug","data":1}"#, false);
        check("info", r#"{"level":"info","data":1}"#, true);
        check("info", r#"{"data":1,"level":"al\u0065rt"}"#, true);
        check("debug", r#"{"level":"debug"}"#, true);
        check("alert", r#"{"level":"of its own"}"#, true);
        check("alert", r#"{"data":1}"#, true);
    }

    #[test]
    fn only_the_eight_levels_are_levels() {
        for name in Level::NAMES {
            assert_eq!(
                Level::read(format!("\"{name}\"").as_bytes()).unwrap().name(),
                name
            );
        }
        for other in ["\"trace\"", "\"DEBUG\"", "\"\"", "3", "null", "{}"] {
            assert_eq!(Level::read(other.as_bytes()).unwrap_err().code, -32602, "{other}");
        }
    }
}
