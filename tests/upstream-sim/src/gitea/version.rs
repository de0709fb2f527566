//! What servers of each version know.

/// A version that can be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Takes a token that it does not know for nobody's.
    Gitea1_19,
    /// Hides its version behind a scope.
    Gitea1_20,
    /// The last without jobs.
    Gitea1_22,
    /// Tells scopes, and jobs.
    Gitea1_23,
    /// The same.
    Gitea1_24,
    /// Tells runs.
    Gitea1_25,
    /// The same, built where no tags were known.
    GiteaOfACommit,
    /// Tells jobs.
    Forgejo11,
    /// Tells runs in an object of its own.
    Forgejo15,
}

impl Version {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Gitea1_19,
        Self::Gitea1_20,
        Self::Gitea1_22,
        Self::Gitea1_23,
        Self::Gitea1_24,
        Self::Gitea1_25,
        Self::GiteaOfACommit,
        Self::Forgejo11,
        Self::Forgejo15,
    ];

    /// As it tells it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Gitea1_19 => "1.19.3",
            Self::Gitea1_20 => "1.20.0",
            Self::Gitea1_22 => "1.22.6",
            Self::Gitea1_23 => "1.23.0+dev-123-gabcdef",
            Self::Gitea1_24 => "1.24.7",
            Self::Gitea1_25 => "1.25.0-rc0",
            Self::GiteaOfACommit => "d64e081bf6",
            Self::Forgejo11 => "11.0.3+gitea-1.22.0",
            Self::Forgejo15 => "15.0.9+gitea-1.22.0",
        }
    }

    /// Whether a refusal tells every scope of the token.
    pub(super) fn tells_scopes(self) -> bool {
        matches!(
            self,
            Self::Gitea1_23 | Self::Gitea1_24 | Self::Gitea1_25 | Self::GiteaOfACommit
        )
    }

    /// Whether a token that it does not know is refused.
    pub(super) fn refuses_unknown_tokens(self) -> bool {
        self != Self::Gitea1_19
    }

    /// Whether tokens have scopes by which they are refused here.
    pub(super) fn has_scopes(self) -> bool {
        self != Self::Gitea1_19
    }

    /// Whether its version is behind a scope.
    pub(super) fn hides_version(self) -> bool {
        self == Self::Gitea1_20
    }

    pub(super) fn tells_jobs(self) -> bool {
        !matches!(self, Self::Gitea1_19 | Self::Gitea1_20 | Self::Gitea1_22)
    }

    pub(super) fn tells_runs(self) -> bool {
        matches!(self, Self::Gitea1_25 | Self::GiteaOfACommit | Self::Forgejo15)
    }

    pub(super) fn is_forgejo(self) -> bool {
        matches!(self, Self::Forgejo11 | Self::Forgejo15)
    }
}
