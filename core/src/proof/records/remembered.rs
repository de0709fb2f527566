//! The last verification that found a chain intact, as the record itself tells it.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::Deserialize;
use toolgate_contract::ids::TenantId;

use super::head_of;
use crate::{
    audit::{
        EventKind, Head, Outcome,
        list::{self, Filter},
        verify::sealed_bytes_at,
    },
    keys::Keyring,
    store::{Store, StoreError},
};

/// So many pages are looked through, each over half a million rows.
const PAGES: u32 = 8;

/// A place up to which a chain was found intact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Remembered {
    pub(super) head: Head,
    /// Place of the row that tells of it.
    pub(super) told_by: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    verdict: String,
    head_seq: i64,
    head_hash: String,
}

/// Looks for it, newest first.
pub(super) async fn find(
    store: &Store,
    keys: &Arc<Keyring>,
    tenant: &TenantId,
) -> Result<Option<Remembered>, StoreError> {
    let filter = Filter {
        kind: Some(EventKind::AuditVerified),
        result: Some(Outcome::Success),
        ..Filter::default()
    };
    let mut cursor = None;
    for _ in 0..PAGES {
        let page = list::list(store, tenant, &filter, cursor, 1).await?;
        if let Some(entry) = page.entries.first() {
            return read(store, keys, tenant, entry.seq).await;
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(None),
        }
    }
    Ok(None)
}

async fn read(
    store: &Store,
    keys: &Arc<Keyring>,
    tenant: &TenantId,
    seq: i64,
) -> Result<Option<Remembered>, StoreError> {
    // What anybody could have written there counts for nothing.
    let Some(bytes) = sealed_bytes_at(store, keys, tenant, seq).await? else {
        return Ok(None);
    };
    let told = crate::audit::decode(&bytes).ok().and_then(|event| {
        let told: Told = serde_json::from_str(&event.detail).ok()?;
        let hash = HEXLOWER.decode(told.head_hash.as_bytes()).ok()?.try_into().ok()?;
        let sound = event.kind == EventKind::AuditVerified && told.verdict == "intact";
        (sound && told.head_seq > 0 && told.head_seq < seq).then(|| head_of(told.head_seq, hash))
    });
    Ok(told.map(|head| Remembered { head, told_by: seq }))
}
