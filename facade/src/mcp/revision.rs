//! The revisions of the protocol that are spoken, and which one an `initialize` gets.

/// Every revision, newest first.
pub(super) const NAMES: [&str; 5] = [
    "2026-07-28",
    "2025-11-25",
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
];

/// A revision that begins with `initialize`, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Legacy {
    /// 2024-11-05
    First,
    /// 2025-03-26
    Streamable,
    /// 2025-06-18
    Structured,
    /// 2025-11-25
    Latest,
}

/// The revision without a beginning: every request stands for itself.
pub(super) const MODERN: &str = "2026-07-28";

impl Legacy {
    /// What is assumed of a peer that says nothing (row V2).
    pub(crate) const ASSUMED: Self = Self::Streamable;

    const ALL: [Self; 4] = [Self::First, Self::Streamable, Self::Structured, Self::Latest];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// The revision asked for where it is one of these, else the latest of them; never the one without a beginning.
    pub(super) fn negotiate(asked: &str) -> Self {
        Self::parse(asked).unwrap_or(Self::Latest)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "2024-11-05",
            Self::Streamable => "2025-03-26",
            Self::Structured => "2025-06-18",
            Self::Latest => "2025-11-25",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_of_ours_is_echoed_and_any_other_becomes_the_latest_with_a_beginning() {
        let check = |asked: &str, expected: &str| {
            assert_eq!(Legacy::negotiate(asked).name(), expected, "{asked}");
        };
        for ours in &NAMES[1..] {
            check(ours, ours);
        }
        for other in ["1999-01-01", MODERN, "2099-01-01", "", "2025-06-18 ", "draft"] {
            check(other, "2025-11-25");
        }
    }
}
