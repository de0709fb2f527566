//! Settle: the chained row is durable and the intent removed, in one commit. Only what was settled can be released.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{json, value::RawValue};
use toolgate_contract::{
    ids::{CallId, EventId},
    v1,
};

use super::{Rooms, admit::Facts, dispatch::Dispatched, refuse::Failed};
use crate::{
    audit::{Event, EventKind, Outcome},
    error::Error,
    journal::Receipt,
    telemetry,
    upstream::ToolResult,
};

/// A result that stands on the record; the only thing that can be released.
#[derive(Debug)]
pub struct Settled {
    call: CallId,
    result: ToolResult,
    meta: String,
    duration: Duration,
    // The proof: without a receipt there is no `Settled`.
    receipt: Receipt,
}

impl Settled {
    /// The call.
    #[must_use]
    pub fn call(&self) -> CallId {
        self.call
    }

    /// What the tool answered.
    #[must_use]
    pub fn result(&self) -> &ToolResult {
        &self.result
    }

    /// A JSON object of facts about the call.
    #[must_use]
    pub fn meta(&self) -> &str {
        &self.meta
    }

    /// What may now leave: the result as callers read it.
    #[must_use]
    pub fn release(&self) -> v1::ToolResult {
        let raw = |json: &RawValue| Bytes::copy_from_slice(json.get().as_bytes());
        v1::ToolResult {
            content: raw(&self.result.content),
            structured_content: self.result.structured.as_deref().map_or_else(Bytes::new, raw),
            is_error: self.result.is_error,
            meta: Bytes::copy_from_slice(self.meta.as_bytes()),
        }
    }

    /// From admission to settlement.
    #[must_use]
    pub fn duration_ms(&self) -> i64 {
        whole_ms(self.duration)
    }

    /// Its place on the record.
    #[must_use]
    pub fn seq(&self) -> i64 {
        self.receipt.seq
    }
}

pub(super) async fn settle(rooms: &Rooms, dispatched: Dispatched) -> Result<Settled, Failed> {
    let Dispatched {
        facts,
        capability,
        target_name,
        contact,
        outcome,
        ..
    } = dispatched;
    let call = facts.call;
    let failed = |error| Failed {
        call: Some(call),
        error,
    };
    if let Err(Error::Cancelled) = outcome {
        // A read that released nothing leaves no row (`gateway.md` D2); its intent is closed.
        if let Err(error) = rooms.journal.close_cancelled(contact).await {
            tracing::warn!(call_id = %call, %error, "the intent of a cancelled call stays open for the reconciler");
        }
        return Err(failed(Error::Cancelled));
    }
    let ending = Ending::of(&outcome);
    let event = event(rooms, &facts, ending);
    let result = event.result;
    let receipt = rooms
        .journal
        .settle(contact, event)
        .await
        .map_err(|error| failed(error.into()))?;
    let duration = rooms.clock.monotonic().saturating_sub(facts.started);
    telemetry::settled(facts.adapter, capability, result, duration);
    match outcome {
        Err(error) => Err(failed(error)),
        Ok(result) => Ok(Settled {
            call,
            result,
            meta: meta(&facts, &target_name),
            duration,
            receipt,
        }),
    }
}

fn meta(facts: &Facts, target_name: &str) -> String {
    facts.target.map_or_else(String::new, |target| {
        json!({"toolgate/target": {"id": target.to_string(), "name": target_name}}).to_string()
    })
}

/// How a call ended, as the record says it.
#[derive(Debug)]
pub(super) struct Ending {
    result: Outcome,
    reason: &'static str,
    rejected: bool,
}

impl Ending {
    /// For the row that stands in when nobody lives to settle the call.
    pub(super) fn unknown() -> Self {
        Self {
            result: Outcome::Unknown,
            reason: "",
            rejected: false,
        }
    }

    fn of(outcome: &Result<ToolResult, Error>) -> Self {
        match outcome {
            Ok(result) if !result.is_error => Self {
                result: Outcome::Success,
                reason: "",
                rejected: false,
            },
            Ok(_) => Self {
                result: Outcome::Failure,
                reason: "",
                rejected: false,
            },
            Err(error) => Self {
                result: Outcome::Failure,
                reason: error.reason().name(),
                rejected: matches!(error, Error::WriteRejected { .. }),
            },
        }
    }
}

/// The row of a call that got as far as its target.
pub(super) fn event(rooms: &Rooms, facts: &Facts, ending: Ending) -> Event {
    let kind = match (facts.is_test, ending.rejected, ending.result) {
        (true, _, Outcome::Success) => EventKind::TestConnectionSucceeded,
        (true, ..) => EventKind::TestConnectionFailed,
        (false, true, _) => EventKind::WriteRejected,
        (false, false, _) => EventKind::CapabilityInvoked,
    };
    facts.event(rooms, kind, ending.result, ending.reason)
}

impl Facts {
    /// A row with everything known of the call.
    pub(super) fn event(
        &self,
        rooms: &Rooms,
        kind: EventKind,
        result: Outcome,
        reason: &'static str,
    ) -> Event {
        let principal = self.caller.principal();
        Event {
            id: EventId::mint(),
            kind,
            time_us: self.time_us,
            principal: principal.name.as_ref().to_owned(),
            role: principal.role.as_str().to_owned(),
            facade: self.caller.facade.to_owned(),
            adapter_type: self.adapter.to_owned(),
            target_id: self.target,
            capability: self.capability.clone(),
            params_hash: self.params_hash,
            result,
            reason: reason.to_owned(),
            duration_ms: whole_ms(rooms.clock.monotonic().saturating_sub(self.started)),
            correlation_id: Some(self.call),
            detail: String::new(),
        }
    }
}

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
