//! Commands against a gateway that answers as told.

use serde_json::Value;

use super::*;
use crate::{
    args::{AddProject, ProjectSettings, UpdateProject},
    client::fake::{Fake, events, json as answer},
};

const ALPHA: &str = r#"{"project":{"id":"01A","name":"alpha","state":"live","withheldHash":"ff00",
    "config":{"access":"read_only","timeoutSeconds":60}}}"#;
const NO_PROJECT: &str =
    r#"{"status":404,"title":"Not found","detail":"no project of this name","reason":"PROJECT_NOT_FOUND"}"#;
const ENROLMENT: &str = r#""enrolment":{"token":"tge_x","command":"toolgate relay project","expiresAt":"T"}"#;

async fn fake() -> Fake {
    Fake::answering([
        ("POST /api/fleet/projects ", answer(201, &format!(r#"{{"project":{{"name":"alpha"}},{ENROLMENT}}}"#))),
        ("GET /api/fleet/projects/alpha ", answer(200, ALPHA)),
        ("GET /api/fleet/projects/alhpa ", answer(404, NO_PROJECT)),
        ("GET /api/fleet/projects/quux ", answer(404, NO_PROJECT)),
        ("GET /api/fleet/projects ", answer(200, r#"{"projects":[{"name":"alpha"},{"name":"beta","isDefault":true}]}"#)),
        ("PATCH /api/fleet/projects/alpha ", answer(200, ALPHA)),
        ("DELETE /api/fleet/projects/alpha ", "HTTP/1.1 204 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into()),
        ("POST /api/fleet/projects/alpha/accept ", answer(200, ALPHA)),
        ("POST /api/fleet/projects/alpha/repin ", answer(200, ALPHA)),
        ("PUT /api/fleet/default ", answer(200, r#"{"name":"alpha"}"#)),
        ("POST /api/mcp/adapter/01A/enrolment ", answer(201, &format!("{{{ENROLMENT}}}"))),
        ("DELETE /api/mcp/adapter/01A/relay ", "HTTP/1.1 204 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into()),
        ("POST /api/mcp/invoke ", answer(202, r#"{"correlationId":"01C","streamUrl":"/api/mcp/stream/01C"}"#)),
        ("GET /api/mcp/stream/01C ", events(
            "event: tool_result\ndata: {\"content\":[],\"isError\":false,\"structuredContent\":{\"project\":\"alpha\",\"scope\":\"principal\"}}\n\n\
             event: done\ndata: {\"durationMs\":5}\n\n",
        )),
    ])
    .await
}

fn quiet() -> Output {
    Output::new(true, true)
}

/// Runs a command and gives the last request's first line and body.
async fn last(command: FleetCommand) -> (String, Value) {
    let fake = fake().await;
    let gateway = &fake.gateway;
    assert_eq!(run(gateway, quiet(), command).await.unwrap(), Exit::Done);
    let asked = fake.asked();
    let (head, body) = asked.last().unwrap().split_once("\r\n\r\n").unwrap();
    let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
    (line.into(), serde_json::from_str(body).unwrap_or_default())
}

async fn check(command: FleetCommand, line: &str, body: Value) {
    assert_eq!(last(command).await, (line.to_owned(), body));
}

fn typed() -> ProjectSettings {
    ProjectSettings {
        access: Some("read_write".into()),
        ssh_port: Some(2222),
        ..ProjectSettings::default()
    }
}

#[tokio::test]
async fn every_command_asks_the_gateway_for_one_thing() {
    let name = || "alpha".to_owned();
    let add = |default| {
        FleetCommand::Add(Box::new(AddProject {
            name: name(),
            settings: typed(),
            default,
        }))
    };
    let config = json!({"access": "read_write", "sshPort": 2222});
    let added = json!({"name": "alpha", "config": config});
    check(add(false), "POST /api/fleet/projects", added).await;
    check(add(true), "PUT /api/fleet/default", json!({"name": "alpha"})).await;
    let update = FleetCommand::Update(Box::new(UpdateProject {
        name: name(),
        settings: typed(),
    }));
    let config = json!({"access": "read_write", "timeoutSeconds": 60, "sshPort": 2222});
    let line = "PATCH /api/fleet/projects/alpha";
    check(update, line, json!({ "config": config })).await;
    check(
        FleetCommand::Disable { name: name() },
        line,
        json!({"disabled": true}),
    )
    .await;
    check(
        FleetCommand::Enable { name: name() },
        line,
        json!({"disabled": false}),
    )
    .await;
    check(
        FleetCommand::Remove { name: name() },
        "DELETE /api/fleet/projects/alpha",
        Value::Null,
    )
    .await;
    let accept = |hash| FleetCommand::Accept { name: name(), hash };
    let line = "POST /api/fleet/projects/alpha/accept";
    check(accept(None), line, json!({"hash": "ff00"})).await;
    check(accept(Some("aa".into())), line, json!({"hash": "aa"})).await;
    let repin = FleetCommand::Repin {
        name: name(),
        key: "k".into(),
    };
    check(repin, "POST /api/fleet/projects/alpha/repin", json!({"key": "k"})).await;
    let default = |name, none| FleetCommand::Default { name, none };
    check(default(None, false), "GET /api/fleet/projects", Value::Null).await;
    check(default(None, true), "PUT /api/fleet/default", json!({"name": ""})).await;
    check(
        FleetCommand::Enrol { name: name() },
        "POST /api/mcp/adapter/01A/enrolment",
        json!({}),
    )
    .await;
    check(
        FleetCommand::Revoke { name: name() },
        "DELETE /api/mcp/adapter/01A/relay",
        Value::Null,
    )
    .await;
    check(
        FleetCommand::Switch { name: name() },
        "GET /api/mcp/stream/01C",
        Value::Null,
    )
    .await;
    check(FleetCommand::Health, "GET /api/mcp/stream/01C", Value::Null).await;
    check(FleetCommand::List, "GET /api/fleet/projects", Value::Null).await;
    check(
        FleetCommand::Show { name: name() },
        "GET /api/fleet/projects/alpha",
        Value::Null,
    )
    .await;
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told_the_nearest_one() {
    let fake = fake().await;
    let show = |name: &str| run(&fake.gateway, quiet(), FleetCommand::Show { name: name.into() });
    let near = show("alhpa").await.unwrap_err();
    assert_eq!(near.message, "no project is called alhpa; did you mean `alpha`?");
    let far = show("quux").await.unwrap_err();
    assert!(far.next.unwrap().contains("fleet list"));
}

#[tokio::test]
async fn an_update_that_changes_nothing_is_told_so() {
    let update = FleetCommand::Update(Box::new(UpdateProject {
        name: "alpha".into(),
        settings: ProjectSettings::default(),
    }));
    let refused = run(&fake().await.gateway, quiet(), update).await.unwrap_err();
    assert_eq!(
        (refused.exit, &*refused.message),
        (Exit::Usage, "nothing to change")
    );
}
