//! Whatever comes in, nothing panics, nothing is a fault of ours, and every refusal says where and why.

use serde_json::{Value, json};
use toolgate_test_support::{Answer, Caller, World};

const INVOKE: &str = "/api/mcp/invoke";

#[tokio::test]
async fn bad_bodies_are_told_their_place() {
    let world = World::new().unlimited().host("web-1").start().await;
    let deep = |levels: usize| {
        format!(
            r#"{{"name":"ssh.run_whitelisted_command","arguments":{{"command":{}1{}}}}}"#,
            "[".repeat(levels),
            "]".repeat(levels)
        )
    };
    let many = format!(
        r#"{{"name":"ssh.run_whitelisted_command","arguments":{{"command":[{}1]}}}}"#,
        "1,".repeat(20_000)
    );
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    let cases: Vec<(&str, Vec<u8>, u16)> = vec![
        ("empty", vec![], 400),
        ("no JSON", b"{".to_vec(), 400),
        ("an array", b"[]".to_vec(), 400),
        ("a number", b"1".to_vec(), 400),
        ("no UTF-8", b"{\"name\":\"\xff\"}".to_vec(), 400),
        ("no name", b"{}".to_vec(), 400),
        ("a name that is no text", br#"{"name":7}"#.to_vec(), 400),
        ("an unknown member", br#"{"name":"a.b","nmae":"c"}"#.to_vec(), 400),
        ("a member twice", br#"{"name":"a.b","name":"c.d"}"#.to_vec(), 400),
        (
            "arguments twice",
            br#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime","command":"id"}}"#
                .to_vec(),
            400,
        ),
        (
            "arguments that are no object",
            br#"{"name":"ssh.run_whitelisted_command","arguments":[1]}"#.to_vec(),
            400,
        ),
        ("something behind", br#"{"name":"a.b"} x"#.to_vec(), 400),
        ("depth", deep(100).into_bytes(), 400),
        ("great depth", deep(100_000).into_bytes(), 400),
        ("many nodes", many.into_bytes(), 400),
        (
            "a lone surrogate",
            br#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"\ud800"}}"#.to_vec(),
            400,
        ),
        (
            "a NUL",
            br#"{"name":"ssh.run_whitelisted_command","arguments":{"command":"uptime\u0000"}}"#.to_vec(),
            403,
        ),
        (
            "a huge number",
            br#"{"name":"proxmox.get_vm_status","arguments":{"vmid":1e999}}"#.to_vec(),
            400,
        ),
        ("two megabytes", long.into_bytes(), 413),
        ("an empty name", br#"{"name":""}"#.to_vec(), 404),
        (
            "a strange name",
            "{\"name\":\"\u{202e}\u{0}…\"}".as_bytes().to_vec(),
            400,
        ),
    ];
    for (what, body, status) in cases {
        let request = world.admin().request("POST".parse().unwrap(), INVOKE);
        let answer = world
            .admin()
            .send(request.header("content-type", "application/json").body(body))
            .await;
        if what == "a strange name" {
            assert!(
                (400..500).contains(&answer.status),
                "{what}: {} {}",
                answer.status,
                answer.text
            );
            continue;
        }
        assert_eq!(answer.status, status, "{what}: {}", answer.text);
        told(what, &answer);
    }
    serves_on(&world).await;
}

#[tokio::test]
async fn bad_heads_are_told_their_place() {
    let world = World::new().unlimited().host("web-1").start().await;
    let admin = world.admin();
    let body = json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": "uptime"}});
    for (name, value) in [
        ("host", "evil.example"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let request = admin.request("POST".parse().unwrap(), INVOKE).json(&body);
        let answer = admin.send(request.header(name, value)).await;
        assert_eq!(answer.status, 403, "{name}: {value}: {}", answer.text);
        assert_eq!(answer.json()["reason"], "ORIGIN_FORBIDDEN");
        told(name, &answer);
    }
    let long = "x".repeat(64 * 1024);
    let request = admin
        .request("GET".parse().unwrap(), "/api/mcp/tools")
        .header("x-long", long);
    assert_eq!(admin.send(request).await.status, 431);
    for credential in [
        "",
        "Bearer",
        "Bearer x",
        "Basic dTpw",
        "Bearer tgk__",
        "Bearer tgk_nobody_\u{7f}",
    ] {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = client.get(format!("{}/api/mcp/tools", world.url()));
        let Ok(value) = reqwest::header::HeaderValue::from_str(credential) else {
            continue;
        };
        let answer = admin.send(request.header("authorization", value)).await;
        assert_eq!(answer.status, 401, "{credential:?}");
        assert!(answer.header("www-authenticate").is_some(), "{credential:?}");
        told("authorization", &answer);
    }
    serves_on(&world).await;
}

#[tokio::test]
async fn bad_paths_and_queries_are_told() {
    let world = World::new().unlimited().host("web-1").start().await;
    let admin = world.admin();
    let cases = [
        ("GET", "/nothing", 404),
        ("GET", "/api/chat/stream", 404),
        ("GET", "/api/mcp/stream/none", 404),
        ("GET", "/api/mcp/stream/%ff", 400),
        ("DELETE", "/api/mcp/tools", 405),
        ("GET", "/api/audit/events?pageSize=0", 400),
        ("GET", "/api/audit/events?pageSize=x", 400),
        ("GET", "/api/audit/events?pageSise=1", 400),
        ("GET", "/api/audit/events?since=yesterday", 400),
        ("GET", "/api/audit/events?cursor=%00", 400),
        ("GET", "/api/mcp/adapter/none", 404),
        ("GET", "/api/profiles/none", 404),
        ("DELETE", "/api/tokens/none", 404),
        ("POST", "/uplink", 405),
        ("GET", "/uplink", 400),
    ];
    for (method, path, status) in cases {
        let answer = admin.send(admin.request(method.parse().unwrap(), path)).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        told(path, &answer);
    }
    serves_on(&world).await;
}

#[tokio::test]
async fn bad_settings_of_targets_and_tokens_are_told() {
    let world = World::new().unlimited().host("web-1").start().await;
    let admin = world.admin();
    let cases = [
        (
            "/api/mcp/adapter",
            json!({"type": "telnet", "name": "a", "config": {}}),
            400,
        ),
        (
            "/api/mcp/adapter",
            json!({"type": "ssh", "name": "", "config": {"hostname": "a"}}),
            400,
        ),
        (
            "/api/mcp/adapter",
            json!({"type": "ssh", "name": "a".repeat(65), "config": {"hostname": "a"}}),
            400,
        ),
        (
            "/api/mcp/adapter",
            json!({"type": "ssh", "name": "a", "config": {}}),
            400,
        ),
        (
            "/api/mcp/adapter",
            json!({"type": "ssh", "name": "a", "config": {"hostname": "a", "port": 0}}),
            400,
        ),
        (
            "/api/mcp/adapter",
            json!({"type": "ssh", "name": "a", "config": {"hostname": "a", "prot": 1}}),
            400,
        ),
        (
            "/api/mcp/adapter",
            json!({"type": "ssh", "name": "web-1", "config": {"hostname": "a"}}),
            409,
        ),
        ("/api/tokens", json!({"name": "a", "role": "root"}), 400),
        ("/api/tokens", json!({"name": "", "role": "agent"}), 400),
        (
            "/api/tokens",
            json!({"name": "a", "role": "agent", "profile": "none"}),
            400,
        ),
        (
            "/api/tokens",
            json!({"name": "a", "role": "agent", "expiresAt": "yesterday"}),
            400,
        ),
        (
            "/api/tokens",
            json!({"name": "a", "role": "agent", "expiresAt": "1999-01-01T00:00:00Z"}),
            400,
        ),
        ("/api/sign-in", json!({"code": "none"}), 401),
    ];
    for (path, body, status) in cases {
        let answer = admin.post(path, body.clone()).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.text);
        told(path, &answer);
    }
    serves_on(&world).await;
}

/// A problem that says what and where, and nothing of our insides.
fn told(what: &str, answer: &Answer) {
    let problem = answer.json();
    let is = |name: &str| problem[name].as_str().is_some_and(|text| !text.is_empty());
    assert!(
        is("type") && is("title") && is("detail") && is("reason"),
        "{what}: {} {}",
        answer.status,
        answer.text
    );
    assert_eq!(problem["status"], answer.status, "{what}");
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json"),
        "{what}"
    );
    assert!(answer.status < 500, "{what}");
    let detail = problem["detail"].as_str().unwrap_or_default();
    for inner in ["panicked", ".rs:", "sqlite", "serde", "tonic", "hyper", "src/"] {
        assert!(!detail.to_lowercase().contains(inner), "{what}: {detail}");
    }
}

/// The gateway still does its work.
async fn serves_on(world: &World) {
    let admin: &Caller = world.admin();
    admin.run("uptime").await.expect("the gateway serves on");
    let verified: Value = admin.post("/api/audit/verify", json!({})).await.json();
    assert_eq!(verified["verdict"], "intact", "{verified}");
}
