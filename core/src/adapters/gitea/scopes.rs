//! What a token may do, by what the server refused it. Pure.
//!
//! Servers tell a missing scope in the text of a 403, newer ones with every scope that the token has. What may be
//! concluded from that depends on the version: see the record of the decision, docs/adr/0049.

use super::version::Shows;
use crate::adapters::{Grants, Violation};

/// The one scope that a token must have.
pub(super) const NEEDED: &str = "read:repository";
/// May stand beside it: it takes away and gives nothing.
const LESS: &str = "public-only";
/// Scopes that are shown are cut after so many.
const MOST: usize = 32;

/// What was seen of a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Its whole scopes, where a refusal told them.
    pub(super) told: Option<Vec<String>>,
    /// Kinds of things, other than repositories, that it was refused for want of a scope.
    pub(super) refused: Vec<&'static str>,
    /// Kinds of things, other than repositories, that it could read.
    pub(super) granted: Vec<&'static str>,
    /// True when it was refused repositories for want of a scope.
    pub(super) lacks_repository: bool,
}

/// What follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    pub(super) proven: Vec<String>,
    pub(super) wider: Vec<String>,
    pub(super) not_provable: Vec<String>,
    pub(super) violation: Option<Violation>,
}

/// Whether a 403 says that a scope is missing, and the token's scopes where it tells them.
pub(super) fn missing_scope(message: &str) -> Option<Option<Vec<String>>> {
    if !message.contains("required scope(s)") {
        return None;
    }
    let told = message.split_once("token scope=").map(|(_, scopes)| {
        let scopes = scopes.trim().trim_matches(['[', ']']);
        let each = scopes
            .split([',', ' '])
            .map(str::trim)
            .filter(|scope| !scope.is_empty());
        each.map(shown).take(MOST).collect()
    });
    Some(told)
}

/// Judges what was seen by what this version lets see.
pub(super) fn judge(seen: &Seen, shows: Shows) -> Judgement {
    if let Some(told) = &seen.told {
        return exactly(told);
    }
    if seen.lacks_repository {
        return Judgement::refused(
            lacking(),
            seen.granted.iter().map(|kind| format!("read:{kind}")).collect(),
        );
    }
    match shows {
        Shows::Nothing => unseen(),
        Shows::Unknown if seen.refused.is_empty() => unseen(),
        Shows::All | Shows::Missing | Shows::Unknown => by_refusals(seen),
    }
}

/// The scopes are known: they must be exactly those that are needed.
fn exactly(told: &[String]) -> Judgement {
    let surplus: Vec<String> = told
        .iter()
        .filter(|scope| *scope != NEEDED && *scope != LESS)
        .cloned()
        .collect();
    let has = told.iter().any(|scope| scope == NEEDED);
    if has && surplus.is_empty() {
        return Judgement {
            proven: told.to_vec(),
            ..Judgement::default()
        };
    }
    let reads = has
        || surplus
            .iter()
            .any(|scope| scope == "write:repository" || scope == "all");
    let what = match (reads, surplus.is_empty()) {
        (false, true) => lacking(),
        (false, false) => format!(
            "the token lacks {NEEDED} and has {} instead; make one with {NEEDED} and nothing else",
            surplus.join(", ")
        ),
        (true, _) => format!(
            "the token can do more than read repositories: it has {}; make one with {NEEDED} and nothing else",
            surplus.join(", ")
        ),
    };
    Judgement::refused(what, surplus)
}

/// Only refusals are seen: one proves that the token has scopes, none that it has them all.
fn by_refusals(seen: &Seen) -> Judgement {
    if seen.refused.is_empty() {
        let what = format!(
            "the token was refused nothing, so it is not limited by scopes; make one with {NEEDED} and nothing else"
        );
        return Judgement::refused(what, vec!["all".to_owned()]);
    }
    let surplus: Vec<String> = seen.granted.iter().map(|kind| format!("read:{kind}")).collect();
    if !surplus.is_empty() {
        let what = format!(
            "the token can do more than read repositories: it has at least {}; make one with {NEEDED} and nothing else",
            surplus.join(", ")
        );
        return Judgement::refused(what, surplus);
    }
    let inconclusive = super::probes::KINDS
        .iter()
        .filter(|kind| !seen.refused.contains(kind));
    let unknown = inconclusive.map(|kind| format!("read:{kind}"));
    Judgement {
        proven: vec![NEEDED.to_owned()],
        not_provable: std::iter::once("write:repository".to_owned())
            .chain(unknown)
            .collect(),
        ..Judgement::default()
    }
}

/// Nothing is seen, so any token that is valid will do: this gateway reads and cannot write.
fn unseen() -> Judgement {
    Judgement {
        proven: vec![NEEDED.to_owned()],
        not_provable: vec!["scopes of the token".to_owned(), "write:repository".to_owned()],
        ..Judgement::default()
    }
}

fn lacking() -> String {
    format!("the token lacks {NEEDED}; make one with {NEEDED} and nothing else")
}

/// A scope as it may be shown.
fn shown(scope: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_');
    scope.chars().filter(plain).take(40).collect()
}

impl Judgement {
    fn refused(what: String, wider: Vec<String>) -> Self {
        let violation = Violation {
            of: Grants::Scopes,
            what,
            wider: !wider.is_empty(),
        };
        Self {
            wider,
            violation: Some(violation),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
