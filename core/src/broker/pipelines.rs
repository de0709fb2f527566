//! `aggregate_pipeline_status`: every project is asked for the status of its pipeline, all at once.
//!
//! One project that is slow, dead or says something else costs one line and never the answer.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{answer::Answer, errand::Errand, facts::Facts, fleet_tools::told};
use crate::{
    error::Error,
    fleet::{self, Item, Pipeline},
    snapshot::Target,
    upstream::{Raw, ToolResult, UpstreamError},
};

/// One project has so long: the whole is told of within 5 s.
const EACH: Duration = Duration::from_millis(4_500);
/// The tool that tells the status of a pipeline, where the settings of a project name no other.
const STATUS_TOOL: &str = "get_pipeline_status";

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
