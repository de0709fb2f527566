//! A call that tells what happens on the way: progress and log messages, then the answer (rows P1, LG1).
//!
//! What is refused at once is answered at once: the stream of messages begins with the first thing that there is to
//! tell, or when the call takes its time.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use toolgate_contract::v1::{
    CallLog, CallProgress, CallResponse, ErrorReason, Failure, RunRequest, RunResponse, ServerNotification,
    run_response::Event,
};

use super::{Call, failed};
use crate::{
    mcp::{
        envelope::Id,
        era::Era,
        failure::{self, Answered},
        in_flight::Place,
        level::Level,
        reply::{Answer, FIRST_WORD, Message, Reply, Telling},
        result::{self, ServerInfo, one_line},
        server::{Asked, Server},
        words,
    },
    result::write_text,
};

/// A call that runs. Owns the rpc, so that dropping it stops the call.
struct Run {
    events: Streaming<RunResponse>,
    about: About,
    cancelled: CancellationToken,
    _place: Option<Place>,
}

/// What its messages are written with.
struct About {
    id: Id,
    era: Era,
    in_session: bool,
    server: ServerInfo,
    /// The client's token as it was written.
    token: Option<Bytes>,
    /// The least level of log messages that the client wants.
    level: Option<Level>,
    /// Progress only grows.
    reached: f64,
}

/// One message.
enum Said {
    /// On the way.
    Notification(Bytes),
    /// The answer, and what the call is on the record by.
    Outcome(Bytes, String),
    Failure(Failure),
    /// The client took the call back.
    Nothing,
}

pub(super) async fn answer(server: &Server, asked: Asked, call: Call, level: Option<Level>) -> Reply {
    let (cancelled, place) = server.note(&asked);
    let request = asked.caller.request(RunRequest {
        name: call.name,
        arguments: call.arguments,
        target_id: call.target_id,
        progress: asked.meta.progress.is_some(),
        log_level: level.map(|level| level.name().to_owned()),
    });
    let mut broker = server.link.broker();
    let events = tokio::select! {
        biased;
        events = server.link.ask(broker.run(request)) => events,
        () = cancelled.cancelled() => return Reply::Nothing,
    };
    let events = match events {
        Ok(events) => events,
        Err(problem) => return failed(server, problem, &asked.id, asked.era, asked.in_session),
    };
    let about = About {
        id: asked.id,
        era: asked.era,
        in_session: asked.in_session,
        server: server.info.clone(),
        token: asked.meta.progress,
        level,
        reached: f64::NEG_INFINITY,
    };
    let mut run = Run {
        events,
        about,
        cancelled,
        _place: place,
    };
    match tokio::time::timeout(FIRST_WORD, run.next()).await {
        Err(_) => Reply::Stream(run.messages(None)),
        Ok(Said::Notification(message)) => Reply::Stream(run.messages(Some(message))),
        Ok(Said::Outcome(message, id)) => Answer::to_call(message, id).into(),
        Ok(Said::Failure(failure)) => failed(
            server,
            failure.into(),
            &run.about.id,
            run.about.era,
            run.about.in_session,
        ),
        Ok(Said::Nothing) => Reply::Nothing,
    }
}

impl Run {
    /// The next thing to tell. Cancel-safe: an event is told as soon as it is taken.
    async fn next(&mut self) -> Said {
        loop {
            let event = tokio::select! {
                biased;
                event = self.events.message() => event,
                () = self.cancelled.cancelled() => return Said::Nothing,
            };
            let said = match event {
                Ok(Some(RunResponse { event: Some(event) })) => self.about.say(event),
                Ok(Some(RunResponse { event: None })) => None,
                Ok(None) => Some(Said::Failure(Failure::new(
                    ErrorReason::Internal,
                    "the call's events ended before the call did",
                ))),
                Err(status) => Some(Said::Failure(Failure::from_status(&status))),
            };
            if let Some(said) = said {
                return said;
            }
        }
    }
}

impl Telling for Run {
    async fn tell(&mut self) -> Option<Message> {
        match self.next().await {
            Said::Notification(message) => Some(Message::Early(message)),
            Said::Outcome(message, _) => Some(Message::Last(message)),
            Said::Failure(failure) => self.about.told(&failure).map(Message::Last),
            Said::Nothing => None,
        }
    }
}

impl About {
    fn say(&mut self, event: Event) -> Option<Said> {
        match event {
            Event::Progress(progress) => self.progress(&progress).map(Said::Notification),
            Event::Log(log) => Some(Said::Notification(written_log(&log))),
            Event::Outcome(answer) => Some(Said::Outcome(self.outcome(&answer), answer.correlation_id)),
            Event::Notification(said) => self.passed(&said).map(Said::Notification),
        }
    }

    /// What a project's server says of the call, in its own bytes: progress and log messages, where the client asked for
    /// either.
    fn passed(&self, said: &ServerNotification) -> Option<Bytes> {
        let params = match said.method.as_str() {
            "notifications/progress" => words::with_token(&said.params, self.token.as_ref()?)?,
            "notifications/message" if self.level?.lets_through(&said.params) => said.params.clone(),
            _ => return None,
        };
        Some(words::notification(&said.method, &params))
    }

    fn outcome(&self, answer: &CallResponse) -> Bytes {
        result::write(&self.id, self.era, answer, &self.server).freeze()
    }

    fn told(&self, failure: &Failure) -> Option<Bytes> {
        match failure::of_call(failure, &self.id, self.era, self.in_session, &self.server) {
            Answered::Result(message, _) => Some(message),
            Answered::Error(fault) => Some(fault.write()),
            Answered::Nothing => None,
        }
    }

    /// Only with the client's token, and only when it is more than before.
    fn progress(&mut self, told: &CallProgress) -> Option<Bytes> {
        let token = self.token.as_ref()?;
        if told.progress.is_nan() || told.progress <= self.reached {
            return None;
        }
        self.reached = told.progress;
        let mut out = BytesMut::with_capacity(160);
        out.put_slice(
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":",
        );
        out.put_slice(token);
        out.put_slice(b",\"progress\":");
        write_amount(&mut out, told.progress);
        if let Some(total) = told.total.filter(|total| total.is_finite()) {
            out.put_slice(b",\"total\":");
            write_amount(&mut out, total);
        }
        if let Some(message) = &told.message {
            out.put_slice(b",\"message\":");
            write_text(&mut out, message);
        }
        out.put_slice(b"}}");
        Some(out.freeze())
    }
}

fn written_log(log: &CallLog) -> Bytes {
    #[derive(Serialize)]
    struct Head<'a> {
        level: &'a str,
        logger: &'a str,
    }
    let head = Head {
        level: &log.level,
        logger: &log.logger,
    };
    let mut out = BytesMut::with_capacity(128 + log.data.len());
    out.put_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":");
    // Texts always serialise; the data goes in before the closing brace.
    let head = serde_json::to_vec(&head).unwrap_or_default();
    out.put_slice(head.strip_suffix(b"}").unwrap_or(b"{"));
    out.put_slice(b",\"data\":");
    out.put_slice(if log.data.is_empty() { b"null" } else { &log.data });
    out.put_slice(b"}}");
    one_line(&mut out);
    out.freeze()
}

/// Whole amounts are written as whole numbers. Amounts without end are none.
fn write_amount(out: &mut BytesMut, amount: f64) {
    // A memory buffer takes every number.
    let _ = match amount {
        whole if whole.fract() == 0.0 && whole.abs() < 9e15 => write_whole(out, whole),
        part if part.is_finite() => serde_json::to_writer(out.writer(), &part),
        _ => serde_json::to_writer(out.writer(), &0),
    };
}

/// The cast keeps every whole number below 9e15.
#[allow(clippy::cast_possible_truncation)]
fn write_whole(out: &mut BytesMut, whole: f64) -> serde_json::Result<()> {
    serde_json::to_writer(out.writer(), &(whole as i64))
}
