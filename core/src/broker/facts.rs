//! What is known of a call so far, and how it becomes a row of the record.
//!
//! Every step knows it better. Arguments and results are never part of it: only the keyed hash of the arguments.

use std::time::Duration;

use serde_json::{Map, Value};
use toolgate_contract::ids::{CallId, EventId, TargetId};

use super::{Rooms, answer::Answer, ask::Caller};
use crate::{
    audit::{Event, EventKind, Outcome},
    changes::By,
    error::Error,
    upstream::Reports,
};

/// What the record will say about a call, known better at every step.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(super) call: CallId,
    pub(super) caller: Caller,
    pub(super) started: Duration,
    pub(super) time_us: i64,
    pub(super) capability: String,
    pub(super) adapter: &'static str,
    pub(super) target: Option<TargetId>,
    pub(super) params_hash: Option<[u8; 32]>,
    pub(super) is_test: bool,
    /// Whether it stood inside of a call of `call_tool`.
    pub(super) by_call_tool: bool,
    /// Whether it may change something at its target, so that its end is on the record whoever waits for it.
    pub(super) writes: bool,
    /// What its row is, where that is not what a call's row is.
    pub(super) event: Option<EventKind>,
    /// Further facts of its row.
    pub(super) detail: Map<String, Value>,
    /// Where it is told what the call is doing.
    pub(super) reports: Reports,
}

impl Facts {
    pub(super) fn without_call(rooms: &Rooms, caller: Caller) -> Self {
        Self {
            call: CallId::mint(),
            caller,
            started: rooms.clock.monotonic(),
            time_us: rooms.clock.wall_us(),
            capability: String::new(),
            adapter: "",
            target: None,
            params_hash: None,
            is_test: false,
            by_call_tool: false,
            writes: false,
            event: None,
            detail: Map::new(),
            reports: Reports::none(),
        }
    }

    /// Who makes a change by this call.
    pub(super) fn by(&self) -> By {
        let principal = self.caller.principal();
        By {
            tenant: principal.tenant.clone(),
            principal: principal.name.as_ref().to_owned(),
            role: principal.role.as_str(),
            facade: self.caller.facade,
        }
    }

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
            detail: self.detail(),
        }
    }

    // A JSON object, or nothing.
    fn detail(&self) -> String {
        let mut detail = self.detail.clone();
        if self.by_call_tool {
            detail.insert("via".into(), "call_tool".into());
        }
        match detail.is_empty() {
            true => String::new(),
            false => Value::Object(detail).to_string(),
        }
    }

    /// The row of a call that got as far as its target.
    pub(super) fn ended(&self, rooms: &Rooms, mut ending: Ending) -> Event {
        // It was on its way when it was given up, so nobody knows whether it was carried out (`gateway.md` D2).
        if self.writes && ending.result == Outcome::Cancelled {
            ending.result = Outcome::Unknown;
        }
        let kind = match (self.is_test, ending.rejected, ending.result) {
            (true, _, Outcome::Success) => EventKind::TestConnectionSucceeded,
            (true, ..) => EventKind::TestConnectionFailed,
            (false, true, _) => EventKind::WriteRejected,
            (false, false, _) => EventKind::CapabilityInvoked,
        };
        self.event(rooms, self.event.unwrap_or(kind), ending.result, ending.reason)
    }
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

    pub(super) fn of(outcome: &Result<Answer, Error>) -> Self {
        match outcome {
            Ok(answer) if !answer.result.is_error => Self {
                result: Outcome::Success,
                reason: "",
                rejected: false,
            },
            Ok(answer) => Self {
                result: Outcome::Failure,
                reason: answer.reason(),
                rejected: false,
            },
            Err(error) => Self {
                result: match error {
                    Error::Cancelled => Outcome::Cancelled,
                    _ => Outcome::Failure,
                },
                reason: error.reason().name(),
                rejected: matches!(
                    error,
                    Error::WriteRejected { .. } | Error::ReadOnly { .. } | Error::CredentialDrifted
                ),
            },
        }
    }
}

/// A call that was not carried out, on its way to the record.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(super) facts: Facts,
    pub(super) error: Error,
}

impl Refusal {
    pub(super) fn boxed(facts: Facts, error: Error) -> Box<Self> {
        Box::new(Self { facts, error })
    }
}

pub(super) fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
