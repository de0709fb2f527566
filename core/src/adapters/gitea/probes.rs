//! What is asked to see what a token may read beside repositories: one question for each kind of things.
//!
//! A refusal for want of a scope is the proof; what is found is dropped unread.

use super::{
    ask::{No, Said},
    scopes::Seen,
};
use crate::upstream::{UpstreamError, reader::ReadPath};

/// The kinds that are asked for.
pub(super) const KINDS: [&str; 6] = [
    "user",
    "notification",
    "organization",
    "issue",
    "package",
    "admin",
];

/// A question, and the kind of things that it asks for.
pub(super) struct Probe {
    pub(super) kind: &'static str,
    pub(super) path: ReadPath,
}

/// Whom the token acts for. Asked first: whoever is nobody is refused here on every version.
pub(super) fn user() -> Probe {
    Probe {
        kind: "user",
        path: ReadPath::of(["user"]),
    }
}

/// The others. Organisations and packages are asked for by a name, where one is known.
pub(super) fn others(some_owner: Option<&str>) -> Vec<Probe> {
    let probe = |kind, path| Probe { kind, path };
    let few = |path: ReadPath| path.with("limit", "1");
    let mut probes = vec![
        probe("notification", ReadPath::of(["notifications", "new"])),
        probe("organization", few(ReadPath::of(["user", "orgs"]))),
        probe("issue", few(ReadPath::of(["repos", "issues", "search"]))),
        probe("admin", few(ReadPath::of(["admin", "cron"]))),
    ];
    if let Some(owner) = some_owner {
        probes.push(probe("organization", ReadPath::of(["orgs", owner])));
        probes.push(probe("package", few(ReadPath::of(["packages", owner]))));
    }
    probes
}

impl Seen {
    /// Takes down what came of a probe. Whatever is neither an answer nor a refusal for want of a scope proves nothing.
    pub(super) fn note(&mut self, kind: &'static str, said: &Result<Said, UpstreamError>) {
        match said {
            Ok(Said::Yes(_)) if !self.granted.contains(&kind) => self.granted.push(kind),
            Ok(Said::No(no)) => self.note_no(kind, no),
            Ok(Said::Yes(_)) | Err(_) => {}
        }
    }

    fn note_no(&mut self, kind: &'static str, no: &No) {
        let Some(told) = no.missing_scope() else { return };
        self.told = self.told.take().or(told);
        if !self.refused.contains(&kind) {
            self.refused.push(kind);
        }
    }
}
