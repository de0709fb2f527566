//! Which names are served, on every route there is.

use toolgate_contract::registry::ROUTES;
use toolgate_facade::FacadeConfig;

use crate::{core::ScriptedCore, world::World};

fn every_route() -> Vec<(String, String)> {
    let more = [
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/sign-in",
        "/uplink",
        "/mcp",
        "/mcp/p/forges",
        "/openai/v1/tools",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/mcp/p/forges",
        "/nothing",
        "/",
    ];
    ROUTES
        .iter()
        .map(|route| (route.verb.to_owned(), route.path.replace(['{', '}'], "")))
        .chain(more.map(|path| ("GET".to_owned(), path.to_owned())))
        .chain([
            ("BREW".to_owned(), "/healthz".to_owned()),
            ("POST".to_owned(), "/mcp".to_owned()),
            ("DELETE".to_owned(), "/mcp/p/forges".to_owned()),
            ("OPTIONS".to_owned(), "/mcp".to_owned()),
            ("POST".to_owned(), "/openai/v1/tool_calls".to_owned()),
        ])
        .collect()
}

#[tokio::test]
async fn a_foreign_host_or_origin_gets_nothing_from_any_route() {
    let world = World::start().await;
    let ours = world.address.to_string();
    let suffixed = format!("http://{ours}.evil.example");
    let other_port = "http://127.0.0.1:1";
    for (verb, path) in every_route() {
        for headers in [
            vec![("host", "evil.example")],
            vec![("host", "localhost.evil.example")],
            vec![("origin", "http://evil.example")],
            vec![("origin", "null")],
            vec![("origin", suffixed.as_str())],
            vec![("origin", other_port)],
        ] {
            let answer = world.ask(&verb, &path, &headers, "").await;
            if verb == "HEAD" {
                assert_eq!(answer.status, 403);
            } else {
                answer.problem(403, "ORIGIN_FORBIDDEN");
            }
        }
    }
    assert!(world.core.asked.lock().unwrap().is_empty(), "the core was asked");
}

#[tokio::test]
async fn our_own_names_are_served_with_any_case_and_their_own_origin() {
    let config = FacadeConfig {
        allowed_hosts: vec!["gate.example".into()],
        ..FacadeConfig::default()
    };
    let world = World::with(ScriptedCore::new(), config).await;
    let port = world.address.port();
    let named = format!("LOCALHOST:{port}");
    let origin = format!("http://localhost:{port}");
    for headers in [
        vec![],
        vec![("host", named.as_str())],
        vec![("host", named.as_str()), ("origin", origin.as_str())],
        vec![("host", "gate.example"), ("origin", "https://gate.example")],
        vec![
            ("host", "Gate.Example:8443"),
            ("origin", "https://gate.example:8443"),
        ],
    ] {
        let answer = world.ask("GET", "/api/mcp/tools", &headers, "").await;
        assert_eq!(answer.status, 200, "{headers:?}");
    }
}

#[tokio::test]
async fn a_request_without_a_host_is_refused() {
    let world = World::start().await;
    for head in [
        "GET /healthz HTTP/1.0\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n",
    ] {
        let answer = world.raw(head).await;
        assert!(answer.contains(" 403 "), "{answer}");
    }
}
