//! `docs/dialects.md` is what was said and heard here: each request of the page is sent as it is shown, each answer is the
//! one that came, with ids and times that differ from run to run put in their usual place.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_test_support::{Caller, Reply, World};

use crate::golden;

const TOP: &str = "\
# One call in four dialects

The same call, said in each dialect of the gate. This page is written by a test that sends each request as it stands here
(`one_call_is_shown_in_four_dialects`); `T` is a token, `U` the gateway's URL, such as `http://127.0.0.1:7600`.

Whatever the dialect: the same tools, the same arguments, the same structured result to the byte, the same limits, and one
row on the record. MCP repeats the structured part as a last text, for clients that read nothing else. REST and gRPC use canonical names; MCP and OpenAI list names with underscores, because most model clients
refuse dots, and take either. Refusals are told in [mcp.md](mcp.md), [openai.md](openai.md) and, for REST, as problem
details of RFC 9457.
";

struct Request {
    title: &'static str,
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: Value,
}

#[tokio::test]
async fn one_call_is_shown_in_four_dialects() {
    let world = World::new().host("web-1").start().await;
    world.host("web-1").replies(Reply::Prints(
        " 12:00:00 up 41 days,  2:03,  1 user,  load average: 0.08, 0.03, 0.01\n".into(),
    ));
    let mut page = TOP.to_owned();

    for request in requests() {
        let answer = send(world.admin(), &request).await;
        let _ = write!(
            page,
            "\n## {}\n\n```sh\n{}\n```\n\n```json\n{}\n```\n",
            request.title,
            shown(&request),
            serde_json::to_string_pretty(&steady(answer, world.target("web-1"))).unwrap()
        );
    }
    let answer = world
        .admin()
        .grpc()
        .await
        .call_typed(
            "toolgate.tools.v1.SshService",
            "RunWhitelistedCommand",
            json!({"command": "uptime"}),
        )
        .await
        .unwrap();
    let _ = write!(
        page,
        "\n## gRPC, typed, by reflection\n\n```sh\ngrpcurl -plaintext -H \"authorization: Bearer $T\" -d '{{\"command\":\"uptime\"}}' \\\n  \
         127.0.0.1:7601 toolgate.tools.v1.SshService/RunWhitelistedCommand\n```\n\n```json\n{}\n```\n",
        serde_json::to_string_pretty(&steady(answer, world.target("web-1"))).unwrap()
    );

    let rows = world.audit_of("adapter.capability_invoked").await;
    let facades: Vec<&str> = rows.iter().filter_map(|row| row["facade"].as_str()).collect();
    assert_eq!(
        facades,
        ["rest", "mcp", "openai", "openai", "grpc"],
        "one row each"
    );
    golden::check("../../docs/dialects.md", &page);
}

fn requests() -> [Request; 4] {
    let call = json!({"name": "ssh_run_whitelisted_command", "arguments": r#"{"command":"uptime"}"#});
    [
        Request {
            title: "REST",
            path: "/api/mcp/invoke",
            headers: &[("prefer", "wait")],
            body: json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}}),
        },
        Request {
            title: "MCP, revision 2026-07-28",
            path: "/mcp",
            headers: &[
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", "ssh_run_whitelisted_command"),
            ],
            body: json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "ssh_run_whitelisted_command", "arguments": {"command": "uptime"},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {}
                }
            }}),
        },
        Request {
            title: "OpenAI, Chat Completions: the model's message in, tool messages out",
            path: "/openai/v1/tool_calls",
            headers: &[],
            body: json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": call}
            ]}),
        },
        Request {
            title: "OpenAI, Responses",
            path: "/openai/v1/tool_calls",
            headers: &[],
            body: json!({"output": [{"type": "function_call", "call_id": "call_1", "name": call["name"],
                "arguments": call["arguments"]}]}),
        },
    ]
}

async fn send(admin: &Caller, request: &Request) -> Value {
    let mut sent = admin
        .request(Method::POST, request.path)
        .header("content-type", "application/json");
    for (name, value) in request.headers {
        sent = sent.header(*name, *value);
    }
    let answer = admin.send(sent.body(request.body.to_string())).await;
    assert_eq!(answer.status, 200, "{}: {}", request.title, answer.text);
    answer.json()
}

fn shown(request: &Request) -> String {
    let mut shown = format!("curl -sS $U{} -H \"authorization: Bearer $T\" \\\n", request.path);
    for (name, value) in [("content-type", "application/json")]
        .iter()
        .chain(request.headers)
    {
        let _ = writeln!(shown, "  -H '{name}: {value}' \\");
    }
    let _ = write!(shown, "  -d '{}'", request.body);
    shown
}

/// What differs from run to run, in its usual place.
fn steady(answer: Value, target: &str) -> Value {
    let mut text = answer.to_string().replace(target, "01JDZ3V8Q4T7X9K2M5N6P8R0TG");
    if let Some(call) = answer["correlationId"].as_str() {
        text = text.replace(call, "01JDZ3V8Q4T7X9K2M5N6P8R0SA");
    }
    let mut answer: Value = serde_json::from_str(&text).unwrap_or_default();
    still(&mut answer);
    answer
}

fn still(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "durationMs" | "duration_ms" => *value = 7.into(),
                    "correlationId" | "toolgate/correlationId" => {
                        *value = "01JDZ3V8Q4T7X9K2M5N6P8R0SA".into()
                    }
                    "version" => *value = "…".into(),
                    _ => still(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(still),
        Value::String(text) => {
            // A tool message is JSON in a string.
            if let Ok(mut inner @ Value::Object(_)) = serde_json::from_str(text) {
                still(&mut inner);
                *text = inner.to_string();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
