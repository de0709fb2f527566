//! Whole runs, as Gitea tells them from 1.25 on and Forgejo in an object of its own.
//!
//! Filters travel with the question, and are held against the rows again: a server that does not know one tells all.

use serde_json::Value;

use super::{Asked, Came, GONE_THROUGH, Pages, Place, Run, Server, Source, Told, go_through, row};
use crate::{
    adapters::gitea::pages::LONGEST,
    journal::Contact,
    upstream::{UpstreamError, reader::ReadPath},
};

/// The runs, from this place or from the newest.
pub(super) async fn told(
    server: &Server,
    contact: &Contact,
    asked: &Asked,
    place: Option<Place>,
) -> Result<Came, UpstreamError> {
    let limit = asked.limit();
    let path = ReadPath::of(["repos", &asked.owner, &asked.repo, "actions", "runs"])
        .with_some("branch", asked.branch.as_deref())
        .with_some("event", asked.event.as_deref())
        .with_some("status", asked.status.as_deref().map(word));
    let size = u32::try_from(limit).unwrap_or(LONGEST);
    let place = place.unwrap_or_else(|| Place::start(Source::Runs.list(), size));
    let mut pages = Pages::of(server, contact, path, "workflow_runs", place, GONE_THROUGH);
    let (mut runs, mut repository) = (vec![], None);
    let no = go_through(&mut pages, |row| {
        if runs.len() == limit {
            return false;
        }
        repository = repository.take().or_else(|| full_name(row));
        runs.extend(Run::read(row).filter(|run| asked.fits(run)));
        true
    });
    if let Some(no) = no.await? {
        return asked.no(&no);
    }
    let mut told = Told::of(Source::Runs, asked, &pages, repository);
    told.runs = runs;
    told.result().map(Came::Of)
}

/// The server's word for a status.
fn word(status: &str) -> &str {
    match status {
        "running" => "in_progress",
        "canceled" => "cancelled",
        "failed" => "failure",
        _ => status,
    }
}

fn full_name(row: &Value) -> Option<String> {
    row::text(row.get("repository")?, "full_name")
}

impl Asked {
    /// Whether a run is one of those asked for, as far as its row tells. The status is left to the server, which knows
    /// more words for it than it tells.
    fn fits(&self, run: &Run) -> bool {
        let fits = |asked: &Option<String>, is: &Option<String>| match (asked, is) {
            (Some(asked), Some(is)) => asked == is,
            _ => true,
        };
        fits(&self.branch, &run.head_branch) && fits(&self.event, &run.event)
    }
}
