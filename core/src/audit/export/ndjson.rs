//! A row as one JSON object, its members always in the same order.

use data_encoding::{BASE64, Encoding, HEXLOWER};
use serde_json::value::RawValue;

use super::encoded;
use crate::{
    audit::{Event, StoredRow, decode, normal},
    rfc3339,
};

/// Adds the line of `row`, without its end.
pub(super) fn write(out: &mut Vec<u8>, tenant: &str, row: &StoredRow<'_>) {
    out.extend_from_slice(b"{\"seq\":");
    number(out, row.seq);
    // A row that cannot be read is exported all the same: with what the chain says of it.
    if let Ok(event) = decode(row.bytes) {
        told(out, &event);
    }
    text(out, "tenantId", tenant);
    name(out, "algorithm");
    number(out, row.algorithm);
    text(out, "keyId", &normal::text(row.key_id, normal::KEY_ID));
    for (member, bytes) in [("prev", row.prev), ("hash", row.hash), ("mac", row.mac)] {
        plain(out, member, &HEXLOWER, bytes);
    }
    plain(out, "bytes", &BASE64, row.bytes);
    out.push(b'}');
}

fn told(out: &mut Vec<u8>, event: &Event) {
    text(out, "event", event.kind.as_str());
    text(out, "eventId", &event.id.to_string());
    text(out, "time", &rfc3339::format(event.time_us));
    text(out, "principal", &event.principal);
    text(out, "role", &event.role);
    text(out, "facade", &event.facade);
    text(out, "adapterType", &event.adapter_type);
    text(
        out,
        "targetId",
        &event.target_id.map(|id| id.to_string()).unwrap_or_default(),
    );
    text(out, "capability", &event.capability);
    let hash = event.params_hash.map(|hash| HEXLOWER.encode(&hash));
    text(out, "paramsHash", &hash.unwrap_or_default());
    text(out, "result", event.result.as_str());
    text(out, "reason", &event.reason);
    name(out, "durationMs");
    number(out, event.duration_ms);
    let call = event.correlation_id.map(|id| id.to_string());
    text(out, "correlationId", &call.unwrap_or_default());
    // What is no JSON is still in `bytes`.
    if let Ok(detail) = serde_json::from_str::<&RawValue>(&event.detail) {
        name(out, "detail");
        out.extend_from_slice(detail.get().as_bytes());
    }
}

fn name(out: &mut Vec<u8>, member: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(member.as_bytes());
    out.extend_from_slice(b"\":");
}

fn number(out: &mut Vec<u8>, value: i64) {
    // Numbers always serialise, and a Vec takes every byte.
    let _ = serde_json::to_writer(out, &value);
}

fn text(out: &mut Vec<u8>, member: &str, value: &str) {
    name(out, member);
    // As above.
    let _ = serde_json::to_writer(out, value);
}

// Hexadecimal and base64 never need escaping.
fn plain(out: &mut Vec<u8>, member: &str, encoding: &Encoding, bytes: &[u8]) {
    name(out, member);
    out.push(b'"');
    encoded(out, encoding, bytes);
    out.push(b'"');
}
