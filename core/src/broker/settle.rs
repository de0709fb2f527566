//! Settle: the chained row is durable and the intent removed, in one commit. Only what was settled can be released.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::{Map, Value, json, value::RawValue};
use toolgate_contract::{ids::CallId, v1};

use super::{
    Rooms,
    answer::Answer,
    dispatch::Dispatched,
    facts::{Ending, Facts, whole_ms},
    fleet_tools, inner,
    permit::Recalled,
    refuse::Failed,
};
use crate::{
    adapters::Validation,
    audit::Outcome,
    error::Error,
    journal::{Contact, JournalError, Receipt},
    rfc3339, telemetry, token_cost,
    upstream::{Raw, ToolResult},
};

/// The name under which connection tests are counted.
const CONNECTION_TEST: &str = "test_connection";

/// A result that stands on the record; the only thing that can be released.
#[derive(Debug)]
pub struct Settled {
    call: CallId,
    answer: Answer,
    /// The answer as its caller reads it: within the cap of its profile, if there is one.
    told: Arc<ToolResult>,
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

    /// What the tool answered, the whole of it.
    #[must_use]
    pub fn result(&self) -> &ToolResult {
        &self.answer.result
    }

    /// What a connection test of a target that is dialled found.
    #[must_use]
    pub fn tested(&self) -> Option<&Validation> {
        self.answer.tested.as_deref()
    }

    /// A JSON object of facts about the call.
    #[must_use]
    pub fn meta(&self) -> &str {
        &self.meta
    }

    /// What may now leave: the result as callers read it, within their cap.
    #[must_use]
    pub fn release(&self) -> v1::ToolResult {
        let raw = |json: &RawValue| Bytes::copy_from_slice(json.get().as_bytes());
        v1::ToolResult {
            content: raw(&self.told.content),
            structured_content: self.told.structured.as_deref().map_or_else(Bytes::new, raw),
            is_error: self.told.is_error,
            meta: Bytes::copy_from_slice(self.meta.as_bytes()),
            raw: match &self.told.raw {
                Some(Raw::Result(bytes)) => bytes.clone(),
                Some(Raw::Error(_)) | None => Bytes::new(),
            },
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
    if matches!(outcome, Err(Error::Cancelled)) && !facts.writes && !facts.reports.any_told() {
        // A read that released nothing and told nothing leaves no row (`gateway.md` D2); its intent is closed.
        if let Err(error) = close_cancelled(rooms, contact).await {
            tracing::warn!(call_id = %call, %error, "the intent of a cancelled call stays open for the reconciler");
        }
        return Err(failed(Error::Cancelled));
    }
    let event = facts.ended(rooms, Ending::of(&outcome));
    let result = event.result;
    let receipt = match Arc::try_unwrap(contact) {
        Ok(contact) => rooms.journal.settle(contact, event).await,
        Err(shared) => rooms.journal.settle_shared(&shared, event).await,
    };
    let receipt = receipt.map_err(|error| failed(error.into()))?;
    let duration = rooms.clock.monotonic().saturating_sub(facts.started);
    count(rooms, &facts, capability, result, duration);
    match outcome {
        Err(error) => Err(failed(inner::as_asked(&facts, error))),
        Ok(answer) => Ok(settled(
            rooms,
            &facts,
            Some(&target_name),
            answer,
            duration,
            receipt,
        )),
    }
}

/// A call whose answer was kept, or is our own, made no contact: its row, in one commit, and no intent.
pub(super) async fn recall(rooms: &Rooms, recalled: Recalled) -> Result<Settled, Failed> {
    let Recalled {
        facts,
        capability,
        target_name,
        answer,
        deed,
        ..
    } = recalled;
    answer.tell_age(&facts.reports);
    let outcome = Ok(answer);
    let event = facts.ended(rooms, Ending::of(&outcome));
    let result = event.result;
    let tenant = &facts.caller.principal().tenant;
    let recorded = match deed {
        None => rooms.journal.record(tenant, event).await.map_err(Error::from),
        Some(deed) => fleet_tools::done(rooms, &facts, deed, event).await,
    };
    let duration = rooms.clock.monotonic().saturating_sub(facts.started);
    let settled = recorded.and_then(|receipt| {
        let answer = outcome?;
        count(rooms, &facts, capability, result, duration);
        Ok(settled(
            rooms,
            &facts,
            target_name.as_deref(),
            answer,
            duration,
            receipt,
        ))
    });
    settled.map_err(|error| Failed {
        call: Some(facts.call),
        error,
    })
}

// Whatever is told of a settled call beside its row, is told here.
fn count(rooms: &Rooms, facts: &Facts, label: &'static str, result: Outcome, took: Duration) {
    telemetry::settled(facts.adapter, label, result, took);
    let tool = match facts.is_test {
        true => CONNECTION_TEST,
        false => &facts.capability,
    };
    rooms
        .figures
        .settled(&facts.caller.principal().tenant, tool, result, took);
}

// Capped only now: the record and the cache know the whole, and no cap.
fn settled(
    rooms: &Rooms,
    facts: &Facts,
    target_name: Option<&str>,
    answer: Answer,
    duration: Duration,
    receipt: Receipt,
) -> Settled {
    let (told, cursor) = capped(rooms, facts, &answer);
    if !facts.is_test {
        telemetry::result_tokens(facts.adapter, token_cost::estimated(told.bytes()));
    }
    Settled {
        call: facts.call,
        meta: meta(facts, target_name, &answer, cursor),
        told,
        answer,
        duration,
        receipt,
    }
}

fn capped(rooms: &Rooms, facts: &Facts, answer: &Answer) -> (Arc<ToolResult>, Option<String>) {
    let result = Arc::clone(&answer.result);
    match (
        &answer.part,
        facts.caller.profile().and_then(|profile| profile.result_cap),
    ) {
        // A part of a rest is within the cap already.
        (Some(part), _) => (result, part.next.clone()),
        (None, None) => (result, None),
        (None, Some(cap)) => {
            let capped = rooms
                .rests
                .cap(result, token_cost::bytes_of(cap), facts.caller.principal());
            (capped.result, capped.cursor)
        }
    }
}

// While an errand of this call goes on for others, its intent covers it, and is closed with it.
async fn close_cancelled(rooms: &Rooms, contact: Arc<Contact>) -> Result<(), JournalError> {
    match Arc::try_unwrap(contact) {
        Ok(contact) => rooms.journal.close_cancelled(contact).await,
        Err(shared) => {
            shared.cancel_when_let_go();
            Ok(())
        }
    }
}

fn meta(facts: &Facts, target_name: Option<&str>, answer: &Answer, cursor: Option<String>) -> String {
    let mut meta = Map::new();
    if let (Some(target), Some(target_name)) = (facts.target, target_name) {
        let told = json!({"id": target.to_string(), "name": target_name});
        meta.insert("toolgate/target".into(), told);
    }
    if let Some(kept) = answer.kept {
        meta.insert("toolgate/cachedAt".into(), rfc3339::format(kept.at_us).into());
        meta.insert("toolgate/ageSeconds".into(), kept.age_seconds.into());
    }
    if let Some(cursor) = cursor {
        meta.insert("toolgate/cursor".into(), cursor.into());
    }
    match meta.is_empty() {
        true => String::new(),
        false => Value::Object(meta).to_string(),
    }
}
