//! Exports the record as NDJSON in the order of the chain: each line one event and all that is needed to check it.
//!
//! Members are named as in the events that REST lists, with the chain's own beside them. `bytes` is what was hashed and
//! sealed; the other members repeat it for the reader. Memory does not grow with the
//! record: one page of rows is held, and chunks are cut at [`CHUNK`].

use bytes::Bytes;
use data_encoding::{BASE64, HEXLOWER};
use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_contract::ids::TenantId;

use super::{
    Event, StoredRow, decode,
    rows::{Page, stored},
};
use crate::{
    rfc3339,
    store::{Row, Store, StoreError},
};

/// A chunk ends with the line that reaches this many bytes.
pub const CHUNK: usize = 64 * 1024;

/// An export under way.
#[derive(Debug)]
pub struct Export {
    store: Store,
    tenant: TenantId,
    rows: std::vec::IntoIter<Row>,
    /// Where the next page begins; `None` after the last.
    after: Option<i64>,
}

impl Export {
    /// Exports what comes after place `after_seq`; 0 for all.
    #[must_use]
    pub fn new(store: Store, tenant: TenantId, after_seq: i64) -> Self {
        Self {
            store,
            tenant,
            rows: Vec::new().into_iter(),
            after: Some(after_seq),
        }
    }

    /// Some whole lines; `None` at the end.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK {
            match self.rows.next() {
                Some(row) => write_line(&mut chunk, &self.tenant, &stored(&row)),
                None if !self.turn_page().await? => break,
                None => {}
            }
        }
        Ok((!chunk.is_empty()).then(|| chunk.into()))
    }

    async fn turn_page(&mut self) -> Result<bool, StoreError> {
        let Some(after) = self.after else { return Ok(false) };
        let page = Page::read(&self.store, &self.tenant, after).await?;
        self.after = page.next();
        self.rows = page.rows.into_iter();
        Ok(true)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    seq: i64,
    #[serde(flatten)]
    event: Option<Told<'a>>,
    tenant_id: &'a str,
    algorithm: i64,
    key_id: &'a str,
    prev: String,
    hash: String,
    mac: String,
    bytes: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    event: &'static str,
    event_id: String,
    time: String,
    principal: &'a str,
    role: &'a str,
    facade: &'a str,
    adapter_type: &'a str,
    target_id: String,
    capability: &'a str,
    params_hash: String,
    result: &'static str,
    reason: &'a str,
    duration_ms: i64,
    correlation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a RawValue>,
}

impl<'a> From<&'a Event> for Told<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            event: event.kind.as_str(),
            event_id: event.id.to_string(),
            time: rfc3339::format(event.time_us),
            principal: &event.principal,
            role: &event.role,
            facade: &event.facade,
            adapter_type: &event.adapter_type,
            target_id: event.target_id.map(|id| id.to_string()).unwrap_or_default(),
            capability: &event.capability,
            params_hash: event
                .params_hash
                .map(|hash| HEXLOWER.encode(&hash))
                .unwrap_or_default(),
            result: event.result.as_str(),
            reason: &event.reason,
            duration_ms: event.duration_ms,
            correlation_id: event.correlation_id.map(|id| id.to_string()).unwrap_or_default(),
            // What is no JSON is still in `bytes`.
            detail: serde_json::from_str(&event.detail).ok(),
        }
    }
}

fn write_line(chunk: &mut Vec<u8>, tenant: &TenantId, row: &StoredRow<'_>) {
    // A row that cannot be read is exported all the same: with what the chain says of it.
    let event = decode(row.bytes).ok();
    let line = Line {
        seq: row.seq,
        event: event.as_ref().map(Told::from),
        tenant_id: tenant.as_str(),
        algorithm: row.algorithm,
        key_id: row.key_id,
        prev: HEXLOWER.encode(row.prev),
        hash: HEXLOWER.encode(row.hash),
        mac: HEXLOWER.encode(row.mac),
        bytes: BASE64.encode(row.bytes),
    };
    // Numbers, texts and one checked JSON text always serialise, and a Vec takes every byte.
    let _ = serde_json::to_writer(&mut *chunk, &line);
    chunk.push(b'\n');
}

#[cfg(test)]
mod tests;
