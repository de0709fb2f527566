//! Who asks, and what they may.

use super::{State, lock, repos::Repo};
use crate::{Reply, Request};

/// What a token may do.
#[derive(Debug, Clone, Default)]
pub struct Token {
    /// Its scopes, as servers write them; without any it is limited by none.
    scopes: Option<Vec<&'static str>>,
}

/// Whoever asks: with a token, or nobody.
pub(super) struct Asker(Option<Token>);

/// Kinds of things that scopes are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Admin,
    Issue,
    Misc,
    Notification,
    Organization,
    Package,
    Repository,
    User,
}

impl Token {
    /// A token with these scopes: `read:repository`, `write:user`, `public-only`, `all`, …
    #[must_use]
    pub fn with(scopes: &[&'static str]) -> Self {
        Self {
            scopes: Some(scopes.to_vec()),
        }
    }

    /// The least that Toolgate needs.
    #[must_use]
    pub fn least() -> Self {
        Self::with(&["read:repository"])
    }

    /// A token of the time before scopes.
    #[must_use]
    pub fn without_scopes() -> Self {
        Self::default()
    }

    fn has(&self, kind: Kind) -> bool {
        let Some(scopes) = &self.scopes else { return true };
        let (read, write) = (format!("read:{}", kind.name()), format!("write:{}", kind.name()));
        scopes
            .iter()
            .any(|scope| *scope == "all" || *scope == read || *scope == write)
    }

    fn is_public_only(&self) -> bool {
        self.scopes
            .as_ref()
            .is_some_and(|scopes| scopes.contains(&"public-only"))
    }
}

impl State {
    /// Who asks, by the header. A token in a query is not looked at.
    pub(super) fn asker(&self, request: &Request) -> Result<Asker, Reply> {
        let given = request.header("authorization").split_once(' ');
        let secret =
            given.filter(|(how, _)| ["token", "bearer"].contains(&how.to_ascii_lowercase().as_str()));
        let known = secret.map(|(_, secret)| lock(&self.tokens).get(secret).cloned());
        match known {
            Some(Some(token)) => Ok(Asker(Some(token))),
            Some(None) if self.setup.version.refuses_unknown_tokens() => {
                Err(self.no(401, "user does not exist [uid: 0, name: ]"))
            }
            _ if self.setup.closed => Err(self.no(403, "Only signed in user is allowed to call APIs.")),
            _ => Ok(Asker(None)),
        }
    }
}

impl Asker {
    /// Goes on for whoever is signed in and may read this kind of things.
    pub(super) fn needs(&self, state: &State, kind: Kind) -> Result<(), Reply> {
        match &self.0 {
            // The version is behind a scope for tokens only.
            None if kind == Kind::Misc => Ok(()),
            None => Err(state.no(401, "token is required")),
            Some(_) => self.may(state, kind),
        }
    }

    /// Goes on for anybody but a token that may not read this kind of things.
    pub(super) fn may(&self, state: &State, kind: Kind) -> Result<(), Reply> {
        let version = state.setup.version;
        let Some(token) = self.0.as_ref().filter(|_| version.has_scopes()) else {
            return Ok(());
        };
        if token.has(kind) {
            return Ok(());
        }
        let required = format!("read:{}", kind.name());
        let text = match version.tells_scopes() {
            true => format!(
                "token does not have at least one of required scope(s), required=[{required}], token scope={}",
                token.scopes.clone().unwrap_or_default().join(",")
            ),
            false => format!("token does not have at least one of required scope(s): [{required}]"),
        };
        Err(state.no(403, &text))
    }

    /// Whether a repository is shown.
    pub(super) fn sees(&self, repo: &Repo) -> bool {
        match &self.0 {
            None => !repo.private,
            Some(token) => !(repo.private && token.is_public_only()),
        }
    }

    pub(super) fn is_nobody(&self) -> bool {
        self.0.is_none()
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Issue => "issue",
            Self::Misc => "misc",
            Self::Notification => "notification",
            Self::Organization => "organization",
            Self::Package => "package",
            Self::Repository => "repository",
            Self::User => "user",
        }
    }
}
