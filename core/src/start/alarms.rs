//! Puts on the record what the keeper of checkpoints found out.
//!
//! The rows go to the reserved tenant's chain: that of the tenant itself is what cannot be relied on.

use serde_json::json;
use tokio::sync::mpsc;
use toolgate_contract::ids::{EventId, TenantId};

use crate::{
    anchor::Alarm,
    audit::{Event, EventKind, Outcome},
    clock::Clock,
    journal::Journal,
};

/// Puts each alarm on the record, until there is nobody to raise one.
pub(super) async fn record(mut alarms: mpsc::Receiver<Alarm>, journal: Journal, clock: Clock) {
    while let Some(alarm) = alarms.recv().await {
        if let Alarm::Regressed { tenant_id, .. } = &alarm
            && let Ok(tenant) = tenant_id.parse()
        {
            journal.distrust(&tenant);
        }
        let event = event(&alarm, clock.wall_us());
        if let Err(error) = journal.record(&TenantId::system(), event).await {
            tracing::error!(%error, "an alarm about checkpoints is not on the record");
        }
    }
}

fn event(alarm: &Alarm, time_us: i64) -> Event {
    let (reason, detail) = match alarm {
        Alarm::Regressed { tenant_id, signed } => (
            "RECORD_REGRESSED",
            json!({"tenant": tenant_id, "signedSeq": signed}),
        ),
        Alarm::Lost { why } => ("CHECKPOINTS_LOST", json!({"why": why})),
        Alarm::NotSigned { why } => ("CHECKPOINT_NOT_SIGNED", json!({"why": why})),
    };
    Event {
        id: EventId::mint(),
        kind: EventKind::CheckpointFailed,
        time_us,
        principal: String::new(),
        role: String::new(),
        facade: "system".into(),
        adapter_type: String::new(),
        target_id: None,
        capability: String::new(),
        params_hash: None,
        result: Outcome::Failure,
        reason: reason.into(),
        duration_ms: 0,
        correlation_id: None,
        detail: detail.to_string(),
    }
}
