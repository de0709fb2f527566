//! The tools about all projects at once: what is at hand is answered here, and every project is asked where it is not.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json, value::to_raw_value};
use tokio::time::timeout;
use toolgate_contract::{
    frame::{Octets, PublicKey},
    ids::TargetId,
    registry::ToolDef,
};

use super::{
    Rooms,
    answer::Answer,
    ask::Caller,
    dispatch::fitting,
    errand::Errand,
    facts::Facts,
    for_project::{current, named, owner},
};
use crate::{
    audit::{Event, EventKind},
    error::Error,
    fleet::{self, Item, Owner, Pipeline, Status, rows},
    identity::Action,
    journal::Receipt,
    registry, rfc3339,
    snapshot::Target,
    upstream::{Raw, ToolResult, UpstreamError},
};

/// What is to be done with the settlement of such a call, before it is answered.
#[derive(Debug)]
pub(crate) enum Deed {
    /// Calls of this owner that name no project go to this one from now on.
    Switch { owner: Owner, target: TargetId },
    /// This key takes the place of the one that the relay of the project enrolled with.
    Repin { target: TargetId, key: PublicKey },
}

/// One project has so long: the whole is told of within 5 s.
const EACH: Duration = Duration::from_millis(4_500);
/// The tool that tells the status of a pipeline, where the settings of a project name no other.
const STATUS_TOOL: &str = "get_pipeline_status";
/// Sessions of one tenant that have a default.
const MOST_SESSIONS: i64 = 4_096;

/// What the tool answers out of what is at hand, and what is to be done besides.
pub(super) fn answer(
    rooms: &Rooms,
    facts: &Facts,
    tool: &'static ToolDef,
    arguments: &Value,
) -> Result<(Answer, Option<Deed>), Error> {
    let caller = &facts.caller;
    match tool.name {
        "list_projects" => Ok((listed(rooms, caller)?, None)),
        "gateway_health" => Ok((health(rooms, caller)?, None)),
        "fleet_identity" => identity(rooms, caller, arguments),
        "switch_project" => switched(rooms, caller, text_of(arguments, "project")),
        _ => Err(Error::internal(format!("{} has no answer here", tool.name))),
    }
}

/// Does what was to be done, with the row of the call.
pub(super) async fn done(rooms: &Rooms, facts: &Facts, deed: Deed, event: Event) -> Result<Receipt, Error> {
    let tenant = facts.caller.principal().tenant.clone();
    match deed {
        Deed::Switch { owner, target } => {
            // It has a row of its own (`gateway.md` §3), about the project that was chosen.
            let event = Event {
                kind: EventKind::ProjectSwitched,
                adapter_type: registry::PROJECT.into(),
                target_id: Some(target),
                ..event
            };
            let (whose, of, now_us) = (owner.clone(), tenant.clone(), rooms.clock.wall_us());
            let switched = rooms.journal.record_with(
                &tenant,
                move |tx| {
                    Box::pin(async move {
                        let is_session = matches!(whose, Owner::Session(_));
                        if is_session && rows::other_sessions(tx, &of, &whose).await? >= MOST_SESSIONS {
                            return Err(Error::Overloaded);
                        }
                        Ok(rows::set_default(tx, &of, &whose, target, now_us).await?)
                    })
                },
                event,
            );
            let receipt = switched.await?;
            rooms.fleet.defaults().chose(&tenant, owner, target);
            rooms.snapshots.wake(&tenant);
            Ok(receipt)
        }
        Deed::Repin { target, key } => {
            rooms.targets.repin(facts.by(), target, key).await?;
            Ok(rooms.journal.record(&tenant, event).await?)
        }
    }
}

/// Asks every project for the status of its pipeline.
pub(super) async fn of_all(errand: Errand, facts: &Facts) -> Result<Answer, Error> {
    let projects: Vec<Arc<Target>> = facts.caller.snapshot.projects().cloned().collect();
    let asked = projects.iter().map(|project| async {
        let pipeline = timeout(EACH, pipeline(&errand, project)).await;
        let late = || Err(format!("it did not answer within {} s", EACH.as_secs_f32()));
        (project.name.as_str(), pipeline.unwrap_or_else(|_| late()))
    });
    let found = join_all(asked).await;
    let mut totals: BTreeMap<&str, i64> = BTreeMap::new();
    let (mut rows, mut text) = (Vec::new(), String::new());
    for (name, pipeline) in &found {
        match pipeline {
            Ok(pipeline) => {
                for (stage, count) in &pipeline.stages {
                    *totals.entry(stage).or_default() += count;
                }
                rows.push(json!({
                    "name": name,
                    "ok": true,
                    "stages": counts(pipeline.stages.iter().map(|(stage, count)| (stage.as_str(), *count))),
                    "attention": pipeline.attention.iter().map(item).collect::<Vec<_>>(),
                }));
                tell(&mut text, name, pipeline);
            }
            Err(why) => {
                rows.push(json!({"name": name, "ok": false, "why": why}));
                // Writing to a text never fails.
                let _ = writeln!(text, "{name}: no answer, {why}");
            }
        }
    }
    let totals = counts(totals.into_iter());
    told(
        "aggregate_pipeline_status",
        &text,
        json!({"projects": rows, "totals": totals}),
    )
}

async fn pipeline(errand: &Errand, project: &Target) -> Result<Pipeline, String> {
    let rooms = &errand.rooms;
    if rooms.fleet.is_withheld(project.id) {
        return Err("its tools have changed and wait for an admin's word".into());
    }
    let tool = project
        .settings
        .get("statusTool")
        .and_then(Value::as_str)
        .unwrap_or(STATUS_TOOL);
    // Under read_only what does not say that it only reads is not called, whoever asks.
    let list = rooms.fleet.list(project);
    let found = list.as_ref().and_then(|list| list.own(tool));
    match found {
        None if list.is_some() => return Err(format!("it has no tool {tool}")),
        Some(found) if !project.may_write() && !found.tool.read_only => {
            return Err(format!(
                "it may only be read, and its {tool} does not say that it only reads"
            ));
        }
        _ => {}
    }
    let upstream = rooms
        .adapters
        .upstream(project, None)
        .map_err(|error| error.to_string())?;
    let name = serde_json::to_string(tool).map_err(|error| error.to_string())?;
    let params = format!("{{\"name\":{name},\"arguments\":{{}}}}");
    let asking = fleet::asking("tools/call", params.into(), EACH);
    let result = upstream
        .call(&errand.contact, asking)
        .await
        .map_err(|error| match error {
            UpstreamError::Timeout => format!("it did not answer within {} s", EACH.as_secs_f32()),
            error => error.to_string(),
        })?;
    if let Some(Raw::Error(error)) = &result.raw {
        return Err(fleet::said(error));
    }
    if result.is_error {
        return Err(format!("its {tool} says no"));
    }
    let structured = result
        .structured
        .as_deref()
        .map(|json| serde_json::from_str(json.get()));
    // Older servers say it as text.
    let structured = match structured {
        Some(Ok(structured)) => Some(structured),
        _ => first_text(&result).and_then(|text| serde_json::from_str(&text).ok()),
    };
    structured
        .and_then(|structured: Value| Pipeline::read(&structured))
        .ok_or_else(|| format!("what its {tool} answers has neither stages nor items"))
}

fn first_text(result: &ToolResult) -> Option<String> {
    let blocks: Vec<Value> = serde_json::from_str(result.content.get()).ok()?;
    blocks
        .iter()
        .find_map(|block| block["text"].as_str().map(str::to_owned))
}

fn counts<'a>(stages: impl Iterator<Item = (&'a str, i64)>) -> Vec<Value> {
    stages
        .map(|(stage, count)| json!({"stage": stage, "count": count}))
        .collect()
}

fn item(item: &Item) -> Value {
    json!({"id": item.id, "title": item.title, "stage": item.stage, "state": item.state})
}

fn tell(text: &mut String, name: &str, pipeline: &Pipeline) {
    let stages: Vec<String> = pipeline
        .stages
        .iter()
        .map(|(stage, count)| format!("{stage} {count}"))
        .collect();
    let _ = writeln!(
        text,
        "{name}: {}",
        if stages.is_empty() {
            "nothing".into()
        } else {
            stages.join(", ")
        }
    );
    for Item {
        id,
        title,
        stage,
        state,
    } in &pipeline.attention
    {
        let _ = writeln!(text, "  {state}: {id} {title} ({stage})");
    }
}

fn listed(rooms: &Rooms, caller: &Caller) -> Result<Answer, Error> {
    let active = current(rooms, caller).map(|target| target.id);
    let (mut rows, mut text) = (Vec::new(), String::new());
    for project in caller.snapshot.projects() {
        let settings = &project.settings;
        let mut row = json!({
            "name": project.name,
            "adopted": settings["adopted"] == true,
            "active": active == Some(project.id),
            "access": if project.may_write() { "read_write" } else { "read_only" },
        });
        for (name, key) in [("url", "url"), ("ssh_port", "sshPort"), ("host_path", "hostPath")] {
            if let Some(value) = settings.get(key) {
                row[name] = value.clone();
            }
        }
        let mark = if active == Some(project.id) { "* " } else { "  " };
        let kind = if settings["adopted"] == true {
            "adopted"
        } else {
            "built in"
        };
        let _ = write!(
            text,
            "{mark}{} ({kind}, {})",
            project.name,
            row["access"].as_str().unwrap_or_default()
        );
        for label in ["url", "ssh_port", "host_path"] {
            match &row[label] {
                Value::Null => {}
                Value::String(value) => {
                    let _ = write!(text, " {label}={value}");
                }
                value => {
                    let _ = write!(text, " {label}={value}");
                }
            }
        }
        text.push('\n');
        rows.push(row);
    }
    if active.is_none() {
        text.push_str("none is yours by default: name one in each call as project, or use switch_project\n");
    }
    told("list_projects", &text, json!({"projects": rows}))
}

fn health(rooms: &Rooms, caller: &Caller) -> Result<Answer, Error> {
    let now_us = rooms.clock.wall_us();
    let (mut rows, mut text) = (Vec::new(), String::new());
    for project in caller.snapshot.projects() {
        let status = rooms.fleet.status(&caller.snapshot, project);
        let mut row = json!({"name": project.name, "state": status.state, "tools": status.tools});
        let age = status
            .last_event_us
            .map(|at| now_us.saturating_sub(at).max(0) / 1_000_000);
        let seen = status.last_seen_us.map(rfc3339::format);
        put(&mut row, "last_seen", seen.as_deref());
        put(&mut row, "latency_ms", status.latency_ms);
        put(&mut row, "last_event", status.last_event_us.map(rfc3339::format));
        put(&mut row, "event_age_seconds", age);
        put(&mut row, "why", status.why.as_deref());
        let seen = seen.map_or_else(|| "never heard".to_owned(), |seen| format!("last heard {seen}"));
        let events = age.map_or_else(
            || "no event yet".to_owned(),
            |age| format!("last event {age} s ago"),
        );
        let why = status.why.map_or_else(String::new, |why| format!("; {why}"));
        let _ = writeln!(
            text,
            "{}: {}, {seen}, {events}, {} tools{why}",
            project.name, status.state, status.tools
        );
        rows.push(row);
    }
    told("gateway_health", &text, json!({"projects": rows}))
}

fn identity(rooms: &Rooms, caller: &Caller, arguments: &Value) -> Result<(Answer, Option<Deed>), Error> {
    let deed = match (text_of(arguments, "repin"), text_of(arguments, "key")) {
        ("", "") => None,
        ("", _) => {
            return Err(Error::invalid(
                "repin",
                "names the project whose relay the key is of",
            ));
        }
        (project, key) => Some(repin(rooms, caller, project, key)?),
    };
    let (mut rows, mut text) = (Vec::new(), String::new());
    for project in caller.snapshot.projects() {
        let status = rooms.fleet.status(&caller.snapshot, project);
        let pinned = match &deed {
            Some(Deed::Repin { target, key }) if *target == project.id => Some(*key),
            _ => project.relay_key,
        };
        let state = state_of(&status, pinned);
        let mut row = json!({"project": project.name, "state": state});
        put(&mut row, "pinned", pinned.map(|key| key.to_string()));
        put(&mut row, "live", status.live_key.map(|(key, _)| key.to_string()));
        let now_us = rooms.clock.wall_us();
        let seen = status.live_key.map(|(_, age)| {
            rfc3339::format(now_us.saturating_sub(i64::try_from(age.as_micros()).unwrap_or(i64::MAX)))
        });
        put(&mut row, "seen", seen);
        let _ = writeln!(text, "{}: {state}", project.name);
        if state == "mismatch" {
            let key = |key: Option<PublicKey>| key.map_or_else(|| "none".to_owned(), |key| key.to_string());
            let _ = writeln!(
                text,
                "  pinned {}, shown {}",
                key(pinned),
                key(status.live_key.map(|(key, _)| key))
            );
        }
        rows.push(row);
    }
    Ok((told("fleet_identity", &text, json!({"relays": rows}))?, deed))
}

fn repin(rooms: &Rooms, caller: &Caller, project: &str, key: &str) -> Result<Deed, Error> {
    caller.principal().role.require(Action::ChangeTargets)?;
    let target = named(caller, project)?;
    let key: PublicKey = Octets::parse(key).ok_or_else(|| {
        Error::invalid(
            "key",
            "is no key of a relay; fleet_identity tells the one that is shown",
        )
    })?;
    let shown = rooms.fleet.status(&caller.snapshot, &target).live_key;
    match shown {
        Some((shown, _)) if shown == key => Ok(Deed::Repin {
            target: target.id,
            key,
        }),
        _ => Err(Error::Conflict(
            "that is not the key that the project's relay shows now; look again with fleet_identity".into(),
        )),
    }
}

fn state_of(status: &Status, pinned: Option<PublicKey>) -> &'static str {
    match (status.state, pinned, status.live_key) {
        (state @ ("waiting" | "revoked" | "locked"), ..) => state,
        (_, Some(pinned), Some((live, _))) if pinned != live => "mismatch",
        ("offline", ..) => "offline",
        _ => "match",
    }
}

fn switched(rooms: &Rooms, caller: &Caller, project: &str) -> Result<(Answer, Option<Deed>), Error> {
    let target = named(caller, project)?;
    let owner = owner(rooms, caller);
    let whose = match owner {
        Owner::Session(_) => "of this session",
        Owner::Principal(_) => "of yours",
        Owner::Tenant => "of everyone here",
    };
    let text = format!("calls {whose} that name no project now go to {}", target.name);
    let answer = told(
        "switch_project",
        &text,
        json!({"project": target.name, "scope": owner.scope()}),
    )?;
    Ok((
        answer,
        Some(Deed::Switch {
            owner,
            target: target.id,
        }),
    ))
}

fn put(row: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        row[name] = value.into();
    }
}

fn text_of<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

fn told(tool: &'static str, text: &str, structured: Value) -> Result<Answer, Error> {
    let text = text.trim_end();
    let text = if text.is_empty() {
        "no project is registered"
    } else {
        text
    };
    let content = to_raw_value(&json!([{"type": "text", "text": text}])).map_err(Error::internal)?;
    let result = ToolResult {
        content,
        structured: Some(to_raw_value(&structured).map_err(Error::internal)?),
        is_error: false,
        raw: None,
    };
    Ok(Answer::fresh(Arc::new(fitting(tool, result)?)))
}
