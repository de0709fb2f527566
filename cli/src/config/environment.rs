//! The environment, read once. Everything that starts with `TOOLGATE_` must be known; of other names, a few are read.

mod pod;

use std::{collections::BTreeMap, fmt};

use zeroize::Zeroizing;

use crate::commands::smoke::account;

pub(crate) use self::pod::{GivenCredential, url_variable};
use super::{keys::KEYS, nearest::nearest, problem::Problem};

const PREFIX: &str = "TOOLGATE_";
/// API token of client commands.
pub(crate) const TOKEN: &str = "TOOLGATE_TOKEN";
/// One-time token of `relay host`.
pub(crate) const ENROLMENT_TOKEN: &str = "TOOLGATE_ENROLMENT_TOKEN";

/// What the process was given by its environment.
#[derive(Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
    broken: Vec<String>,
    no_color: bool,
}

impl fmt::Debug for Environment {
    // Some of the variables are credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

impl Environment {
    /// Reads the process environment.
    #[allow(clippy::disallowed_methods, reason = "this is the place")]
    pub(crate) fn of_process() -> Self {
        let mut read = Self {
            no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
            ..Self::default()
        };
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str().filter(|name| is_read(name)) else {
                continue;
            };
            match value.into_string() {
                Ok(value) => drop(read.variables.insert(name.into(), value)),
                // What others read may be anything.
                Err(_) if name.starts_with(PREFIX) || pod::is_read(name) => read.broken.push(name.into()),
                Err(_) => {}
            }
        }
        read
    }

    /// An environment made by hand.
    #[cfg(test)]
    pub(crate) fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        let variables = variables.map(|(name, value)| (name.into(), value.into())).into();
        Self {
            variables,
            ..Self::default()
        }
    }

    /// The value of a setting's variable. An empty one counts as not set.
    pub(crate) fn get(&self, variable: &str) -> Option<&str> {
        self.variables
            .get(variable)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The API token.
    pub(crate) fn token(&self) -> Option<Zeroizing<String>> {
        self.get(TOKEN).map(|token| Zeroizing::new(token.trim().into()))
    }

    /// The one-time token of a relay.
    pub(crate) fn enrolment_token(&self) -> Option<Zeroizing<String>> {
        self.get(ENROLMENT_TOKEN)
            .map(|token| Zeroizing::new(token.trim().into()))
    }

    /// The user wants no colour (no-color.org).
    pub(crate) fn no_color(&self) -> bool {
        self.no_color
    }

    /// Variables that nobody reads, each with the nearest known one.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut known: Vec<String> = KEYS.iter().map(super::key::Key::variable).collect();
        known.extend([TOKEN.into(), ENROLMENT_TOKEN.into()]);
        known.extend(account::VARIABLES.map(Into::into));
        let unknown = self
            .variables
            .keys()
            .filter(|name| name.starts_with(PREFIX) && !known.contains(name))
            .map(|name| Problem::new(name, format!("unknown variable{}", meant(name, &known))));
        let broken = self
            .broken
            .iter()
            .map(|name| Problem::new(name, "the value is not UTF-8"));
        unknown.chain(broken).collect()
    }
}

fn is_read(name: &str) -> bool {
    name.starts_with(PREFIX) || pod::is_known(name)
}

// What all of them begin with brings none of them nearer.
fn meant(name: &str, known: &[String]) -> String {
    let bare = |name: &'_ str| name.strip_prefix(PREFIX).unwrap_or_default().to_owned();
    let known: Vec<String> = known.iter().map(|name| bare(name)).collect();
    let meant = nearest(&bare(name), known.iter().map(String::as_str));
    meant.map_or_else(String::new, |meant| format!("; did you mean `{PREFIX}{meant}`?"))
}
