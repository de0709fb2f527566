//! The states that an outside CI has reported for the newest commit of a branch: all there is where a server has no CI
//! of its own that it tells of.

use serde::Serialize;
use serde_json::Value;

use super::{Asked, Pages, Place, Row, Server, Source, Told, go_through};
use crate::{
    adapters::gitea::{row, said},
    journal::Contact,
    upstream::{ToolResult, UpstreamError, reader::ReadPath},
};

/// What was reported for a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(in crate::adapters::gitea) struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
}

/// What was reported for the branch that is asked for, else for the default branch of this repository.
pub(super) async fn told(
    server: &Server,
    contact: &Contact,
    asked: &Asked,
    repo: &Value,
    place: Option<Place>,
    why: Option<&str>,
) -> Result<ToolResult, UpstreamError> {
    let repository = row::text(repo, "full_name");
    let default = row::text(repo, "default_branch");
    let branch = asked
        .branch
        .clone()
        .or(default)
        .filter(|_| row::flag(repo, "empty") != Some(true));
    let Some(branch) = branch else {
        let note = notes(
            why,
            Some("nothing has been pushed to this repository yet".to_owned()),
            asked,
        );
        let repository = repository.or_else(|| Some(asked.name()));
        let source = Source::Statuses.name();
        return Told {
            source,
            note,
            repository,
            ..Told::default()
        }
        .result();
    };
    if matches!(branch.as_str(), "." | "..") {
        return said::no(&no_branch(&branch, asked));
    }
    let place = match place.filter(|place| place.list == Source::Statuses.list()) {
        Some(place) => place,
        None if asked.cursor.is_some() => return said::no(crate::adapters::gitea::BAD_CURSOR),
        None => Place::start(Source::Statuses.list(), u32::try_from(asked.limit()).unwrap_or(1)),
    };
    let path = ReadPath::of(["repos", &asked.owner, &asked.repo, "commits", &branch, "status"]);
    let mut pages = Pages::of(server, contact, path, "statuses", place, 1);
    let mut statuses: Vec<Status> = vec![];
    let no = go_through(&mut pages, |row| {
        statuses.extend(Status::read(row));
        Row::Taken
    });
    match no.await? {
        None => {}
        Some(no) if no.status == 404 => return said::no(&no_branch(&branch, asked)),
        Some(no) => return said::no(&no.told(&format!("the commit statuses of {}", asked.name()))),
    }
    let mut told = Told::of(Source::Statuses, asked, &pages, repository);
    let none = statuses.is_empty() && !told.more;
    statuses.retain(|status| asked.status.as_deref().is_none_or(|word| status.is(word)));
    told.statuses = statuses;
    let what = match none {
        true => format!(
            "no CI has reported anything for the newest commit of {branch}: there is none, not one that waits"
        ),
        false => {
            format!("these are the states that were reported for the newest commit of {branch}, not runs")
        }
    };
    told.note = notes(why, Some(what), asked);
    told.result()
}

fn no_branch(branch: &str, asked: &Asked) -> String {
    format!(
        "{} has no branch {} that holds a commit",
        asked.name(),
        said::shown(branch)
    )
}

fn notes(why: Option<&str>, what: Option<String>, asked: &Asked) -> Option<String> {
    let event = asked
        .event
        .as_ref()
        .map(|_| "states do not tell events, so the filter event was not applied".to_owned());
    let all: Vec<String> = why
        .map(str::to_owned)
        .into_iter()
        .chain(what)
        .chain(event)
        .collect();
    (!all.is_empty()).then(|| all.join("; "))
}

impl Status {
    /// Out of a row. The word stands in `status` here, and in `state` around the list.
    pub(in crate::adapters::gitea) fn read(row: &Value) -> Option<Self> {
        row.is_object().then(|| Self {
            context: row::text(row, "context"),
            status: row::first(row, &["status", "state"], row::text),
            description: row::text(row, "description"),
            target_url: row::page(row, "target_url"),
            created_at: row::first(row, &["created_at", "updated_at"], row::time),
        })
    }

    /// Whether a filter's word is true of it, be it one for states or one for runs.
    fn is(&self, word: &str) -> bool {
        let own = self.status.as_deref().unwrap_or_default();
        match word {
            "queued" | "waiting" | "running" | "in_progress" => own == "pending",
            "completed" => own != "pending",
            _ => own == word,
        }
    }

    /// One line for reading.
    pub(super) fn line(&self) -> String {
        let parts = [&self.status, &self.context, &self.description, &self.created_at];
        let shown: Vec<String> = parts
            .into_iter()
            .flatten()
            .map(|part| said::shown(part))
            .collect();
        shown.join(" ")
    }
}
