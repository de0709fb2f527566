//! One look at a project's list: asked, held against the one in force, and put in force, or kept back.
//!
//! A changed list is a row with both hashes, whether it is kept back or not, so that no text changes unnoticed. The look
//! itself leaves no row: nothing was released.

use std::sync::Arc;

use serde_json::json;
use toolgate_contract::ids::{EventId, TargetId, TenantId};

use super::{
    Keeping,
    definition::Definition,
    fetch::{self, FetchError},
    rows::{self, InForce},
    tool_list::ToolList,
};
use crate::{
    audit::{Event, EventKind, Outcome},
    changes::{By, Fact},
    error::Error,
    journal::Intent,
    registry::{PROJECT, Schema},
    snapshot::Target,
    upstream::{AWAY, UpstreamError},
};

/// Patterns of the schemas of one project that are held here.
const MOST_PATTERNS: usize = 128;

/// What a look found.
#[derive(Debug)]
pub(super) enum Found {
    /// This list is in force.
    InForce(Arc<ToolList>),
    /// This list waits for an admin's word.
    Withheld(Arc<ToolList>),
    /// No list.
    Nothing(String),
    /// The project is not there, or not connected: whoever connects is looked at.
    Gone,
}

pub(super) async fn look(rooms: &Keeping, tenant: &TenantId, id: TargetId) -> Found {
    let Ok(Some(snapshot)) = rooms.snapshots.get(tenant).await else {
        return Found::Gone;
    };
    let Some(target) = snapshot.target(id).filter(|target| target.adapter == PROJECT) else {
        return Found::Gone;
    };
    match fetched(rooms, tenant, &target).await {
        Ok(list) => decided(rooms, tenant, &target, list)
            .await
            .unwrap_or_else(|error| Found::Nothing(error.to_string())),
        Err(FetchError::Upstream(
            UpstreamError::ProjectOffline { .. } | UpstreamError::ProjectLost { .. },
        )) => Found::Gone,
        Err(error) => Found::Nothing(error.to_string()),
    }
}

async fn fetched(rooms: &Keeping, tenant: &TenantId, target: &Target) -> Result<Arc<ToolList>, FetchError> {
    let name: Arc<str> = target.name.as_str().into();
    let offline = || UpstreamError::ProjectOffline {
        project: Arc::clone(&name),
        relay: target.id.to_string().into(),
        why: AWAY,
    };
    let upstream = rooms
        .uplinks
        .project(target.id, Arc::clone(&name))
        .ok_or_else(offline)?;
    let intent = Intent::new(intended(target, rooms.clock.wall_us()));
    let contact = rooms.journal.intend(tenant, intent).await;
    let contact = contact.map_err(|_| UpstreamError::Overloaded)?;
    let told = fetch::fetch(&upstream, &contact).await;
    if let Err(error) = rooms.journal.withdraw(contact).await {
        tracing::warn!(%error, "the intent of a look at a project's tools stays open for the reconciler");
    }
    let told = told?;
    // Compiles a schema for each.
    let read = move || {
        let mut patterns = 0;
        let tools = told.iter().filter_map(|raw| {
            let Some(tool) = Definition::read(raw) else {
                tracing::warn!(
                    project = &*name,
                    "what a project told as a tool is none that could be called, and is left out"
                );
                return None;
            };
            // Each takes memory for as long as the list is in force.
            patterns += tool.schema().map_or(0, Schema::patterns);
            Some(Arc::new(match patterns <= MOST_PATTERNS {
                true => tool,
                false => tool.without_schema(),
            }))
        });
        Arc::new(ToolList::publish(&name, tools.collect()))
    };
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| FetchError::Shape)
}

async fn decided(
    rooms: &Keeping,
    tenant: &TenantId,
    target: &Target,
    list: Arc<ToolList>,
) -> Result<Found, Error> {
    let (owner, id, now_us) = (tenant.clone(), target.id, rooms.clock.wall_us());
    let (hash, name, count) = (list.hash.to_string(), target.name.clone(), list.tools().len());
    let blocks = target.settings["onDrift"] == "block";
    let withheld = rooms.changes.make(By::gateway(tenant.clone()), move |tx| {
        Box::pin(async move {
            let before = rows::find_list(tx, &owner, id).await?;
            let changed = |before: &InForce, withheld: bool| {
                let detail = json!({
                    "change": "tools",
                    "name": name,
                    "before": before.hash,
                    "after": hash,
                    "tools": count,
                    "withheld": withheld,
                });
                Fact::new(EventKind::ProjectToolsChanged, detail).about(PROJECT, id)
            };
            match before {
                None => {
                    rows::set_list(tx, &owner, id, &hash, now_us).await?;
                    let none = InForce {
                        hash: String::new(),
                        withheld: None,
                    };
                    Ok((false, vec![changed(&none, false)]))
                }
                Some(before) if before.hash == hash && before.withheld.is_none() => Ok((false, vec![])),
                // The project is back at what was accepted.
                Some(before) if before.hash == hash => {
                    rows::set_list(tx, &owner, id, &hash, now_us).await?;
                    let kept_back = InForce {
                        hash: before.withheld.unwrap_or_default(),
                        withheld: None,
                    };
                    Ok((false, vec![changed(&kept_back, false)]))
                }
                Some(before) if blocks => {
                    if before.withheld.as_deref() == Some(&*hash) {
                        return Ok((true, vec![]));
                    }
                    rows::withhold_list(tx, &owner, id, Some(&hash), now_us).await?;
                    Ok((true, vec![changed(&before, true)]))
                }
                Some(before) => {
                    rows::set_list(tx, &owner, id, &hash, now_us).await?;
                    Ok((false, vec![changed(&before, false)]))
                }
            }
        })
    });
    Ok(match withheld.await? {
        true => Found::Withheld(list),
        false => Found::InForce(list),
    })
}

// What the record says of a look that nobody lives to end.
fn intended(target: &Target, time_us: i64) -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us,
        principal: String::new(),
        role: String::new(),
        facade: "system".into(),
        adapter_type: PROJECT.into(),
        target_id: Some(target.id),
        capability: "tools/list".into(),
        params_hash: None,
        result: Outcome::Unknown,
        reason: String::new(),
        duration_ms: 0,
        correlation_id: None,
        detail: String::new(),
    }
}
