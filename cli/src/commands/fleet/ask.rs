//! What the gateway's own tools tell of the fleet.

use serde_json::{Value, json};

use super::{
    super::{call, list, text},
    or_near, reason,
};
use crate::{
    client::Gateway,
    failure::{Exit, Failure},
    output::{Output, Table, spinner::while_waiting},
};

pub(super) async fn health(gateway: &Gateway, output: Output) -> Result<Exit, Failure> {
    let health = ask(gateway, "gateway_health", &json!({})).await?;
    if output.json {
        output.value(&health)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["NAME", "STATE", "LAST SEEN", "LATENCY", "EVENTS", "TOOLS", "WHY"]);
    for project in list(&health, "projects") {
        let latency = project["latency_ms"].as_f64().map(|ms| format!("{ms:.1} ms"));
        let age = project["event_age_seconds"]
            .as_i64()
            .map(|age| format!("{age} s ago"));
        table.row([
            text(project, "name").into(),
            text(project, "state").into(),
            text(project, "last_seen").into(),
            latency.unwrap_or_default(),
            age.unwrap_or_else(|| "none".into()),
            count(&project["tools"]),
            text(project, "why").into(),
        ]);
    }
    output.table(&table)?;
    Ok(Exit::Done)
}

pub(super) async fn status(gateway: &Gateway, output: Output) -> Result<Exit, Failure> {
    let status = ask(gateway, "aggregate_pipeline_status", &json!({})).await?;
    if output.json {
        output.value(&status)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["PROJECT", "STAGES", "ATTENTION", "WHY"]);
    for project in list(&status, "projects") {
        table.row([
            text(project, "name").into(),
            stages(list(project, "stages")),
            list(project, "attention").len().to_string(),
            text(project, "why").into(),
        ]);
    }
    output.table(&table)?;
    let totals = stages(list(&status, "totals"));
    if !totals.is_empty() {
        output.line(&format!("in all: {totals}"))?;
    }
    let mut items = Table::new(["PROJECT", "ITEM", "STAGE", "STATE", "TITLE"]);
    let mut any = false;
    for project in list(&status, "projects") {
        for item in list(project, "attention") {
            any = true;
            items.row([
                text(project, "name").into(),
                text(item, "id").into(),
                text(item, "stage").into(),
                text(item, "state").into(),
                text(item, "title").into(),
            ]);
        }
    }
    if any {
        output.line("")?;
        output.table(&items)?;
    }
    Ok(Exit::Done)
}

pub(super) async fn identity(gateway: &Gateway, output: Output) -> Result<Exit, Failure> {
    let identity = ask(gateway, "fleet_identity", &json!({})).await?;
    if output.json {
        output.value(&identity)?;
        return Ok(Exit::Done);
    }
    let relays = list(&identity, "relays");
    let mut table = Table::new(["PROJECT", "STATE", "PINNED KEY", "SHOWN KEY", "SEEN"]);
    for relay in relays {
        table.row(["project", "state", "pinned", "live", "seen"].map(|name| text(relay, name).into()));
    }
    output.table(&table)?;
    for line in relays.iter().filter_map(kept_out) {
        output.line(&line)?;
    }
    for relay in relays.iter().filter(|relay| text(relay, "state") == "mismatch") {
        output.line(&format!(
            "if the relay's own log prints the shown key: toolgate fleet repin {} --key {}",
            text(relay, "project"),
            text(relay, "live")
        ))?;
    }
    Ok(Exit::Done)
}

// The right relay may be connected all the while; a mismatch tells the same key in its own line.
fn kept_out(relay: &Value) -> Option<String> {
    let (key, project) = (text(relay, "kept_out"), text(relay, "project"));
    let is_told = text(relay, "state") == "mismatch" && key == text(relay, "live");
    (!key.is_empty() && !is_told).then(|| {
        format!(
            "{project}: another key than the enrolled one was proven and kept out, {key}, last at {}; find out whose it \
             is: every relay prints its own in its log",
            text(relay, "kept_out_seen")
        )
    })
}

pub(super) async fn switch(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    let switched = ask(gateway, "switch_project", &json!({ "project": name })).await;
    let switched = or_near(gateway, name, switched).await?;
    let whose = match text(&switched, "scope") {
        "tenant" => "all calls of the tenant",
        _ => "your calls",
    };
    super::told(
        output,
        &switched,
        &format!(
            "{whose} go to {} when they name no project",
            text(&switched, "project")
        ),
    )
}

async fn ask(gateway: &Gateway, tool: &str, arguments: &Value) -> Result<Value, Failure> {
    let asked = while_waiting(
        &format!("calling {tool}"),
        call::structured(gateway, tool, arguments),
    )
    .await;
    asked.map_err(|refused| match reason(&refused) {
        "TOOL_NOT_FOUND" => {
            refused.next("the fleet's tools are there once a project is: `toolgate fleet add NAME`")
        }
        _ => refused,
    })
}

fn stages(stages: &[Value]) -> String {
    let told = |stage: &Value| format!("{} {}", text(stage, "stage"), count(&stage["count"]));
    stages.iter().map(told).collect::<Vec<_>>().join(", ")
}

fn count(value: &Value) -> String {
    value.as_i64().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_kept_out_is_told_though_the_right_relay_is_connected() {
        let relay = |state: &str, key: &str| {
            kept_out(&json!({
                "project": "a", "state": state, "pinned": "P", "live": "L", "kept_out": key, "kept_out_seen": "T",
            }))
        };
        let told = relay("match", "X").unwrap();
        assert!(
            told.starts_with("a: ") && told.contains("kept out, X, last at T"),
            "{told}"
        );
        assert!(relay("mismatch", "X").is_some());
        assert_eq!(relay("mismatch", "L"), None);
        assert_eq!(relay("match", ""), None);
    }
}
