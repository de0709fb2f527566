//! Dispatch: the target, under one deadline. Every outcome goes on to be settled.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Rooms,
    answer::Answer,
    errand::{Errand, Fault},
    facts::Facts,
    for_project::{self, ForProject},
    intend::Intended,
    lend::Lent,
    pipelines,
    prove::prove,
    resolve::Capability,
    share::share,
};
use crate::{
    adapters::Kind,
    error::Error,
    fleet,
    journal::Contact,
    registry,
    snapshot::Target,
    upstream::{Message, Payload, Raw, ToolResult, UpstreamCall, UpstreamError},
};

/// A call that ended at its target, one way or another.
#[derive(Debug)]
pub(crate) struct Dispatched {
    pub(super) facts: Facts,
    pub(super) capability: &'static str,
    pub(super) target_name: String,
    /// Shared while an errand that this call began goes on for others.
    pub(super) contact: Arc<Contact>,
    pub(super) outcome: Result<Answer, Error>,
    _step: (),
}

/// A connection test answers within this (`gateway.md` §2).
const TEST_DEADLINE: Duration = Duration::from_secs(5);

/// All projects are asked at once, and told of within 5 s (`fleet.md` §2).
const FLEET_DEADLINE: Duration = Duration::from_millis(4_800);

/// What a project's server has where its settings say nothing.
const PROJECT_DEADLINE: Duration = Duration::from_secs(60);

/// A stream of changes goes on for so long; whoever still listens comes back.
const LISTENING: Duration = Duration::from_secs(60 * 60);

/// A write whose caller left has so long to end: cut off in the middle nobody would know what became of it.
const GRACE: Duration = Duration::from_secs(2);

/// How much earlier than the caller a call gives up.
const AHEAD: Duration = Duration::from_millis(20);

pub(super) async fn dispatch(rooms: &Arc<Rooms>, lent: Lent) -> Dispatched {
    let cancelled = lent.cancelled();
    let secret = lent.secret;
    let permitted = lent.intended.permitted;
    let contact = Arc::new(lent.intended.contact);
    let (ours, callers) = (
        ours(rooms, &permitted.facts, &permitted.capability, &permitted.target),
        left(rooms, &permitted.facts, permitted.deadline),
    );
    let time = Time {
        left: callers.map_or(ours, |callers| callers.min(ours)),
        is_callers: callers.is_some_and(|callers| callers < ours),
    };
    let errand = Errand {
        rooms: Arc::clone(rooms),
        target: Arc::clone(&permitted.target),
        contact: Arc::clone(&contact),
        call: UpstreamCall {
            call: permitted.facts.call,
            tool: tool_name(&permitted.capability),
            arguments: Payload(arguments(&permitted.capability, permitted.arguments)),
            secret,
            deadline: time.left,
            cancelled: cancelled.clone(),
            reports: permitted.facts.reports.clone(),
            message: message(&permitted.capability, &permitted.target),
        },
    };
    let asked = async {
        match (&permitted.capability, permitted.key) {
            (Capability::Fleet(_), _) => time.bound(pipelines::of_all(errand, &permitted.facts)).await,
            (Capability::Project(message), _) => time.bound(from_project(errand, time, message)).await,
            (Capability::ConnectionTest, _) if Kind::of(permitted.target.adapter).is_some() => {
                prove(errand, permitted.facts.by(), time.left).await
            }
            (_, Some(key)) => time.bound(share(errand, key)).await,
            (_, None) => time.bound(alone(errand, time)).await,
        }
    };
    // Cancel-safe: dropping the call's future cancels it at the target, or leaves it to the others who wait.
    let outcome = tokio::select! {
        biased;
        () = given_up(&cancelled, permitted.facts.writes) => Err(Error::Cancelled),
        outcome = asked => outcome,
    };
    if let Ok(answer) = &outcome {
        answer.tell_age(&permitted.facts.reports);
    }
    drop(permitted.place);
    Dispatched {
        target_name: permitted.target.name.clone(),
        facts: permitted.facts,
        capability: capability_name(&permitted.capability),
        contact,
        outcome,
        _step: (),
    }
}

/// Ends when nobody waits any more and nothing is left to wait for: a read at once, a write after a while.
async fn given_up(cancelled: &CancellationToken, writes: bool) {
    cancelled.cancelled().await;
    if writes {
        sleep(GRACE).await;
    }
}

/// How long a call has, and whether that is its caller's own deadline.
#[derive(Debug, Clone, Copy)]
struct Time {
    left: Duration,
    is_callers: bool,
}

impl Time {
    async fn bound(self, asked: impl Future<Output = Result<Answer, Error>>) -> Result<Answer, Error> {
        // A target that would be asked and at once told to stop is better left alone.
        if self.left.is_zero() {
            return Err(self.over());
        }
        timeout(self.left, asked)
            .await
            .unwrap_or_else(|_| Err(self.over()))
    }

    fn over(self) -> Error {
        match self.is_callers {
            true => Error::DeadlineExceeded,
            false => Error::Upstream(UpstreamError::Timeout),
        }
    }
}

async fn alone(errand: Errand, time: Time) -> Result<Answer, Error> {
    let carried = match errand.carry().await {
        // The target was told how long it has.
        Err(Fault::Upstream(UpstreamError::Timeout)) => return Err(time.over()),
        carried => carried?,
    };
    let result = fitting(errand.call.tool, carried)?;
    Ok(Answer::fresh(Arc::new(result)))
}

/// The answer of a project's server: as it is to its own client, and as the result of a tool to everybody else.
async fn from_project(errand: Errand, time: Time, message: &ForProject) -> Result<Answer, Error> {
    let carried = match errand.carry().await {
        // The project was told how long it has.
        Err(Fault::Upstream(UpstreamError::Timeout)) => return Err(time.over()),
        carried => carried?,
    };
    if let (Some(Raw::Result(result)), true) = (&carried.raw, is_guarded(&errand, message)) {
        let (fleet, target) = (&errand.rooms.fleet, &errand.target);
        if !fleet
            .list(target)
            .is_some_and(|list| fleet::are_in_force(&list, result))
        {
            fleet.ask_again(target.id);
            return Err(for_project::kept_back(target));
        }
    }
    let carried = match (&carried.raw, message.piped) {
        (Some(Raw::Error(error)), false) => {
            return Err(Error::Upstream(UpstreamError::FailedSaying(
                fleet::said(error).into(),
            )));
        }
        (Some(Raw::Result(result)), true) if message.reads_only => ToolResult {
            raw: Some(Raw::Result(
                fleet::only_reads(result).ok_or(Error::Upstream(UpstreamError::Invalid))?,
            )),
            ..carried
        },
        _ => carried,
    };
    Ok(Answer::fresh(Arc::new(carried)))
}

/// Whether what its client is told of tools has to be what is in force: a list that is kept back comes by no other way.
fn is_guarded(errand: &Errand, message: &ForProject) -> bool {
    message.piped && &*message.message.method == "tools/list" && errand.target.settings["onDrift"] == "block"
}

/// The message to a project's server; a project is tested by asking for its tools.
fn message(capability: &Capability, target: &Target) -> Option<Message> {
    match capability {
        Capability::Project(message) => Some(message.message.clone()),
        Capability::ConnectionTest if target.adapter == registry::PROJECT => Some(Message {
            method: "tools/list".into(),
            params: Payload(bytes::Bytes::from_static(b"{}")),
            conversation: None,
        }),
        Capability::Tool(_) | Capability::Fleet(_) | Capability::ConnectionTest => None,
    }
}

/// A call that ended before its target could be contacted.
pub(super) fn not_contacted(intended: Intended, error: Error) -> Dispatched {
    let Intended {
        permitted, contact, ..
    } = intended;
    Dispatched {
        target_name: permitted.target.name.clone(),
        facts: permitted.facts,
        capability: capability_name(&permitted.capability),
        contact: Arc::new(contact),
        outcome: Err(error),
        _step: (),
    }
}

// Of what projects bring, names are not told in metrics: they would be as many as projects like.
fn capability_name(capability: &Capability) -> &'static str {
    match capability {
        Capability::Tool(tool) | Capability::Fleet(tool) => tool.name,
        Capability::Project(message) if message.piped => "project_message",
        Capability::Project(_) => "project_tool",
        Capability::ConnectionTest => "test_connection",
    }
}

// A test answers within its time whatever part of it its secret took.
fn ours(rooms: &Rooms, facts: &Facts, capability: &Capability, target: &Target) -> Duration {
    match capability {
        Capability::Tool(_) => rooms.upstream_timeout,
        Capability::Fleet(_) => FLEET_DEADLINE,
        Capability::Project(message) if &*message.message.method == "subscriptions/listen" => LISTENING,
        Capability::Project(_) => {
            let seconds = target
                .settings
                .get("timeoutSeconds")
                .and_then(serde_json::Value::as_u64);
            seconds.map_or(PROJECT_DEADLINE, Duration::from_secs)
        }
        Capability::ConnectionTest => {
            let gone = rooms.clock.monotonic().saturating_sub(facts.started);
            TEST_DEADLINE.min(rooms.upstream_timeout).saturating_sub(gone)
        }
    }
}

// A little before the caller's own deadline: the door gives up at that very moment, and an answer that is on the record
// is better than none.
pub(super) fn left(rooms: &Rooms, facts: &Facts, deadline: Option<Duration>) -> Option<Duration> {
    let gone = rooms.clock.monotonic().saturating_sub(facts.started);
    deadline.map(|deadline| (deadline - AHEAD.min(deadline / 10)).saturating_sub(gone))
}

// An adapter that leaves its tool's schema is found where it is made, and its answer goes no further.
pub(super) fn fitting(tool: &'static str, result: ToolResult) -> Result<ToolResult, Fault> {
    let fits = || {
        let structured = result.structured.as_deref();
        structured.is_some_and(|structured| registry::fits_output(tool, structured))
            || !registry::has_output(tool)
    };
    if cfg!(debug_assertions) && !result.is_error && !fits() {
        tracing::error!(tool, "a result does not match the tool's output schema");
        return Err(UpstreamError::Invalid.into());
    }
    Ok(result)
}

fn tool_name(capability: &Capability) -> &'static str {
    match capability {
        Capability::Tool(tool) | Capability::Fleet(tool) => tool.name,
        // Its name stands in the message.
        Capability::Project(_) => "",
        Capability::ConnectionTest => "ssh.run_whitelisted_command",
    }
}

// A host is tested by the cheapest of its reads.
fn arguments(capability: &Capability, arguments: bytes::Bytes) -> bytes::Bytes {
    match capability {
        Capability::Tool(_) | Capability::Fleet(_) | Capability::Project(_) => arguments,
        Capability::ConnectionTest => bytes::Bytes::from_static(br#"{"command":"uptime"}"#),
    }
}
