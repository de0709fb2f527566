//! What is read once to see whether a token is for more than runs.

use super::{
    super::{
        ask::{Lack, Miss},
        repos::Told,
        route::Route,
        runs::Runs,
    },
    Answer, UpstreamError,
};

/// One permission, and the path that shows whether a token has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Probe {
    /// Its name in GitHub's documents.
    pub(super) permission: &'static str,
    path: &'static [&'static str],
}

/// A repository in which is probed.
#[derive(Debug, Clone)]
pub(super) struct Place {
    owner: String,
    name: String,
    branch: String,
    /// Whether the person behind the token administers it: else GitHub refuses them, whatever the token may do.
    administered: bool,
}

/// What a probe came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answered {
    /// It was read.
    Held,
    /// GitHub says that the permission is missing.
    NotHeld,
    /// Neither.
    Unclear,
    /// A limit kept it back.
    Kept(Lack),
}

/// Stands for the branch that is looked at.
const BRANCH: &str = "{branch}";

const fn probe(permission: &'static str, path: &'static [&'static str]) -> Probe {
    Probe { permission, path }
}

const HOOKS: Probe = probe("repository_hooks", &["hooks"]);
const SECRETS: Probe = probe("secrets", &["actions", "secrets"]);
const VARIABLES: Probe = probe("variables", &["actions", "variables"]);
const ADMINISTRATION: Probe = probe("administration", &["actions", "permissions"]);

/// Never public, so they also tell something in a public repository.
pub(super) const ADMINISTRATIVE: [Probe; 4] = [HOOKS, SECRETS, VARIABLES, ADMINISTRATION];

/// All, for a private repository. The first is what the token should have.
pub(super) const PRIVATE: [Probe; 10] = [
    probe(MINIMUM, &["actions", "runs"]),
    probe("contents", &["commits"]),
    probe("issues", &["issues"]),
    probe("pull_requests", &["pulls"]),
    probe("deployments", &["deployments"]),
    probe("statuses", &["commits", BRANCH, "status"]),
    HOOKS,
    SECRETS,
    VARIABLES,
    ADMINISTRATION,
];

const MINIMUM: &str = "actions";

impl Probe {
    /// Whether this is what the token should have.
    pub(super) fn is_minimum(&self) -> bool {
        self.permission == MINIMUM
    }

    pub(super) fn route(&self, place: &Place) -> Route {
        let branch = |part: &&'static str| {
            if *part == BRANCH {
                place.branch.clone()
            } else {
                (*part).to_owned()
            }
        };
        let path: Vec<String> = self.path.iter().map(branch).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        Route::in_repo(&place.owner, &place.name, &path).with("per_page", "1")
    }

    /// What an answer from this place shows.
    pub(super) fn read(&self, place: &Place, answer: Result<Answer, Miss>) -> Answered {
        match answer {
            Ok(answer) if self.is_minimum() => {
                let runs = answer.json().and_then(Runs::read);
                runs.map_or(Answered::Unclear, |_| Answered::Held)
            }
            Ok(answer) if answer.status == 200 => Answered::Held,
            Ok(_) => Answered::Unclear,
            Err(Miss::No(_)) if ADMINISTRATIVE.contains(self) && !place.administered => Answered::Unclear,
            Err(Miss::No(no)) if no.lacks_permission() => Answered::NotHeld,
            Err(Miss::No(_)) => Answered::Unclear,
            Err(Miss::Fault(lack)) => match lack.error {
                UpstreamError::RateLimited(_) | UpstreamError::CredentialRejected => Answered::Kept(lack),
                _ if self.is_minimum() => Answered::Kept(lack),
                _ => Answered::Unclear,
            },
        }
    }
}

/// How little a repository promises to tell: empty, archived and disabled ones come last, and then those that the person
/// behind the token does not administer.
pub(super) fn unlikely(repo: &Told) -> (bool, bool, bool, bool) {
    (
        repo.disabled == Some(true),
        repo.size == Some(0),
        repo.archived == Some(true),
        !repo.is_administered(),
    )
}

/// A repository as a place, if it can be named.
pub(super) fn place(repo: &Told) -> Option<Place> {
    let (owner, name) = repo.full_name.as_deref()?.split_once('/')?;
    let fits = |part: &str| {
        !part.is_empty() && part.len() <= 101 && !matches!(part, "." | "..") && !part.contains('/')
    };
    (fits(owner) && fits(name)).then(|| Place {
        owner: owner.to_owned(),
        name: name.to_owned(),
        branch: repo.default_branch.clone().unwrap_or_else(|| "HEAD".into()),
        administered: repo.is_administered(),
    })
}
