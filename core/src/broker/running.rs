//! A call that goes on: what it tells meanwhile, and its end.
//!
//! The call itself is a task of its own. Whoever drops this before the end has cancelled it.

use tokio::task::JoinHandle;
use tokio_util::sync::DropGuard;
use toolgate_contract::ids::CallId;

use super::{refuse::Failed, settle::Settled};
use crate::{
    error::Error,
    upstream::{Report, Told},
};

/// A call that goes on.
#[derive(Debug)]
pub struct Running {
    call: CallId,
    told: Option<Told>,
    end: Option<JoinHandle<Result<Settled, Failed>>>,
    outcome: Option<Result<Settled, Failed>>,
    // Fires when this is dropped; a call that has ended does not mind.
    _caller_is_here: DropGuard,
}

/// What happens to a call.
#[derive(Debug)]
pub enum RunEvent {
    /// It tells something.
    Report(Report),
    /// It has ended, and its end is settled.
    Ended(Result<Settled, Failed>),
}

impl Running {
    pub(super) fn new(
        call: CallId,
        told: Option<Told>,
        end: JoinHandle<Result<Settled, Failed>>,
        caller_is_here: DropGuard,
    ) -> Self {
        Self {
            call,
            told,
            end: Some(end),
            outcome: None,
            _caller_is_here: caller_is_here,
        }
    }

    /// The next event, reports in their order; `None` after the end. Cancel-safe.
    pub async fn next(&mut self) -> Option<RunEvent> {
        if let Some(end) = &mut self.end {
            // A flight may hold its side for longer than this call lasts, so it is the end that ends the reports.
            let ended = match &mut self.told {
                None => end.await,
                Some(told) => tokio::select! {
                    biased;
                    Some(report) = told.recv() => return Some(RunEvent::Report(report)),
                    ended = end => {
                        told.close();
                        ended
                    }
                },
            };
            self.end = None;
            self.outcome = Some(ended.unwrap_or_else(|lost| Err(self.lost(lost))));
        }
        match self.told.as_mut().and_then(|told| told.try_recv().ok()) {
            Some(report) => Some(RunEvent::Report(report)),
            None => self.outcome.take().map(RunEvent::Ended),
        }
    }

    /// The end, whatever is told before it.
    pub async fn end(mut self) -> Result<Settled, Failed> {
        loop {
            match self.next().await {
                Some(RunEvent::Ended(outcome)) => return outcome,
                Some(RunEvent::Report(_)) => {}
                None => return Err(self.lost("a call has no end")),
            }
        }
    }

    fn lost(&self, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Failed {
        Failed {
            call: Some(self.call),
            error: Error::internal(why),
        }
    }
}
