//! What a refused caller is told about getting in, and where the metadata of RFC 9728 stands.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::json;
use toolgate_contract::v1::{ErrorReason, Failure};
use toolgate_facade::FacadeConfig;

use crate::{
    client::{self, Answer},
    core::ScriptedCore,
    world::World,
};

/// Where no issuer is configured, to a request with a credential.
pub(crate) const CHALLENGE: &str = r#"Bearer realm="toolgate", error="invalid_token""#;

/// One route of every family, with a body that it reads.
const FAMILIES: [(&str, &str, &str); 8] = [
    ("GET", "/api/mcp/tools", ""),
    ("POST", "/api/mcp/invoke", r#"{"name":"a.b","arguments":{}}"#),
    ("GET", "/api/mcp/stream/01JDZ3V8Q4T7X9K2M5N6P8R0SA", ""),
    ("GET", "/api/tokens", ""),
    ("POST", "/api/mcp/adapter", r#"{"type":"ssh","name":"x"}"#),
    ("GET", "/openai/v1/tools", ""),
    (
        "POST",
        "/openai/v1/tool_calls",
        r#"{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}}]}"#,
    ),
    (
        "POST",
        "/mcp",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    ),
];

fn configured() -> FacadeConfig {
    FacadeConfig {
        allowed_hosts: vec!["gate.example".into()],
        public_url: Some("https://gate.example".into()),
        authorization_servers: vec!["https://issuer.example/".into()],
        ..FacadeConfig::default()
    }
}

async fn refusing(config: FacadeConfig) -> World {
    let failure = Failure::new(ErrorReason::CredentialInvalid, "no valid credential");
    World::with(ScriptedCore::failing(failure), config).await
}

async fn ask(world: &World, (verb, path, body): (&str, &str, &str), headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(verb).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", world.address.to_string());
    }
    if verb == "POST" {
        request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request
        .body(Full::new(Bytes::copy_from_slice(body.as_bytes())))
        .unwrap();
    client::send(world.address, request).await
}

#[tokio::test]
async fn every_dialect_challenges_alike_and_points_to_its_own_resource() {
    let world = refusing(configured()).await;
    let presented = [("authorization", "Bearer tgk_t_secret")];
    let profile = ("POST", "/mcp/p/forges", FAMILIES[7].2);
    for family in FAMILIES.into_iter().chain([profile]) {
        let path = if family.1.starts_with("/mcp") {
            family.1
        } else {
            ""
        };
        let metadata =
            format!("resource_metadata=\"https://gate.example/.well-known/oauth-protected-resource{path}\"");
        for (headers, challenge) in [
            (&[][..], format!("Bearer realm=\"toolgate\", {metadata}")),
            (&presented[..], format!("{CHALLENGE}, {metadata}")),
        ] {
            let answer = ask(&world, family, headers).await;
            assert_eq!(answer.status, 401, "{family:?}: {:?}", answer.body);
            assert_eq!(answer.header("www-authenticate"), challenge, "{family:?}");
        }
    }
}

#[tokio::test]
async fn no_address_is_taken_from_the_request() {
    let world = refusing(configured()).await;
    let port = format!("localhost:{}", world.address.port());
    for headers in [
        &[("host", port.as_str())][..],
        &[
            ("host", "gate.example:8443"),
            ("x-forwarded-host", "evil.example"),
            ("x-forwarded-proto", "http"),
        ],
        &[
            ("forwarded", "host=evil.example;proto=http"),
            ("x-original-url", "/evil"),
        ],
    ] {
        for path in ["/mcp", "/mcp/p/a%22,%20realm=%22evil", "/api/mcp/tools"] {
            let answer = ask(&world, ("GET", path, ""), headers).await;
            let challenge = answer.header("www-authenticate");
            assert!(
                !challenge.contains("evil") && !challenge.contains("localhost"),
                "{challenge}"
            );
        }
        let told = ask(
            &world,
            ("GET", "/.well-known/oauth-protected-resource/mcp", ""),
            headers,
        )
        .await;
        assert_eq!(told.json()["resource"], "https://gate.example/mcp");
    }
}

#[tokio::test]
async fn the_metadata_stands_for_the_whole_and_for_each_address_of_mcp() {
    let world = World::with(ScriptedCore::new(), configured()).await;
    let base = "/.well-known/oauth-protected-resource";
    for path in ["", "/mcp", "/mcp/p/forges", "/mcp/p/no-such-profile"] {
        let answer = ask(&world, ("GET", &format!("{base}{path}"), ""), &[]).await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (200, "application/json")
        );
        let expected = json!({
            "resource": format!("https://gate.example{path}"),
            "authorization_servers": ["https://issuer.example/"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolgate",
        });
        assert_eq!(answer.json(), expected);
    }
    for path in [
        "/",
        "/mcp/",
        "/mcp/p",
        "/mcp/p/",
        "/mcp/p/a/b",
        "/mcp/p/a%22b",
        "/api",
        "/mcp/p/%ff",
    ] {
        let answer = ask(&world, ("GET", &format!("{base}{path}"), ""), &[]).await;
        assert!(
            [400, 404].contains(&answer.status.as_u16()),
            "{path}: {}",
            answer.status
        );
    }
    let posted = ask(&world, ("POST", base, "{}"), &[]).await;
    assert_eq!(
        (posted.status.as_u16(), posted.header("allow")),
        (405, "GET,HEAD")
    );
    assert!(
        world.core.asked.lock().unwrap().is_empty(),
        "nothing of it is the core's"
    );
}

#[tokio::test]
async fn below_a_path_the_resource_has_it_and_the_well_known_part_stands_before_it() {
    let config = FacadeConfig {
        public_url: Some("https://gate.example/tools".into()),
        ..configured()
    };
    let world = refusing(config).await;
    let answer = ask(&world, FAMILIES[7], &[]).await;
    let metadata = "https://gate.example/.well-known/oauth-protected-resource/tools/mcp";
    assert!(
        answer.header("www-authenticate").contains(metadata),
        "{:?}",
        answer.headers
    );
    for path in ["/mcp", "/tools/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let told = ask(&world, ("GET", &path, ""), &[]).await;
        assert_eq!(told.json()["resource"], "https://gate.example/tools/mcp");
    }
}

#[tokio::test]
async fn without_an_issuer_there_is_no_metadata_and_none_is_promised() {
    let config = FacadeConfig {
        authorization_servers: Vec::new(),
        ..configured()
    };
    let world = refusing(config).await;
    for path in ["", "/mcp", "/mcp/p/forges"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        ask(&world, ("GET", &path, ""), &[])
            .await
            .problem(404, "RESOURCE_NOT_FOUND");
    }
    for family in FAMILIES {
        let answer = ask(&world, family, &[]).await;
        assert_eq!(
            answer.header("www-authenticate"),
            "Bearer realm=\"toolgate\"",
            "{family:?}"
        );
    }
}

#[tokio::test]
async fn a_token_in_a_query_or_a_cookie_is_never_read() {
    const QUERY: &str = "access_token=tgk_t_secret&token=tgk_t_secret&authorization=Bearer%20tgk_t_secret&api_key=tgk_t_secret";
    let world = World::start().await;
    for (verb, path, body) in FAMILIES {
        for path in [path.to_owned(), format!("{path}?{QUERY}")] {
            let headers = [("cookie", "__Host-token=tgk_t_secret; access_token=tgk_t_secret")];
            // A query that is not known is refused, or means nothing; either way it is no credential.
            let _ = tokio::time::timeout(client::PATIENCE, ask(&world, (verb, &path, body), &headers)).await;
        }
    }
    let asked = world.core.asked.lock().unwrap();
    assert!(
        asked.len() >= FAMILIES.len(),
        "the core was asked: {}",
        asked.len()
    );
    for asked in asked.iter() {
        assert!(!asked.metadata.contains_key("authorization"), "{asked:?}");
        assert!(!format!("{asked:?}").contains("tgk_t_secret"), "{asked:?}");
    }
}
