//! What the settings of all targets that are dialled have in common.
//!
//! Settings are closed: a key that nobody reads is an error. Keys are accepted as `camelCase` and as `snake_case` and
//! stored as `camelCase`; what is stored says everything, so that later defaults change nothing.

mod dialled;
mod fields;

pub(super) use self::dialled::destination;
pub(crate) use self::fields::Reading;

/// What a target may dial when its settings say nothing of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defaults {
    /// This machine, and plain HTTP: so under a gateway that only this machine reaches.
    pub local: bool,
}

#[cfg(test)]
mod tests;
