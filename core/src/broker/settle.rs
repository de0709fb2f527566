//! Settle: the chained row is durable and the intent removed, in one commit. Only what was settled can be released.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{json, value::RawValue};
use toolgate_contract::{ids::CallId, v1};

use super::{
    Rooms,
    dispatch::Dispatched,
    facts::{Ending, Facts, whole_ms},
    refuse::Failed,
};
use crate::{error::Error, journal::Receipt, telemetry, upstream::ToolResult};

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
    let event = facts.ended(rooms, ending);
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
