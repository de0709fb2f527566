//! Refuse: the one place where what was not carried out reaches the record.
//!
//! A write attempt, and a call whose target's credential drifted, has a row of its own, durable before it is answered, as long as its caller's bucket has a token;
//! everything else is counted per principal, reason and minute, so that a flood of refusals is no flood of rows.

use toolgate_contract::{
    ids::{CallId, TenantId},
    v1::{ErrorReason, Failure},
};

use super::{
    Rooms, admit,
    ask::Ask,
    facts::{Facts, Refusal},
    inner,
};
use crate::{
    audit::{EventKind, Outcome},
    error::Error,
    journal::Refusal as Count,
    limits::Use,
    telemetry,
};

/// A request that was not carried out, on its way to the caller.
#[derive(Debug)]
pub struct Failed {
    /// The call, if it was one.
    pub call: Option<CallId>,
    /// Why.
    pub error: Error,
}

impl Failed {
    /// The failure as told to the caller; what the operator must know is logged here.
    #[must_use]
    pub fn into_failure(self) -> Failure {
        let reason = self.error.reason().name();
        if let Some(source) = std::error::Error::source(&self.error) {
            tracing::error!(call_id = ?self.call, reason, error = source, "request failed");
        } else {
            tracing::debug!(call_id = ?self.call, reason, "request refused");
        }
        telemetry::refused(reason);
        self.error.into_failure(self.call)
    }
}

pub(super) async fn refused(rooms: &Rooms, refusal: Refusal) -> Failed {
    let Refusal { facts, error } = refusal;
    let error = inner::as_asked(&facts, error);
    let call = Some(facts.call);
    let error = match error {
        Error::WriteRejected { .. } | Error::ReadOnly { .. } | Error::CredentialDrifted => {
            match write_rejected(rooms, &facts, error.reason()).await {
                Ok(()) => error,
                Err(unavailable) => unavailable,
            }
        }
        // What the record could not take cannot be recorded either.
        Error::AuditUnavailable(_) => error,
        _ => {
            count(rooms, &facts, EventKind::RequestRefused, error.reason());
            error
        }
    };
    let tenant = &facts.caller.principal().tenant;
    rooms.figures.refused(tenant, error.reason());
    Failed { call, error }
}

/// A caller without a valid credential has no tenant: it is counted by where it came from.
pub(super) fn unknown(rooms: &Rooms, ask: &Ask, error: Error) -> Failed {
    if matches!(
        error,
        Error::Unauthenticated | Error::NotSignedIn(_) | Error::RateLimited { .. }
    ) {
        count_source(rooms, ask, error.reason());
    }
    Failed { call: None, error }
}

/// Somebody whom a provider named is counted by that name, on the record of the tenant that its people are of.
pub(super) fn person(
    rooms: &Rooms,
    ask: &Ask,
    (tenant, principal): (TenantId, String),
    error: Error,
) -> Failed {
    rooms.journal.count_refusal(Count {
        tenant,
        kind: EventKind::RequestRefused,
        principal,
        role: String::new(),
        facade: ask.facade.to_owned(),
        reason: error.reason().name().to_owned(),
        capability: String::new(),
    });
    Failed { call: None, error }
}

/// Counts what was refused before it came to a method.
pub(super) async fn outside(rooms: &Rooms, ask: &Ask, reason: ErrorReason) {
    match admit::authenticate(rooms, ask).await {
        Ok(caller) => {
            let facts = Facts::without_call(rooms, caller);
            count(rooms, &facts, EventKind::RequestRefused, reason);
            rooms.figures.refused(&facts.caller.principal().tenant, reason);
        }
        Err(_) => count_source(rooms, ask, reason),
    }
    telemetry::refused(reason.name());
}

fn count_source(rooms: &Rooms, ask: &Ask, reason: ErrorReason) {
    rooms.journal.count_refusal(Count {
        tenant: TenantId::system(),
        kind: EventKind::RequestRefused,
        principal: ask.origin(),
        role: String::new(),
        facade: ask.facade.to_owned(),
        reason: reason.name().to_owned(),
        capability: String::new(),
    });
}

async fn write_rejected(rooms: &Rooms, facts: &Facts, reason: ErrorReason) -> Result<(), Error> {
    let principal = facts.caller.principal();
    if rooms
        .buckets
        .take_user(Use::Call, &principal.tenant, &principal.name)
        .is_err()
    {
        count(rooms, facts, EventKind::WriteRejected, reason);
        return Ok(());
    }
    let event = facts.event(rooms, EventKind::WriteRejected, Outcome::Refused, reason.name());
    rooms.journal.record(&principal.tenant, event).await?;
    Ok(())
}

fn count(rooms: &Rooms, facts: &Facts, kind: EventKind, reason: ErrorReason) {
    let principal = facts.caller.principal();
    rooms.journal.count_refusal(Count {
        tenant: principal.tenant.clone(),
        kind,
        principal: principal.name.as_ref().to_owned(),
        role: principal.role.as_str().to_owned(),
        facade: facts.caller.facade.to_owned(),
        reason: reason.name().to_owned(),
        capability: facts.capability.clone(),
    });
}
