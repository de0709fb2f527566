//! A script: what the model does, round after round. Read from JSON, closed, and bounded.
//!
//! ```json
//! {
//!   "model": "mock",
//!   "rounds": [
//!     {"call": [{"tool": "wanted"}]},
//!     {"quote": ["full_name", "name"]}
//!   ]
//! }
//! ```
//!
//! A round is `{"call": [CHOICE…]}`, `{"say": TEXT}` or `{"quote": [FIELD…]}`; `"repeat": N` or `"repeat": "forever"`
//! plays it again. A choice names its tool: `"wanted"` (the one that the user's message names), `{"named": NAME}`,
//! `{"matching": "*_list_repos"}` out of the request's tools, or `{"unlisted": NAME}`, which is called though no such tool
//! was given. Its `arguments` are JSON, or `raw_arguments` a text that need not be JSON. Once the rounds are over, the last
//! one that speaks is played, and where none does, what the tools answered is quoted.

mod builtin;

use std::{error::Error, fmt};

use serde::Deserialize;
use serde_json::value::RawValue;

const FILE: usize = 1 << 20;
const ROUNDS: usize = 100;
const CALLS: usize = 64;
const REPEATS: u32 = 1_000;

/// What one model does.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub(crate) model: String,
    pub(crate) rounds: Vec<Round>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Round {
    call: Option<Vec<Choice>>,
    say: Option<String>,
    quote: Option<Vec<String>>,
    #[serde(default)]
    repeat: Repeat,
}

/// What a round does: exactly one thing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act<'a> {
    Call(&'a [Choice]),
    Say(&'a str),
    Quote(&'a [String]),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    pub(crate) tool: Pick,
    pub(crate) arguments: Option<Box<RawValue>>,
    pub(crate) raw_arguments: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pick {
    Wanted,
    Named(String),
    Matching(String),
    Unlisted(String),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(crate) enum Repeat {
    Times(u32),
    Word(Word),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    Forever,
}

impl Default for Repeat {
    fn default() -> Self {
        Self::Times(1)
    }
}

/// Why a script cannot be played.
#[derive(Debug)]
pub struct ScriptError(String);

impl fmt::Display for ScriptError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl Error for ScriptError {}

impl Script {
    /// Reads one from JSON.
    ///
    /// # Errors
    /// When it is no script; the text says where.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        if text.len() > FILE {
            return Err(ScriptError(format!("a script has at most {FILE} bytes")));
        }
        let script: Self = serde_json::from_str(text).map_err(|error| ScriptError(error.to_string()))?;
        script.check()?;
        Ok(script)
    }

    /// The name that clients call this model by.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What is done in the round of this number; beyond the last one, the last that speaks.
    pub(crate) fn act(&self, number: usize) -> Act<'_> {
        let mut first = 0;
        for round in &self.rounds {
            let Repeat::Times(times) = round.repeat else {
                return round.act();
            };
            first += times as usize;
            if number < first {
                return round.act();
            }
        }
        let speaks = |act: &Act<'_>| !matches!(act, Act::Call(_));
        let spoken = self.rounds.iter().rev().map(Round::act).find(speaks);
        spoken.unwrap_or(Act::Quote(&[]))
    }

    fn check(&self) -> Result<(), ScriptError> {
        let named = |what: &str| Err(ScriptError(what.to_owned()));
        if self.model.is_empty() || self.model.len() > 64 {
            return named("model: a name of 1 to 64 bytes");
        }
        if self.rounds.is_empty() || self.rounds.len() > ROUNDS {
            return Err(ScriptError(format!("rounds: from 1 to {ROUNDS}")));
        }
        for (number, round) in self.rounds.iter().enumerate() {
            round
                .check()
                .map_err(|what| ScriptError(format!("rounds[{number}]: {what}")))?;
        }
        let last = self.rounds.len() - 1;
        let early = |round: &Round| matches!(round.repeat, Repeat::Word(_));
        if self.rounds[..last].iter().any(early) {
            return named("rounds: only the last one may repeat forever");
        }
        Ok(())
    }
}

impl Round {
    pub(crate) fn act(&self) -> Act<'_> {
        match (&self.call, &self.say, &self.quote) {
            (Some(choices), ..) => Act::Call(choices),
            (None, Some(text), _) => Act::Say(text),
            (None, None, fields) => Act::Quote(fields.as_deref().unwrap_or_default()),
        }
    }

    fn check(&self) -> Result<(), String> {
        let acts = [self.call.is_some(), self.say.is_some(), self.quote.is_some()];
        if acts.into_iter().filter(|set| *set).count() != 1 {
            return Err("one of call, say and quote".to_owned());
        }
        if let Repeat::Times(0) | Repeat::Times(REPEATS..) = self.repeat {
            return Err(format!("repeat: a number below {REPEATS}, or \"forever\""));
        }
        let choices = self.call.as_deref().unwrap_or_default();
        if self.call.is_some() && !(1..=CALLS).contains(&choices.len()) {
            return Err(format!("call: from 1 to {CALLS} choices"));
        }
        let twice = |choice: &Choice| choice.arguments.is_some() && choice.raw_arguments.is_some();
        if choices.iter().any(twice) {
            return Err("call: arguments or raw_arguments, not both".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
