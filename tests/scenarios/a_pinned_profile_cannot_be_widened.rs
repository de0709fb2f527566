//! Gate B6. A profile that is pinned on a credential stands, whatever the request says: header, metadata, the profile a pipe
//! is opened with, the URL, `_meta`, the query; in every dialect, for the list and for calls.

use serde_json::{Value, json};
use toolgate_test_support::{Caller, Dialect, Ground, Role, on_each_store};

const HIDDEN: &str = "github.list_repos";
const SHOWN: [&str; 4] = [
    "proxmox_get_node_metrics",
    "proxmox_get_vm_status",
    "proxmox_list_vms",
    "ssh_run_whitelisted_command",
];
/// Wider ones, one beside it, the tenant's own, unknown ones, and names that mean something elsewhere.
const ASKED: [&str; 8] = [
    "infrastructure",
    "forges",
    "mine",
    "lifecycle",
    "no-such",
    "all",
    "none",
    "",
];

on_each_store!(a_pinned_profile_cannot_be_widened);

async fn a_pinned_profile_cannot_be_widened(ground: Ground) {
    let world = ground.world().unlimited().host("web-1").start().await;
    let admin = world.admin();
    let own = json!({"name": "mine", "tools": [HIDDEN, "ssh.run_whitelisted_command"]});
    assert_eq!(admin.post("/api/profiles", own).await.status, 201);
    let (_, pinned) = admin.make_pinned("pod", Role::Agent, "hosts").await.unwrap();

    for asked in ASKED {
        for dialect in Dialect::ALL {
            let speaker = pinned.asking_for(asked).by(dialect).await;
            assert_eq!(spelled(speaker.tools().await), SHOWN, "{asked} by {dialect:?}");
            let refused = speaker.call(HIDDEN, &json!({})).await;
            assert_eq!(refused.reason(), "TOOL_NOT_FOUND", "{asked} by {dialect:?}");
        }
        by_url(&pinned, asked).await;
        by_query(&pinned, asked).await;
        by_meta(&pinned, asked).await;
    }

    // What it may do, it may do whatever it asks for.
    let ran = pinned.asking_for("forges").run("uptime").await;
    assert!(ran.is_ok(), "{ran:?}");
    // And the same requests do narrow a credential that pins nothing.
    let narrowed = admin.asking_for("forges").by(Dialect::Grpc).await;
    assert_eq!(
        narrowed
            .call("ssh.run_whitelisted_command", &json!({"command": "uptime"}))
            .await
            .reason(),
        "TOOL_NOT_FOUND"
    );
}

fn spelled(names: Vec<String>) -> Vec<String> {
    let mut names: Vec<_> = names.iter().map(|name| name.replace('.', "_")).collect();
    names.sort_unstable();
    names
}

async fn by_url(pinned: &Caller, asked: &str) {
    // An empty one is no such place.
    if asked.is_empty() {
        return;
    }
    let path = format!("/mcp/p/{asked}");
    told_nothing(pinned, &path, "tools/list", json!({}), asked).await;
    told_nothing(
        pinned,
        &path,
        "tools/call",
        json!({"name": HIDDEN, "arguments": {}}),
        asked,
    )
    .await;
}

async fn by_meta(pinned: &Caller, asked: &str) {
    let meta = json!({"toolgate/profile": asked, "toolgate-profile": asked, "profile": asked});
    told_nothing(pinned, "/mcp", "tools/list", json!({"_meta": meta}), asked).await;
    let call = json!({"name": HIDDEN, "arguments": {}, "_meta": meta});
    told_nothing(pinned, "/mcp", "tools/call", call, asked).await;
    for arguments in [json!({"_meta": meta}), json!({"profile": asked})] {
        let call = json!({"name": HIDDEN, "arguments": arguments});
        told_nothing(pinned, "/mcp", "tools/call", call, asked).await;
    }
}

async fn by_query(pinned: &Caller, asked: &str) {
    for name in ["profile", "toolgate-profile", "tool_profile"] {
        for path in ["/api/mcp/tools", "/openai/v1/tools"] {
            let listed = pinned.get(&format!("{path}?{name}={asked}")).await;
            assert!(
                !listed.text.contains("list_repos"),
                "{path}?{name}={asked}: {}",
                listed.text
            );
        }
        let path = format!("/api/mcp/invoke?{name}={asked}");
        let body = json!({"name": HIDDEN, "arguments": {}, "profile": asked});
        let called = pinned.post(&path, body).await;
        assert!(matches!(called.status, 400 | 404), "{path}: {}", called.text);
        told_nothing(
            pinned,
            &format!("/mcp?{name}={asked}"),
            "tools/list",
            json!({}),
            asked,
        )
        .await;
    }
}

/// A request of 2026-07-28, whose answer never names the hidden tool as one that is there.
async fn told_nothing(pinned: &Caller, path: &str, method: &str, mut params: Value, asked: &str) {
    let meta = params["_meta"].take();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "toolgate-tests", "version": "1"}
    });
    for (key, value) in meta.as_object().into_iter().flatten() {
        params["_meta"][key] = value.clone();
    }
    let mut request = pinned
        .request(reqwest::Method::POST, path)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if method == "tools/call" {
        request = request.header("mcp-name", HIDDEN);
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = pinned.send(request.body(message.to_string())).await;
    let told = answer.json();
    match method {
        "tools/list" => {
            let names = told["result"]["tools"].as_array().into_iter().flatten();
            let names = names
                .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
                .collect();
            assert_eq!(spelled(names), SHOWN, "{path} {asked}: {}", answer.text);
        }
        _ => assert_eq!(
            told["error"]["data"]["reason"], "TOOL_NOT_FOUND",
            "{path} {asked}: {}",
            answer.text
        ),
    }
}
