//! What is refused on the pipe without the core, told to the core, so that the record counts it as over HTTP.

use http::HeaderValue;
use tokio_util::task::TaskTracker;

use crate::{
    link::{Caller, Knocker, Link, OwnRefusal, Refusals},
    mcp::fault::Beside,
};

/// The way refusals of one conversation are told.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    refusals: Refusals,
    credential: Option<HeaderValue>,
}

impl Refused {
    pub(super) fn new(link: Link, caller: &Caller, tasks: TaskTracker) -> Self {
        Self {
            refusals: Refusals::new(link, tasks),
            credential: caller.credential(),
        }
    }

    /// Tells it where an answer is a refusal of ours.
    pub(super) fn note(&self, beside: &Beside) {
        if let Some(reason) = beside.reason.filter(|_| beside.own) {
            let knocker = Knocker::of_process(self.credential.clone());
            self.refusals.report(OwnRefusal(reason), knocker);
        }
    }
}
