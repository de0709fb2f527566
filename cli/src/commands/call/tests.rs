use serde_json::json;

use super::{Ended, call};
use crate::{
    args::{CallArgs, ProfileArg},
    client::fake::{Fake, cut, events, json as answer},
    failure::{Exit, Failure},
};

const TOOLS: &str = r#"{"tools":[{"name":"proxmox.get_vm_status","functionName":"proxmox_get_vm_status",
    "inputSchema":{"properties":{"vmid":{"type":"integer"}}},
    "targets":[{"id":"01A","name":"alpha"},{"id":"01B","name":"beta"}]}]}"#;
const STARTED: &str = r#"{"correlationId":"01C","streamUrl":"/api/mcp/stream/01C"}"#;

fn args(name: &str, arg: &[&str], target: Option<&str>) -> CallArgs {
    CallArgs {
        name: name.into(),
        arg: arg.iter().map(|&arg| arg.into()).collect(),
        args: None,
        target: target.map(str::to_owned),
        profile: ProfileArg { profile: None },
    }
}

async fn fake(invoke: String, stream: String) -> Fake {
    Fake::answering([
        ("GET /api/mcp/tools ", answer(200, TOOLS)),
        ("POST /api/mcp/invoke ", invoke),
        ("GET /api/mcp/stream/01C ", stream),
    ])
    .await
}

async fn run(args: &CallArgs, invoke: String, stream: String) -> Result<Ended, Failure> {
    call(&fake(invoke, stream).await.gateway, args).await
}

#[tokio::test]
async fn a_call_is_typed_sent_followed_and_ended() {
    let stream = "event: tool_result\ndata: {\"content\":[],\"isError\":false}\n\nevent: done\ndata: {\"durationMs\":5}\n\n";
    let fake = fake(answer(202, STARTED), events(stream)).await;

    let ended = call(
        &fake.gateway,
        &args("proxmox_get_vm_status", &["vmid=7"], Some("beta")),
    )
    .await
    .unwrap();

    assert_eq!(
        (ended.call.as_str(), ended.duration_ms, ended.results.len()),
        ("01C", Some(5), 1)
    );
    let asked = fake.asked();
    let (head, body) = asked[1].split_once("\r\n\r\n").unwrap();
    assert!(head.contains("authorization: Bearer tgk_T_S"));
    assert_eq!(
        body,
        r#"{"arguments":{"vmid":7},"name":"proxmox_get_vm_status","targetId":"01B"}"#
    );
}

#[tokio::test]
async fn a_name_in_no_list_is_sent_for_the_gateway_to_refuse() {
    let refusal = r#"{"type":"urn:toolgate:error:write-rejected","title":"write rejected","status":403}"#;
    let failure = run(
        &args("proxmox.shutdown_vm", &["vmid=7"], None),
        answer(403, refusal),
        String::new(),
    )
    .await;
    let failure = failure.unwrap_err();
    assert_eq!(failure.exit, Exit::Refused);
    assert_eq!(
        failure.problem.unwrap()["type"],
        json!("urn:toolgate:error:write-rejected")
    );
}

#[tokio::test]
async fn an_error_on_the_stream_is_the_failure_of_the_call() {
    let stream = "event: error\ndata: {\"type\":\"urn:toolgate:error:upstream-rate-limited\",\"status\":429,\
                  \"title\":\"target limits the rate\",\"retryAfterMs\":1500}\n\n";
    let failure = run(&args("x", &[], None), answer(202, STARTED), events(stream))
        .await
        .unwrap_err();
    assert_eq!(failure.exit, Exit::Refused);
    assert_eq!(failure.next.as_deref(), Some("try again in 2 s"));
}

#[tokio::test]
async fn a_stream_without_an_end_says_where_the_end_stands() {
    for stream in [events(": nothing\n\n"), cut("event: tool_result\n")] {
        let failure = run(&args("x", &[], None), answer(202, STARTED), stream)
            .await
            .unwrap_err();
        assert_ne!(failure.exit, Exit::Done);
    }
}

#[tokio::test]
async fn the_token_follows_no_stream_to_another_host() {
    let elsewhere = answer(
        202,
        r#"{"correlationId":"01C","streamUrl":"@evil.example.org/x"}"#,
    );
    let failure = run(&args("x", &[], None), elsewhere, String::new())
        .await
        .unwrap_err();
    assert!(failure.message.contains("named no stream"), "{failure:?}");
}

#[tokio::test]
async fn a_tool_that_says_no_ends_with_a_code_of_its_own() {
    let stream = "event: tool_result\ndata: {\"content\":[],\"isError\":true}\n\nevent: done\ndata: {}\n\n";
    let ended = run(&args("x", &[], None), answer(202, STARTED), events(stream))
        .await
        .unwrap();
    assert!(ended.said_no());
}

#[tokio::test]
async fn a_known_tool_that_was_asked_wrongly_names_its_page() {
    let check = async |name: &str, reason: &str, expected: Option<&str>| {
        let problem = format!(r#"{{"title":"no","status":400,"reason":"{reason}"}}"#);
        let refused = run(&args(name, &[], None), answer(400, &problem), events("")).await;
        assert_eq!(refused.unwrap_err().next.as_deref(), expected, "{name} {reason}");
    };
    let page = Some("`toolgate tools show proxmox.get_vm_status` tells what it takes");
    check("proxmox.get_vm_status", "ARGUMENTS_INVALID", page).await;
    check("proxmox_get_vm_status", "WRITE_REJECTED", page).await;
    check("proxmox.get_vm_status", "CONFLICT", None).await;
    check("proxmox.nope", "ARGUMENTS_INVALID", None).await;
}
