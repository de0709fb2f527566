//! The frozen endpoints in their exact shapes.

use serde_json::json;
use toolgate_contract::v1::{
    CallDone, CallResponse, ErrorReason, Failure, ListToolsResponse, TargetChoice, ToolAnnotations,
    ToolDescription, ToolResult, WatchResponse, watch_response::Event,
};

use crate::{
    core::{CALL_ID, ScriptedCore},
    world::World,
};

const UPTIME: &str = r#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime"}}"#;

fn catalog(version: &str) -> ListToolsResponse {
    ListToolsResponse {
        tools: vec![ToolDescription {
            name: "ssh.run_whitelisted_command".into(),
            function_name: "ssh_run_whitelisted_command".into(),
            title: "Run a read-only command".into(),
            description: "Runs one of six commands.".into(),
            input_schema: r#"{"type":"object","z":1,"a":2}"#.into(),
            output_schema: r#"{"type":"object"}"#.into(),
            annotations: Some(ToolAnnotations { read_only_hint: true }),
            adapter_type: "ssh".into(),
            freshness: "live".into(),
            targets: vec![TargetChoice {
                id: "01T".into(),
                name: "web-1".into(),
            }],
            ..Default::default()
        }],
        version: version.into(),
        unchanged: false,
    }
}

#[tokio::test]
async fn tools_are_listed_in_the_documented_shape() {
    let world = World::start().await;
    *world.core.tools.lock().unwrap() = catalog("v7");
    let answer = world.get("/api/mcp/tools").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("etag"), "\"v7\"");
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(
        answer.text(),
        concat!(
            r#"{"tools":[{"name":"ssh.run_whitelisted_command","functionName":"ssh_run_whitelisted_command","#,
            r#""title":"Run a read-only command","description":"Runs one of six commands.","#,
            r#""inputSchema":{"type":"object","z":1,"a":2},"outputSchema":{"type":"object"},"#,
            r#""annotations":{"readOnlyHint":true},"adapterType":"ssh","freshness":"live","#,
            r#""targets":[{"id":"01T","name":"web-1"}],"project":""}]}"#
        )
    );
}

#[tokio::test]
async fn a_known_catalog_is_not_sent_again_by_anyone() {
    let world = World::start().await;
    *world.core.tools.lock().unwrap() = catalog("v7");
    let tagged = |tag| world.ask("GET", "/api/mcp/tools", tag, "");

    let fresh = tagged(&[("if-none-match", "\"v7\"")]).await;
    assert_eq!(
        (fresh.status.as_u16(), fresh.body.len(), fresh.header("etag")),
        (304, 0, "\"v7\"")
    );
    let first = tagged(&[]).await;
    let second = tagged(&[("if-none-match", "\"old\"")]).await;
    assert_eq!((second.status.as_u16(), &second.body), (200, &first.body));
    let weak = tagged(&[("if-none-match", "\"x\", W/\"v7\"")]).await;
    assert_eq!(weak.status, 304);
    assert_eq!(tagged(&[("if-none-match", "*")]).await.status, 304);
    // The core left the list out whenever it was already written.
    let asked = world.core.asked("ListTools");
    assert_eq!(asked.len(), 5, "{asked:?}");
    assert!(asked[2].message.contains("v7"), "{asked:?}");

    *world.core.tools.lock().unwrap() = catalog("v8");
    let changed = tagged(&[("if-none-match", "\"v7\"")]).await;
    assert_eq!((changed.status.as_u16(), changed.header("etag")), (200, "\"v8\""));
}

#[tokio::test]
async fn one_callers_catalog_is_never_anothers() {
    let world = World::start().await;
    *world.core.tools.lock().unwrap() = catalog("v7");
    world.get("/api/mcp/tools").await;
    *world.core.failure.lock().unwrap() = Some(Failure::new(ErrorReason::CredentialInvalid, "sign in again"));
    world
        .get("/api/mcp/tools")
        .await
        .problem(401, "CREDENTIAL_INVALID");
}

#[tokio::test]
async fn invoke_answers_where_to_watch() {
    let world = World::start().await;
    let answer = world.post("/api/mcp/invoke", UPTIME).await;
    assert_eq!(answer.status, 202);
    let url = format!("/api/mcp/stream/{CALL_ID}");
    assert_eq!(
        answer.text(),
        format!(r#"{{"correlationId":"{CALL_ID}","streamUrl":"{url}"}}"#)
    );
    assert_eq!(answer.header("location"), url);
    let asked = &world.core.asked("Invoke")[0];
    assert_eq!(asked.metadata["authorization"], "Bearer tgk_t_secret");
    assert_eq!(asked.metadata["toolgate-facade"], "rest");
    assert_eq!(asked.metadata["toolgate-source"], "127.0.0.1");
}

#[tokio::test]
async fn arguments_reach_the_core_byte_for_byte() {
    let world = World::start().await;
    let arguments = r#"{ "b" : 1.50, "a":9007199254740993 , "e":"\u00e9" }"#;
    let check = async |body: String, name: &str, target: &str| {
        assert_eq!(world.post("/api/mcp/invoke", body).await.status, 202);
        assert_eq!(
            world.core.arguments.lock().unwrap().pop().unwrap(),
            arguments.as_bytes()
        );
        let message = world.core.asked("Invoke").pop().unwrap().message;
        assert!(
            message.contains(&format!("name: {name:?}")) && message.contains(target),
            "{message}"
        );
    };
    check(
        format!(r#"{{"name":"a.b","arguments":{arguments}}}"#),
        "a.b",
        "None",
    )
    .await;
    check(
        format!(r#" {{"targetId":"T1","arguments": {arguments} ,"name":"a.b"}} "#),
        "a.b",
        "T1",
    )
    .await;
    check(
        format!(r#"{{"target_id":"T2","arguments":{arguments},"name":"a\u002eb"}}"#),
        "a.b",
        "T2",
    )
    .await;
}

#[tokio::test]
async fn a_caller_that_prefers_to_wait_gets_the_result_at_once() {
    let world = World::start().await;
    let answer = world
        .ask("POST", "/api/mcp/invoke", &[("prefer", "wait")], UPTIME)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("preference-applied")),
        (200, "wait")
    );
    let result = r#""content":[{"type":"text","text":"up 3 days"}],"isError":false"#;
    assert_eq!(
        answer.text(),
        format!(r#"{{{result},"correlationId":"{CALL_ID}","durationMs":12}}"#)
    );

    *world.core.result.lock().unwrap() = CallResponse {
        correlation_id: CALL_ID.into(),
        result: Some(ToolResult {
            content: "[]".into(),
            structured_content: r#"{"exit_code":3}"#.into(),
            is_error: true,
            meta: r#"{"toolgate/target":{"id":"T"}}"#.into(),
            ..Default::default()
        }),
        duration_ms: -1,
    };
    let answer = world
        .ask("POST", "/api/mcp/invoke", &[("prefer", "wait")], UPTIME)
        .await;
    assert_eq!(
        answer.json(),
        json!({
            "content": [],
            "structuredContent": {"exit_code": 3},
            "isError": true,
            "_meta": {"toolgate/target": {"id": "T"}},
            "correlationId": CALL_ID,
            "durationMs": -1,
        })
    );
}

fn event(number: u8, event: Event) -> WatchResponse {
    WatchResponse {
        id: format!("{CALL_ID}-{number}"),
        event: Some(event),
    }
}

#[tokio::test]
async fn a_bounded_wait_that_suffices_answers_with_the_joined_result() {
    let world = World::start().await;
    let events = world.core.will_stream();
    for (number, content) in [(1, r#"[{"n":1}]"#), (2, r#"[{"n":2}]"#)] {
        let result = ToolResult {
            content: content.into(),
            ..Default::default()
        };
        events
            .send(Ok(event(number, Event::ToolResult(result))))
            .await
            .unwrap();
    }
    events
        .send(Ok(event(3, Event::Done(CallDone { duration_ms: 5 }))))
        .await
        .unwrap();
    let answer = world
        .ask("POST", "/api/mcp/invoke", &[("prefer", "wait=10")], UPTIME)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("preference-applied")),
        (200, "wait=10")
    );
    assert_eq!(
        answer.text(),
        format!(
            r#"{{"content":[{{"n":1}},{{"n":2}}],"isError":false,"correlationId":"{CALL_ID}","durationMs":5}}"#
        )
    );
}

#[tokio::test]
async fn a_bounded_wait_that_fails_answers_with_the_errors_status() {
    let world = World::start().await;
    let events = world.core.will_stream();
    let failure = Failure::new(ErrorReason::RelayLost, "the relay was lost");
    events.send(Ok(event(1, Event::Error(failure)))).await.unwrap();
    let answer = world
        .ask("POST", "/api/mcp/invoke", &[("prefer", "wait=10")], UPTIME)
        .await;
    answer.problem(503, "RELAY_LOST");
}

#[tokio::test]
async fn a_bounded_wait_that_runs_out_leaves_the_call_running_for_the_stream() {
    let world = World::start().await;
    let _first = world.core.will_stream();
    let answer = world
        .ask("POST", "/api/mcp/invoke", &[("prefer", "wait=0")], UPTIME)
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("preference-applied")),
        (202, "wait=0")
    );
    assert_eq!(answer.header("location"), format!("/api/mcp/stream/{CALL_ID}"));
    // The call is still watched, or it would have been cancelled.
    world.core.until_open(1).await;

    let _second = world.core.will_stream();
    let reader = world.live(answer.header("location"), &[]).await;
    // The reader has taken the call over: only its own watch is left, and its leaving is the last one.
    world.core.until_open(1).await;
    drop(reader);
    world.core.until_open(0).await;
}

#[tokio::test]
async fn a_caller_that_leaves_while_waiting_drops_the_call() {
    let world = World::start().await;
    world.core.hang.send_replace(true);
    let request = world.request("POST", "/api/mcp/invoke", &[("prefer", "wait")], UPTIME);
    let address = world.address;
    let caller = tokio::spawn(async move { crate::client::send(address, request).await });
    world.core.until_open(1).await;
    caller.abort();
    let _ = caller.await;
    world.core.until_open(0).await;
}

#[tokio::test]
async fn an_adapter_is_answered_flat_with_its_enrolment() {
    let world = World::start().await;
    let body = r#"{"type":"ssh","name":"web-1","config": {"hostname":"web-1"} }"#;
    let answer = world.post("/api/mcp/adapter", body).await;
    assert_eq!(answer.status, 201);
    let adapter = json!({
        "id": "01JDZ3V8Q4T7X9K2M5N6P8R0TG",
        "type": "ssh",
        "name": "web-1",
        "config": {"hostname": "web-1.internal"},
        "status": "waiting",
        "validation": {
            "verdict": "pending",
            "stages": [
                {"name": "reach", "ok": true, "ms": 3},
                {"name": "sample", "ok": false, "ms": 0, "reason": "not enrolled", "pointer": "/config/hostname"},
            ],
            "notProvable": ["sudo rights"],
            "proven": ["metadata:read"],
            "wider": [],
            "checkedAt": "2026-01-02T03:04:05.000006Z",
        },
        "createdAt": "2026-01-02T03:04:05.000006Z",
        "updatedAt": "2026-01-02T03:04:05.000007Z",
    });
    let mut created = adapter.clone();
    created["enrolment"] = json!({
        "token": "tge_a_b",
        "command": "toolgate relay host --token tge_a_b",
        "expiresAt": "2026-01-02T03:19:05.000006Z",
    });
    assert_eq!(answer.json(), created);
    assert_eq!(world.core.arguments.lock().unwrap()[0], r#"{"hostname":"web-1"}"#);

    let changed = world
        .ask("PATCH", "/api/mcp/adapter/01T", &[], r#"{"disabled":true}"#)
        .await;
    assert_eq!((changed.status.as_u16(), changed.json()), (200, adapter));
    let asked = &world.core.asked("UpdateTarget")[0].message;
    assert!(
        asked.contains(r#"id: "01T", name: None, config: None, credential: None, disabled: Some(true)"#),
        "{asked}"
    );

    let gone = world.ask("DELETE", "/api/mcp/adapter/01T", &[], "").await;
    assert_eq!((gone.status.as_u16(), gone.body.len()), (204, 0));
}

#[tokio::test]
async fn a_refused_validation_comes_with_its_verdict() {
    let failure = Failure::new(
        ErrorReason::ScopeViolation,
        "the token is wider than repository:read",
    )
    .with_metadata(
        "validation",
        r#"{"verdict":"failed","stages":[],"notProvable":[]}"#,
    );
    let world = World::with(ScriptedCore::failing(failure), Default::default()).await;
    let problem = world
        .post("/api/mcp/adapter", r#"{"type":"gitea","name":"x"}"#)
        .await
        .problem(422, "SCOPE_VIOLATION");
    assert_eq!(
        problem["validation"],
        json!({"verdict": "failed", "stages": [], "notProvable": []})
    );
}
