//! Jobs, as Gitea 1.23 and 1.24 and Forgejo up to 11 tell them, grouped by the run that they belong to.
//!
//! A row is one execution of one job. Jobs that no runner has taken yet have none, so a run may miss jobs, and a run that
//! waits as a whole is not told at all. Filters are applied here: the route knows none.

use serde::Serialize;
use serde_json::Value;

use super::{Asked, Came, GONE_THROUGH, Pages, Place, Row, Run, Server, Source, Told, go_through};
use crate::{
    adapters::gitea::{pages::LONGEST, row, said},
    journal::Contact,
    rfc3339,
    upstream::{UpstreamError, reader::ReadPath},
};

const NOTE: &str = "this server tells single jobs, grouped by run here: runs and jobs that wait for a runner may be \
    missing, and a run whose listed jobs have all ended may have others to come";

/// One job of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(in crate::adapters::gitea) struct Job {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<String>,
}

/// Runs on their way together, newest first.
#[derive(Debug, Default)]
pub(in crate::adapters::gitea) struct Grouped(Vec<Run>);

/// The runs, from this place or from the newest.
pub(super) async fn told(
    server: &Server,
    contact: &Contact,
    asked: &Asked,
    place: Option<Place>,
) -> Result<Came, UpstreamError> {
    let path = ReadPath::of(["repos", &asked.owner, &asked.repo, "actions", "tasks"]);
    let place = place.unwrap_or_else(|| Place::start(Source::Tasks.list(), LONGEST));
    let mut pages = Pages::of(server, contact, path, "workflow_runs", place, GONE_THROUGH);
    let mut grouped = Grouped::default();
    let no = go_through(&mut pages, |row| grouped.take(row, asked)).await?;
    if let Some(no) = no {
        return asked.no(&no);
    }
    let mut told = Told::of(Source::Tasks, asked, &pages, None);
    told.runs = grouped.finished(asked);
    told.note = Some(NOTE.to_owned());
    told.result().map(Came::Of)
}

impl Grouped {
    /// Takes a row, unless it begins a run and there are enough.
    fn take(&mut self, row: &Value, asked: &Asked) -> Row {
        let Some(run) = Run::read(row) else {
            return Row::Taken;
        };
        let fits = |asked: &Option<String>, is: &Option<String>| asked.is_none() || asked == is;
        if !fits(&asked.branch, &run.head_branch) || !fits(&asked.event, &run.event) {
            return Row::Taken;
        }
        let is_known = |known: &Run| run.run_number.is_some() && known.run_number == run.run_number;
        match self.0.iter().position(is_known) {
            Some(at) => self.0[at].jobs.push(Job::read(row)),
            None if self.is_enough(asked) => return Row::Left,
            None => self.add(run, row),
        }
        Row::Taken
    }

    /// Takes a row whatever is asked for.
    pub(in crate::adapters::gitea) fn add_any(&mut self, row: &Value) {
        if let Some(run) = Run::read(row) {
            self.add(run, row);
        }
    }

    fn add(&mut self, run: Run, row: &Value) {
        let started = Run {
            // The row's own id and times are the job's.
            id: None,
            html_url: row::page(row, "url"),
            jobs: vec![Job::read(row)],
            ..run
        };
        self.0.push(started);
    }

    fn is_enough(&self, asked: &Asked) -> bool {
        let fits = |run: &&Run| {
            asked
                .status
                .as_deref()
                .is_none_or(|status| together((*run).clone()).fits(status))
        };
        self.0.iter().filter(fits).count() >= asked.limit()
    }

    fn finished(self, asked: &Asked) -> Vec<Run> {
        let all = self.all().into_iter();
        all.filter(|run| asked.status.as_deref().is_none_or(|status| run.fits(status)))
            .collect()
    }

    /// Every run, with what follows from its jobs.
    pub(in crate::adapters::gitea) fn all(self) -> Vec<Run> {
        self.0.into_iter().map(together).collect()
    }
}

impl Job {
    fn read(row: &Value) -> Self {
        Self {
            id: row::ordinal(row, "id"),
            name: row::text(row, "name"),
            status: row::text(row, "status"),
            html_url: row::page(row, "url"),
            created_at: row::time(row, "created_at"),
            updated_at: row::time(row, "updated_at"),
            started_at: row::time(row, "run_started_at"),
        }
    }

    /// `build success, test failure`.
    pub(super) fn words(jobs: &[Self]) -> String {
        let word = |text: &Option<String>| text.as_deref().map_or_else(|| "?".to_owned(), said::shown);
        let each: Vec<String> = jobs
            .iter()
            .map(|job| format!("{} {}", word(&job.name), word(&job.status)))
            .collect();
        each.join(", ")
    }
}

impl Run {
    /// Whether it is what a filter asks for, in the words of jobs or in those of runs.
    fn fits(&self, status: &str) -> bool {
        let same = match status {
            "in_progress" => "running",
            "queued" => "waiting",
            "completed" => return self.conclusion.is_some(),
            "canceled" => "cancelled",
            word => word,
        };
        self.is(same)
    }
}

/// What follows for a run from its jobs: it does what the least finished of them does, and ends as the worst of them.
fn together(run: Run) -> Run {
    let any = |words: &[&str]| {
        let mut statuses = run.jobs.iter().filter_map(|job| job.status.as_deref());
        statuses
            .find(|status| words.contains(status))
            .map(|_| words[0].to_owned())
    };
    let going = any(&["running", "cancelling"])
        .or_else(|| any(&["waiting"]))
        .or_else(|| any(&["blocked"]));
    let ended = || {
        let by_badness = ["failure", "cancelled", "success", "skipped"];
        by_badness.iter().find_map(|word| any(&[word]))
    };
    let conclusion = if going.is_some() { None } else { ended() };
    let times = |time: fn(&Job) -> Option<&String>| {
        let all = run.jobs.iter().filter_map(time);
        all.filter_map(|text| Some((rfc3339::parse(text).ok()?, text.clone())))
    };
    Run {
        status: going
            .or_else(|| conclusion.clone())
            .or_else(|| Some("unknown".to_owned())),
        conclusion,
        created_at: times(|job| job.created_at.as_ref()).min().map(|(_, text)| text),
        updated_at: times(|job| job.updated_at.as_ref()).max().map(|(_, text)| text),
        started_at: times(|job| job.started_at.as_ref()).min().map(|(_, text)| text),
        ..run.clone()
    }
}
