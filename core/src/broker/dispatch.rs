//! Dispatch: the target, under one deadline. Every outcome goes on to be settled.

use std::time::Duration;

use tokio::time::timeout;

use super::{Rooms, facts::Facts, intend::Intended, lend::Lent, resolve::Capability};
use crate::{
    error::Error,
    journal::Contact,
    registry,
    upstream::{Payload, ToolResult, Upstream, UpstreamCall, UpstreamError},
};

/// A call that ended at its target, one way or another.
#[derive(Debug)]
pub(crate) struct Dispatched {
    pub(super) facts: Facts,
    pub(super) capability: &'static str,
    pub(super) target_name: String,
    pub(super) contact: Contact,
    pub(super) outcome: Result<ToolResult, Error>,
    _step: (),
}

/// A connection test answers within this (`gateway.md` §2).
const TEST_DEADLINE: Duration = Duration::from_secs(5);

/// How much earlier than the caller a call gives up.
const AHEAD: Duration = Duration::from_millis(20);

pub(super) async fn dispatch(rooms: &Rooms, lent: Lent) -> Dispatched {
    let cancelled = lent.cancelled();
    let secret = lent.secret;
    let permitted = lent.intended.permitted;
    let contact = lent.intended.contact;
    let (ours, callers) = (
        ours(rooms, &permitted.facts, permitted.capability),
        left(rooms, &permitted.facts, permitted.deadline),
    );
    let deadline = callers.map_or(ours, |callers| callers.min(ours));
    let tool = tool_name(permitted.capability);
    let call = UpstreamCall {
        call: permitted.facts.call,
        tool,
        arguments: Payload(arguments(permitted.capability, permitted.arguments)),
        secret,
        deadline,
        cancelled: cancelled.clone(),
    };
    let outcome = match rooms.adapters.upstream(&permitted.target) {
        Err(error) => Err(Error::Upstream(error)),
        // A host that would be asked and at once told to stop is better left alone.
        Ok(_) if deadline.is_zero() => Err(Error::Upstream(UpstreamError::Timeout)),
        Ok(upstream) => {
            // Cancel-safe: dropping the call's future cancels it at the target.
            tokio::select! {
                biased;
                () = cancelled.cancelled() => Err(Error::Cancelled),
                answer = timeout(deadline, carry(rooms, upstream.as_ref(), &contact, call)) => match answer {
                    Ok(answer) => answer.map_err(Error::Upstream),
                    Err(_) => Err(Error::Upstream(UpstreamError::Timeout)),
                },
            }
        }
    };
    drop(permitted.place);
    let outcome = outcome
        .map_err(|error| whose_deadline(error, deadline < ours))
        .and_then(|result| fitting(tool, result));
    Dispatched {
        target_name: permitted.target.name.clone(),
        facts: permitted.facts,
        capability: capability_name(permitted.capability),
        contact,
        outcome,
        _step: (),
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
        capability: capability_name(permitted.capability),
        contact,
        outcome: Err(error),
        _step: (),
    }
}

// A rejected credential is fetched anew, once; only another one is worth asking the target again.
async fn carry(
    rooms: &Rooms,
    upstream: &dyn Upstream,
    contact: &Contact,
    call: UpstreamCall,
) -> Result<ToolResult, UpstreamError> {
    let Some(lease) = call.secret.clone() else {
        return upstream.call(contact, call).await;
    };
    let (began, again) = (rooms.clock.monotonic(), call.clone());
    match upstream.call(contact, call).await {
        Err(UpstreamError::CredentialRejected) => {}
        answer => return answer,
    }
    match rooms.secrets.renew(&lease).await {
        Ok(Some(renewed)) if !renewed.value().is_same(lease.value()) => {
            let gone = rooms.clock.monotonic().saturating_sub(began);
            let deadline = again.deadline.saturating_sub(gone);
            let secret = Some(renewed);
            upstream
                .call(
                    contact,
                    UpstreamCall {
                        secret,
                        deadline,
                        ..again
                    },
                )
                .await
        }
        _ => Err(UpstreamError::CredentialRejected),
    }
}

fn capability_name(capability: Capability) -> &'static str {
    match capability {
        Capability::Tool(tool) => tool.name,
        Capability::ConnectionTest => "test_connection",
    }
}

// A test answers within its time whatever part of it its secret took.
fn ours(rooms: &Rooms, facts: &Facts, capability: Capability) -> Duration {
    match capability {
        Capability::Tool(_) => rooms.upstream_timeout,
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

fn whose_deadline(error: Error, callers: bool) -> Error {
    match error {
        Error::Upstream(UpstreamError::Timeout) if callers => Error::DeadlineExceeded,
        Error::Upstream(UpstreamError::Cancelled) => Error::Cancelled,
        Error::Upstream(UpstreamError::WriteRejected) => Error::WriteRejected {
            what: "the relay on the host refused this command".into(),
        },
        Error::Upstream(UpstreamError::Overloaded) => Error::Overloaded,
        other => other,
    }
}

// An adapter that leaves its tool's schema is found where it is made, and its answer goes no further.
fn fitting(tool: &'static str, result: ToolResult) -> Result<ToolResult, Error> {
    let fits = || {
        let structured = result.structured.as_deref();
        structured.is_some_and(|structured| registry::fits_output(tool, structured))
    };
    if cfg!(debug_assertions) && !result.is_error && !fits() {
        tracing::error!(tool, "a result does not match the tool's output schema");
        return Err(Error::Upstream(UpstreamError::Invalid));
    }
    Ok(result)
}

fn tool_name(capability: Capability) -> &'static str {
    match capability {
        Capability::Tool(tool) => tool.name,
        Capability::ConnectionTest => "ssh.run_whitelisted_command",
    }
}

// A host is tested by the cheapest of its reads.
fn arguments(capability: Capability, arguments: bytes::Bytes) -> bytes::Bytes {
    match capability {
        Capability::Tool(_) => arguments,
        Capability::ConnectionTest => bytes::Bytes::from_static(br#"{"command":"uptime"}"#),
    }
}
