//! What is wrong with the configuration: every fault with its place, all at once.

use std::fmt;

/// One fault and where it stands: `toolgate.toml:3`, `TOOLGATE_HTTP` or `--http`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The place.
    pub(crate) place: String,
    /// What is wrong, and what to do.
    pub(crate) text: String,
}

impl Problem {
    /// A fault at a place.
    pub(crate) fn new(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            text: text.into(),
        }
    }
}

/// All faults of one configuration; never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be used")?;
        for Problem { place, text } in &self.0 {
            write!(f, "\n  {place}: {text}")?;
        }
        Ok(())
    }
}
