//! The tools about all projects that are answered out of what is at hand, and what two of them do besides.

use std::{fmt::Write as _, sync::Arc};

use serde_json::{Value, json, value::to_raw_value};
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
    facts::Facts,
    for_project::{current, named, owner},
};
use crate::{
    audit::{Event, EventKind},
    error::Error,
    fleet::{Owner, Status, rows},
    identity::Action,
    journal::Receipt,
    registry, rfc3339,
    snapshot::Target,
    upstream::ToolResult,
};

/// What is to be done with the settlement of such a call, before it is answered.
#[derive(Debug)]
pub(crate) enum Deed {
    /// Calls of this owner that name no project go to this one from now on.
    Switch { owner: Owner, target: TargetId },
    /// This key takes the place of the one that the relay of the project enrolled with.
    Repin { target: TargetId, key: PublicKey },
}

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
        "list_projects" => Ok((listed(rooms, caller, text_of(arguments, "tools_of"))?, None)),
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

fn listed(rooms: &Rooms, caller: &Caller, tools_of: &str) -> Result<Answer, Error> {
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
    if tools_of.is_empty() {
        return told("list_projects", &text, json!({"projects": rows}));
    }
    let project = named(caller, tools_of)?;
    let tools = tools_of_project(rooms, &project, &mut text);
    told("list_projects", &text, json!({"projects": rows, "tools": tools}))
}

/// What can be called at a project by naming it: its tools in its own words.
fn tools_of_project(rooms: &Rooms, project: &Target, text: &mut String) -> Vec<Value> {
    let Some(list) = rooms.fleet.list(project) else {
        let _ = writeln!(text, "the tools of {} are not known now", project.name);
        return vec![];
    };
    let _ = writeln!(text, "tools of {}:", project.name);
    let shown = list
        .tools()
        .iter()
        .filter(|tool| project.may_write() || tool.tool.read_only);
    let told = shown.map(|tool| {
        let _ = writeln!(text, "  {}", tool.name);
        json!({
            "name": &*tool.name,
            "description": tool.description,
            "read_only": tool.tool.read_only,
            "input_schema": String::from_utf8_lossy(&tool.input_schema),
        })
    });
    told.collect()
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
        let seen = status.live_key.map(|(_, age)| ago(now_us, age));
        put(&mut row, "seen", seen);
        let kept_out = status.kept_out.filter(|(key, _)| pinned != Some(*key));
        put(&mut row, "kept_out", kept_out.map(|(key, _)| key.to_string()));
        put(
            &mut row,
            "kept_out_seen",
            kept_out.map(|(_, age)| ago(now_us, age)),
        );
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

fn ago(now_us: i64, age: std::time::Duration) -> String {
    rfc3339::format(now_us.saturating_sub(i64::try_from(age.as_micros()).unwrap_or(i64::MAX)))
}

fn put(row: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        row[name] = value.into();
    }
}

fn text_of<'a>(arguments: &'a Value, name: &str) -> &'a str {
    arguments[name].as_str().unwrap_or_default()
}

pub(super) fn told(tool: &'static str, text: &str, structured: Value) -> Result<Answer, Error> {
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
