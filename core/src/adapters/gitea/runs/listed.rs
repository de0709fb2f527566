//! Whole runs, as Gitea tells them from 1.25 on and Forgejo in an object of its own.
//!
//! Filters travel with the question, and are held against the rows again: a server that does not know one tells all.

use serde_json::Value;

use super::{Asked, Came, GONE_THROUGH, Pages, Place, Row, Run, Server, Source, Told, go_through, row};
use crate::{
    adapters::gitea::{pages::LONGEST, version::Product},
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
    let status = asked
        .status
        .as_deref()
        .and_then(|status| word(server.product, status));
    let path = ReadPath::of(["repos", &asked.owner, &asked.repo, "actions", "runs"])
        .with_some("branch", asked.branch.as_deref())
        .with_some("event", asked.event.as_deref())
        .with_some("status", status);
    let place = place.unwrap_or_else(|| Place::start(Source::Runs.list(), size(server.product, asked)));
    let mut pages = Pages::of(server, contact, path, "workflow_runs", place, GONE_THROUGH);
    let (mut runs, mut repository) = (vec![], None);
    let no = go_through(&mut pages, |row| {
        repository = repository.take().or_else(|| full_name(row));
        runs.extend(Run::read(row).filter(|run| asked.fits(run, status)));
        if runs.len() < limit { Row::Taken } else { Row::Last }
    });
    if let Some(no) = no.await? {
        return asked.no(&no);
    }
    let mut told = Told::of(Source::Runs, asked, &pages, repository);
    told.runs = runs;
    told.result().map(Came::Of)
}

/// The server's word for a status; `None` where it has none and the rows are looked at instead.
fn word(product: Product, status: &str) -> Option<&str> {
    match (product, status) {
        (_, "canceled") => Some("cancelled"),
        (_, "failed") => Some("failure"),
        (Product::Gitea, "running") => Some("in_progress"),
        (Product::Forgejo, "in_progress") => Some("running"),
        (Product::Forgejo, "queued") => Some("waiting"),
        (Product::Forgejo, "completed") => None,
        _ => Some(status),
    }
}

/// How long pages should be: as many as are asked for, unless rows are left out here.
fn size(product: Product, asked: &Asked) -> u32 {
    let left_out = product == Product::Forgejo && (asked.branch.is_some() || asked.status.is_some());
    match left_out {
        true => LONGEST,
        false => u32::try_from(asked.limit()).unwrap_or(LONGEST),
    }
}

fn full_name(row: &Value) -> Option<String> {
    row::text(row.get("repository")?, "full_name")
}

impl Asked {
    /// Whether a run is one of those asked for, as far as its row tells. A status that was asked of the server is left
    /// to it: it knows more words for one than it tells.
    fn fits(&self, run: &Run, asked_of_server: Option<&str>) -> bool {
        let fits = |asked: &Option<String>, is: &Option<String>| match (asked, is) {
            (Some(asked), Some(is)) => asked == is,
            _ => true,
        };
        let ended = self.status.is_none() || asked_of_server.is_some() || run.conclusion.is_some();
        fits(&self.branch, &run.head_branch) && fits(&self.event, &run.event) && ended
    }
}
