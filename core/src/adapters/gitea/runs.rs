//! The newest CI runs of a repository, from the best that the server can tell of them.
//!
//! What that is depends on its version: whole runs, jobs that are grouped by run here, or the states that an outside CI
//! reported for a commit. A server that lacks a route says 404, as it does for a repository that it hides, so the
//! repository itself is asked for before the next best is tried.

mod listed;
mod run;
mod statuses;
mod tasks;

use serde::{Deserialize, Serialize};

pub(super) use self::{run::Run, statuses::Status, tasks::Grouped};
use super::{
    Server,
    pages::{Page, Pages, Place},
    repos, row, said,
};
use crate::{
    journal::Contact,
    upstream::{ToolResult, UpstreamError},
};

const LIMIT: u32 = 10;
/// Pages that are gone through for one answer, where rows are grouped or left out here.
const GONE_THROUGH: u8 = 4;

/// What a server can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Runs,
    Tasks,
    Statuses,
}

/// What is asked.
#[derive(Debug, Clone, Deserialize)]
struct Asked {
    owner: String,
    repo: String,
    branch: Option<String>,
    event: Option<String>,
    status: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// What is answered.
#[derive(Debug, Default, Serialize)]
struct Told {
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    runs: Vec<Run>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    statuses: Vec<Status>,
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
}

/// What came of one source.
enum Came {
    /// An answer, or a no that ends the call.
    Of(ToolResult),
    /// The server has no such route, or hides the repository.
    Nothing,
    /// Actions are switched off for the repository, or not open to the token's user.
    Closed,
}

/// Runs the tool.
pub(super) async fn recent(
    server: &Server,
    contact: &Contact,
    arguments: &[u8],
) -> Result<ToolResult, UpstreamError> {
    let Ok(asked) = serde_json::from_slice::<Asked>(arguments) else {
        return said::no("the arguments cannot be read");
    };
    let place = match &asked.cursor {
        None => None,
        Some(cursor) => match Place::read(cursor).and_then(|place| Some((Source::of(place.list)?, place))) {
            Some(known) => Some(known),
            None => return said::no(super::BAD_CURSOR),
        },
    };
    let (best, place) = place.map_or((server.source, None), |(source, place)| (source, Some(place)));
    let mut closed = match listed(server, contact, &asked, best, place.clone()).await? {
        Came::Of(result) => return Ok(result),
        Came::Nothing => false,
        Came::Closed => true,
    };
    let repo = match repos::one(server, contact, &asked.owner, &asked.repo).await? {
        Ok(repo) => repo,
        Err(text) => return said::no(&text),
    };
    if best == Source::Runs && !closed && place.is_none() {
        match listed(server, contact, &asked, Source::Tasks, None).await? {
            Came::Of(result) => return Ok(result),
            Came::Nothing => {}
            Came::Closed => closed = true,
        }
    }
    let why = closed.then_some(
        "Actions are switched off for this repository, or its runs are not open to the user of this target's token",
    );
    statuses::told(server, contact, &asked, &repo, place, why).await
}

/// Runs or tasks, where this source is one of them.
async fn listed(
    server: &Server,
    contact: &Contact,
    asked: &Asked,
    source: Source,
    place: Option<Place>,
) -> Result<Came, UpstreamError> {
    match source {
        Source::Runs => listed::told(server, contact, asked, place).await,
        Source::Tasks => tasks::told(server, contact, asked, place).await,
        Source::Statuses => Ok(Came::Nothing),
    }
}

impl Source {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Tasks => "tasks",
            Self::Statuses => "statuses",
        }
    }

    /// By its name, as a validation has kept it.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Runs, Self::Tasks, Self::Statuses]
            .into_iter()
            .find(|source| source.name() == name)
    }

    /// Its letter in cursors.
    fn list(self) -> char {
        match self {
            Self::Runs => 'r',
            Self::Tasks => 't',
            Self::Statuses => 's',
        }
    }

    fn of(list: char) -> Option<Self> {
        [Self::Runs, Self::Tasks, Self::Statuses]
            .into_iter()
            .find(|source| source.list() == list)
    }
}

impl Asked {
    fn limit(&self) -> usize {
        usize::try_from(self.limit.unwrap_or(LIMIT)).unwrap_or(1).max(1)
    }

    fn name(&self) -> String {
        format!("{}/{}", self.owner, self.repo)
    }

    /// A no of the server to a list of runs.
    fn no(&self, no: &super::ask::No) -> Result<Came, UpstreamError> {
        match no.status {
            404 => Ok(Came::Nothing),
            403 if no.missing_scope().is_none() => Ok(Came::Closed),
            400 | 422 if self.status.is_some() => said::no(
                "the server does not know this status; it knows queued, waiting, in_progress, completed, success, failure, cancelled and skipped",
            )
            .map(Came::Of),
            _ => said::no(&no.told(&format!("the CI runs of {}", self.name()))).map(Came::Of),
        }
    }
}

impl Told {
    /// Of this list, where it stands now.
    fn of(source: Source, asked: &Asked, pages: &Pages<'_>, repository: Option<String>) -> Self {
        let moved = pages.moved_to.as_deref().and_then(repository_in);
        Self {
            source: source.name(),
            more: pages.rest().is_some(),
            next_cursor: pages.rest().map(Place::cursor),
            total_count: pages.total,
            repository: Some(repository.or(moved).unwrap_or_else(|| asked.name())),
            ..Self::default()
        }
    }

    fn result(&self) -> Result<ToolResult, UpstreamError> {
        said::result(&self.text(), self)
    }

    fn text(&self) -> String {
        let mut text = match (self.runs.is_empty(), self.statuses.is_empty()) {
            (true, true) if self.source == Source::Statuses.name() => String::new(),
            (true, true) if self.more => "No run that fits so far.".to_owned(),
            (true, true) => "No runs.".to_owned(),
            (false, _) => said::lines(self.runs.iter().map(Run::line)),
            (true, false) => said::lines(self.statuses.iter().map(Status::line)),
        };
        let more = said::goes_on(self.next_cursor.as_deref());
        let note = self.note.as_ref().map(|note| format!("Note: {note}."));
        for line in [more.as_deref(), note.as_deref()].into_iter().flatten() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
        }
        text
    }
}

/// Owner and name out of a path like `/repos/acme/site/actions/runs`.
fn repository_in(path: &str) -> Option<String> {
    let mut segments = path.strip_prefix("/repos/")?.split('/');
    let decoded = |segment: &str| {
        let text = percent_encoding::percent_decode_str(segment).decode_utf8().ok()?;
        (!text.is_empty()).then(|| text.into_owned())
    };
    let (owner, name) = (decoded(segments.next()?)?, decoded(segments.next()?)?);
    Some(format!("{owner}/{name}"))
}

/// What became of a row.
enum Row {
    Taken,
    /// Taken, and there are enough.
    Last,
    /// Left for the next page: there are enough.
    Left,
}

/// Takes the rows of all pages, until there are enough; gives the no of the server, if there was one.
async fn go_through(
    pages: &mut Pages<'_>,
    mut take: impl FnMut(&serde_json::Value) -> Row,
) -> Result<Option<super::ask::No>, UpstreamError> {
    loop {
        let rows = match pages.next().await? {
            Page::Rows(rows) => rows,
            Page::No(no) => return Ok(Some(no)),
            Page::End => return Ok(None),
        };
        for (at, row) in rows.iter().enumerate() {
            let behind = match take(row) {
                Row::Taken => continue,
                Row::Last => at + 1,
                Row::Left => at,
            };
            if behind < rows.len() {
                pages.stop_before(behind);
            }
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_repository_is_read_out_of_a_path() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(repository_in(path).as_deref(), expected, "{path}")
        };
        check("/repos/acme/web/actions/runs", Some("acme/web"));
        check("/repos/acme/caf%C3%A9", Some("acme/café"));
        check("/repos/acme", None);
        check("/repos//x", None);
        check("/repositories/7", None);
    }
}
