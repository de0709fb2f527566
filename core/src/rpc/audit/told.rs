//! Events as they are told.

use data_encoding::HEXLOWER;
use toolgate_contract::v1::AuditEvent;

use crate::{audit::list::Entry, rfc3339};

pub(super) fn told(tenant: &str, entry: Entry) -> AuditEvent {
    let Ok(event) = entry.event else {
        // A row that cannot be read is shown as what it is: its place, and nothing that it claims.
        return AuditEvent {
            seq: entry.seq,
            tenant_id: tenant.into(),
            ..AuditEvent::default()
        };
    };
    AuditEvent {
        seq: entry.seq,
        event: event.kind.as_str().into(),
        time: rfc3339::format(event.time_us),
        tenant_id: tenant.into(),
        principal: event.principal,
        role: event.role,
        facade: event.facade,
        adapter_type: event.adapter_type,
        target_id: event.target_id.map(|id| id.to_string()).unwrap_or_default(),
        capability: event.capability,
        params_hash: event
            .params_hash
            .map(|hash| HEXLOWER.encode(&hash))
            .unwrap_or_default(),
        result: event.result.as_str().into(),
        reason: event.reason,
        duration_ms: event.duration_ms,
        correlation_id: event.correlation_id.map(|id| id.to_string()).unwrap_or_default(),
        detail: event.detail.into(),
    }
}
