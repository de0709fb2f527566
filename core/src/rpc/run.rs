//! `Run`: a call whose progress and log lines are streamed before its outcome.

use futures::{Stream, stream};
use tonic::Status;
use toolgate_contract::v1::{
    CallLog, CallProgress, CallResponse, RunResponse, ServerNotification, run_response::Event,
};

use super::status;
use crate::{
    broker::{RunEvent, Running, Settled},
    error::Error,
    upstream::{Level, Report, Wanted},
};

/// What a caller wants to be told.
pub(super) fn wanted(progress: bool, log_level: Option<&str>) -> Result<Wanted, Error> {
    let level = log_level.map(|word| {
        Level::parse(word).ok_or_else(|| {
            let words = Level::ALL.map(Level::as_str).join(", ");
            Error::malformed("log_level", format!("must be one of {words}"))
        })
    });
    Ok(Wanted {
        progress,
        level: level.transpose()?,
        everything: false,
    })
}

/// Pulled by the transport; dropped, it cancels the call.
pub(super) fn events(running: Running) -> impl Stream<Item = Result<RunResponse, Status>> + Send {
    stream::unfold(running, async |mut running| {
        let event = loop {
            match running.next().await? {
                RunEvent::Report(report) => {
                    if let Some(event) = told(report) {
                        break Ok(event);
                    }
                }
                RunEvent::Ended(Ok(settled)) => break Ok(Event::Outcome(outcome(&settled))),
                RunEvent::Ended(Err(failed)) => break Err(status(failed)),
            }
        };
        let response = event.map(|event| RunResponse { event: Some(event) });
        Some((response, running))
    })
}

/// The end of a call.
pub(super) fn outcome(settled: &Settled) -> CallResponse {
    CallResponse {
        correlation_id: settled.call().to_string(),
        result: Some(settled.release()),
        duration_ms: settled.duration_ms(),
    }
}

fn told(report: Report) -> Option<Event> {
    Some(match report {
        Report::Progress {
            progress,
            total,
            message,
        } => Event::Progress(CallProgress {
            progress,
            total,
            message,
        }),
        Report::Log { level, logger, data } => Event::Log(CallLog {
            level: level.as_str().into(),
            logger: logger.into(),
            data: data.to_string().into(),
        }),
        Report::Said { method, params } => Event::Notification(ServerNotification {
            method: method.as_ref().to_owned(),
            params,
        }),
        // Only the pipe wants it, and the pipe does not come by here.
        Report::Asked { .. } => return None,
    })
}
