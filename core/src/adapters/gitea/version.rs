//! What a server says its version is, and what follows from it. Pure.
//!
//! Versions are what a build was linked with: releases, `git describe` with a plus sign, or a bare commit. Only the
//! leading two numbers are read, so that a release candidate counts as its release. Whatever has none is unknown, and
//! is treated like the newest.

use super::runs::Source;

/// Longer texts are cut: they are shown to admins and kept.
const LONGEST: usize = 64;

/// The version of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    /// As the server tells it, cut and without control characters.
    pub(super) text: String,
    pub(super) product: Product,
    /// Of the product's own numbering; `None` when it cannot be told.
    number: Option<(u32, u32)>,
}

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    Gitea,
    Forgejo,
}

/// What a server lets see of a token's scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    /// Every scope, in the text of a refusal.
    All,
    /// That a scope is missing, where one is.
    Missing,
    /// Nothing that is relied on.
    Nothing,
    /// Not known: what is seen counts.
    Unknown,
}

impl Version {
    /// Out of what the server told, if it told anything.
    pub(super) fn read(told: &str) -> Self {
        let text: String = told
            .chars()
            .filter(|c| c.is_ascii_graphic())
            .take(LONGEST)
            .collect();
        let number = leading(&text);
        // Gitea never reached 2, and Forgejo numbers on its own since 7.
        let is_forgejo = text.contains("+gitea-") || number.is_some_and(|(major, _)| major > 1);
        Self {
            product: if is_forgejo {
                Product::Forgejo
            } else {
                Product::Gitea
            },
            number,
            text,
        }
    }

    /// What the server lets see of scopes.
    pub(super) fn shows(&self) -> Shows {
        match (self.product, self.number) {
            (_, None) => Shows::Unknown,
            (Product::Forgejo, Some(_)) => Shows::Missing,
            (Product::Gitea, Some(number)) if number >= (1, 23) => Shows::All,
            (Product::Gitea, Some((1, 22))) => Shows::Missing,
            (Product::Gitea, Some(_)) => Shows::Nothing,
        }
    }

    /// The best that the server may tell of CI runs. One that is unknown is asked for everything.
    pub(super) fn source(&self) -> Source {
        match (self.product, self.number) {
            (_, None) => Source::Runs,
            (Product::Forgejo, Some((major, _))) if major >= 14 => Source::Runs,
            (Product::Forgejo, Some(_)) => Source::Tasks,
            (Product::Gitea, Some(number)) if number >= (1, 25) => Source::Runs,
            (Product::Gitea, Some(number)) if number >= (1, 23) => Source::Tasks,
            (Product::Gitea, Some(_)) => Source::Statuses,
        }
    }
}

impl Product {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gitea => "gitea",
            Self::Forgejo => "forgejo",
        }
    }

    /// By its name, as a validation has kept it.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Gitea, Self::Forgejo]
            .into_iter()
            .find(|product| product.name() == name)
    }
}

/// The two numbers at the start: `1.22` of `1.22.3+5-gabcdef`. A commit that starts with digits has no dot.
fn leading(text: &str) -> Option<(u32, u32)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (major, rest) = text.split_once('.')?;
    let minor = rest
        .find(|c: char| !c.is_ascii_digit())
        .map_or(rest, |end| &rest[..end]);
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    match digits(major) && digits(minor) {
        true => Some((major.parse().ok()?, minor.parse().ok()?)),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(told: &str, product: Product, number: Option<(u32, u32)>, shows: Shows, source: Source) {
        let version = Version::read(told);
        assert_eq!((version.product, version.number), (product, number), "{told}");
        assert_eq!((version.shows(), version.source()), (shows, source), "{told}");
    }

    #[test]
    fn a_version_is_read_in_every_form_that_servers_were_seen_to_tell() {
        use Product::{Forgejo, Gitea};
        use Source::{Runs, Statuses, Tasks};
        let known = |major, minor| Some((major, minor));
        check("1.19.4", Gitea, known(1, 19), Shows::Nothing, Statuses);
        check("1.20.0", Gitea, known(1, 20), Shows::Nothing, Statuses);
        check("1.21.11-1", Gitea, known(1, 21), Shows::Nothing, Statuses);
        check("1.22.6", Gitea, known(1, 22), Shows::Missing, Statuses);
        check("1.22.0-rc0", Gitea, known(1, 22), Shows::Missing, Statuses);
        check("1.22.3+5-gabcdef", Gitea, known(1, 22), Shows::Missing, Statuses);
        check("1.23.0+dev-123-gabcdef", Gitea, known(1, 23), Shows::All, Tasks);
        check("v1.24.7", Gitea, known(1, 24), Shows::All, Tasks);
        check("1.25.0-rc0", Gitea, known(1, 25), Shows::All, Runs);
        check("1.25.0+rc0-3-gabcdef", Gitea, known(1, 25), Shows::All, Runs);
        check("1.28", Gitea, known(1, 28), Shows::All, Runs);
        check(
            "7.0.15+gitea-1.21.11",
            Forgejo,
            known(7, 0),
            Shows::Missing,
            Tasks,
        );
        check(
            "11.0.3+gitea-1.22.0",
            Forgejo,
            known(11, 0),
            Shows::Missing,
            Tasks,
        );
        check("15.0.9+gitea-1.22.0", Forgejo, known(15, 0), Shows::Missing, Runs);
        check("15.0.9", Forgejo, known(15, 0), Shows::Missing, Runs);
    }

    #[test]
    fn a_bare_commit_is_an_unknown_version_and_is_asked_for_everything() {
        for told in [
            "d64e081bf6",
            "b5757a6",
            "1234567",
            "",
            "dev",
            "1",
            ".5",
            "1.",
            "1.x",
            "99999999999.1",
        ] {
            check(told, Product::Gitea, None, Shows::Unknown, Source::Runs);
        }
    }

    #[test]
    fn a_version_is_kept_short_and_printable() {
        let version = Version::read(&format!("1.22.6\u{1b}[31m\n{}", "x".repeat(1000)));
        assert!(
            version.text.starts_with("1.22.6[31mx") && version.text.len() == 64,
            "{}",
            version.text
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            let version = Version::read(&text);
            let _ = (version.shows(), version.source());
        }
    }
}
