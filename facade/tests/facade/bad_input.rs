//! Requests that cannot be read: a clear answer, never a panic, never a 500, and the core is not bothered.

use std::sync::LazyLock;

use proptest::prelude::*;
use toolgate_contract::{
    registry::ROUTES,
    v1::{ErrorReason, Failure},
};

use crate::{client::PATIENCE, core::ScriptedCore, world::World};

const INVOKE: &str = "/api/mcp/invoke";

#[tokio::test]
async fn unreadable_invocations_name_the_place() {
    let world = World::start().await;
    for (body, detail) in [
        (r#"{"name":"a.b","arguments":{"x":}}"#, "line 1 column 32"),
        ("{\"name\":\"a.b\",\n\"arguments\":{]}", "line 2 column 14"),
        (r#"{"name":"a.b","name":"c.d"}"#, "duplicate field `name`"),
        (
            r#"{"name":"a.b","arguments":{},"arguments":{}}"#,
            "duplicate field `arguments`",
        ),
        (
            r#"{"name":"a.b","targetId":"x","target_id":"y"}"#,
            "duplicate field `targetId`",
        ),
        (r#"{"name":"a.b","Arguments":{}}"#, "unknown field `Arguments`"),
        (r#"{"Name":"a.b"}"#, "unknown field `Name`"),
        (r#"{"name":"a.b","method":"x"}"#, "unknown field `method`"),
        ("{\"name\u{0}\":\"a.b\"}", "line 1"),
        (r#"{"name\u0000":"a.b"}"#, "unknown field"),
        (
            "{\"arguments\":{},\"name\":\"a\",\"argument\u{17f}\":{}}",
            "unknown field",
        ),
        (r#"{"arguments":{}}"#, "missing field `name`"),
        (r#"{"name":5}"#, "line 1 column 9"),
        (r#"{"name":"a.b"} x"#, "trailing"),
        (r#"["a.b",{}]"#, "not a JSON object"),
        ("", "empty"),
        ("name=a.b", "not a JSON object"),
        ("{\"name\":\"a", "line 1"),
    ] {
        let problem = world.post(INVOKE, body).await.problem(400, "REQUEST_MALFORMED");
        let told = problem["detail"].as_str().unwrap();
        assert!(told.contains(detail), "{body}: {told}");
    }
    let not_text: &[u8] = b"{\"name\":\"a.b\",\"arguments\":{\"x\":\"\xff\"}}";
    world
        .post(INVOKE, not_text.to_vec())
        .await
        .problem(400, "REQUEST_MALFORMED");
    assert!(world.core.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn bodies_over_the_limit_are_refused_by_length_and_by_count() {
    let world = World::start().await;
    let padding = " ".repeat(1024 * 1024);
    world
        .post(INVOKE, format!("{{\"name\":\"a\"{padding}}}"))
        .await
        .problem(413, "REQUEST_TOO_LARGE");

    let mut chunked = format!(
        "POST {INVOKE} HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked\r\n\r\n",
        world.address
    );
    for _ in 0..20 {
        chunked += &format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    }
    let answer = world.raw(chunked).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");

    let told = format!(
        "POST {INVOKE} HTTP/1.1\r\nhost: {}\r\ncontent-length: 99999999999\r\n\r\n",
        world.address
    );
    let answer = world.raw(told).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert_nothing_was_carried_out(&world);
}

#[tokio::test]
async fn deep_wide_and_packed_bodies_are_refused() {
    let world = World::start().await;
    for path in [INVOKE, "/api/tokens", "/api/mcp/adapter"] {
        for body in [
            "[".repeat(1_000_000),
            format!("{{\"name\":{}", "[".repeat(1_000_000)),
            format!("{{\"a\":[{}1]}}", "1,".repeat(400_000)),
        ] {
            world.post(path, body).await.problem(400, "REQUEST_MALFORMED");
        }
        for coding in ["gzip", "br", "gzip, br"] {
            let answer = world
                .ask("POST", path, &[("content-encoding", coding)], "{}")
                .await;
            answer.problem(400, "REQUEST_MALFORMED");
        }
    }
    assert_nothing_was_carried_out(&world);
}

/// Of a long body the core is asked whose it is, and nothing else.
fn assert_nothing_was_carried_out(world: &World) {
    let asked = world.core.asked.lock().unwrap();
    assert!(asked.iter().all(|asked| asked.rpc == "GetSelf"), "{asked:?}");
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems() {
    let world = World::start().await;
    for path in [
        "/api",
        "/api/chat/stream",
        "/api/mcp/tools/",
        "/API/mcp/tools",
        "/api/mcp/stream/",
        "/api//tokens",
        "/%00",
    ] {
        world.get(path).await.problem(404, "RESOURCE_NOT_FOUND");
    }
    for (verb, path, allow) in [
        ("PUT", "/api/mcp/tools", "GET,HEAD"),
        ("GET", INVOKE, "POST"),
        ("PUT", "/api/mcp/adapter", "GET,HEAD,POST"),
        ("POST", "/healthz", "GET,HEAD"),
        ("BREW", "/api/tokens", "GET,HEAD,POST"),
    ] {
        let answer = world.ask(verb, path, &[], "").await;
        assert_eq!(
            (answer.status.as_u16(), answer.header("content-type")),
            (405, "application/problem+json")
        );
        let mut allowed: Vec<_> = answer.header("allow").split(',').map(str::trim).collect();
        allowed.sort_unstable();
        assert_eq!(allowed.join(","), allow, "{verb} {path}");
        assert_eq!(answer.json()["status"], 405);
    }
}

#[tokio::test]
async fn smuggled_requests_do_not_reach_a_route() {
    let world = World::start().await;
    let host = world.address;
    let inner = format!("GET /api/self HTTP/1.1\r\nhost: {host}\r\n\r\n");
    for head in [
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n{{}}xx{inner}"
        ),
        format!("POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ncontent-length: +4\r\n\r\n{{}}xx{inner}"),
        format!("POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 4, 4x\r\n\r\n{{}}xx{inner}"),
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!(
            "POST {INVOKE} HTTP/1.0\r\nhost: {host}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!("POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\nx: a\r\n b\r\n\r\n{inner}"),
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked\r\ncontent-length: 6\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{inner}"
        ),
        format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n{inner}"
        ),
    ] {
        let answer = world.raw(&head).await;
        assert!(
            answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.0 400 "),
            "{head}\n{answer}"
        );
        assert_eq!(answer.matches("HTTP/1.").count(), 1, "{head}\n{answer}");
    }
    assert!(world.core.asked("GetSelf").is_empty());
}

#[tokio::test]
async fn codings_other_than_chunked_are_refused_and_the_connection_closed() {
    let world = World::start().await;
    let host = world.address;
    let inner = format!("GET /api/self HTTP/1.1\r\nhost: {host}\r\n\r\n");
    for coding in [
        "gzip, chunked",
        "identity, chunked",
        "chunked, chunked",
        "chunked\r\ntransfer-encoding: chunked",
        "gzip\r\ntransfer-encoding: chunked",
    ] {
        // A body and a credential that would pass.
        let request = format!(
            "POST {INVOKE} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer tgk_a_b\r\ntransfer-encoding: \
             {coding}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n{inner}"
        );
        let answer = world.raw(&request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{coding}\n{answer}");
        assert!(answer.contains("transfer-encoding"), "{coding}\n{answer}");
        assert!(answer.contains("connection: close"), "{coding}\n{answer}");
        assert_eq!(answer.matches("HTTP/1.").count(), 1, "{coding}\n{answer}");
    }
    assert!(world.core.asked("GetSelf").is_empty() && world.core.asked("Invoke").is_empty());
}

#[tokio::test]
async fn header_names_with_underscores_are_refused() {
    let world = World::start().await;
    let answer = world
        .ask("GET", "/api/mcp/tools", &[("x_forwarded_for", "1.2.3.4")], "")
        .await;
    let problem = answer.problem(400, "REQUEST_MALFORMED");
    assert!(problem["detail"].as_str().unwrap().contains("x_forwarded_for"));
}

#[tokio::test]
async fn what_the_facade_refuses_by_itself_is_told_to_the_core() {
    let world = World::start().await;
    let mut refused = world.core.refused.subscribe();
    let big = " ".repeat(1024 * 1024 + 1);
    for (number, (answer, reason)) in [
        (world.post(INVOKE, "{").await, ErrorReason::RequestMalformed),
        (
            world.post("/api/tokens", "{}{").await,
            ErrorReason::RequestMalformed,
        ),
        (world.post(INVOKE, big).await, ErrorReason::RequestTooLarge),
        (
            world.ask("GET", "/healthz", &[("origin", "null")], "").await,
            ErrorReason::OriginForbidden,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        assert!(answer.status.is_client_error());
        let told = tokio::time::timeout(PATIENCE, refused.wait_for(|refused| refused.len() > number));
        let (told, metadata) = told.await.expect("the refusal is told").unwrap()[number].clone();
        assert_eq!(told, reason);
        assert_eq!(metadata["authorization"], "Bearer tgk_t_secret");
        assert_eq!(metadata["toolgate-source"], "127.0.0.1");
        assert_eq!(metadata["toolgate-facade"], "rest");
    }
    // What the core itself refused, and what is no refusal, is not told again.
    *world.core.failure.lock().unwrap() = Some(Failure::new(ErrorReason::RequestMalformed, "no"));
    world
        .get("/api/mcp/tools")
        .await
        .problem(400, "REQUEST_MALFORMED");
    world.get("/nothing").await.problem(404, "RESOURCE_NOT_FOUND");
    let doubled = [("authorization", "Bearer tgk_t_other")];
    world
        .ask("GET", "/api/mcp/tools", &doubled, "")
        .await
        .problem(400, "REQUEST_MALFORMED");
    let told = tokio::time::timeout(PATIENCE, refused.wait_for(|refused| refused.len() > 4)).await;
    let told = told.expect("the refusal is told").unwrap().clone();
    assert_eq!(told.len(), 5);
    assert!(!told[4].1.contains_key("authorization"), "{told:?}");
}

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
});

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("{".to_owned()),
        Just("}".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(",".to_owned()),
        Just(":".to_owned()),
        Just("\"name\"".to_owned()),
        Just("\"arguments\"".to_owned()),
        Just("\"type\"".to_owned()),
        Just("\"config\"".to_owned()),
        Just("\"disabledTools\"".to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("\\u0000".to_owned()),
        "-?[0-9]{1,30}(\\.[0-9]{1,5})?(e[0-9]{1,4})?",
        "\"[^\"\\\\]{0,8}\"",
    ];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_body_panics_or_is_our_fault(body in bodies(), route in 0..ROUTES.len()) {
        let route = &ROUTES[route];
        let status = ask(route.verb, &route.path.replace(['{', '}'], ""), body);
        prop_assert!(status.is_success() || status.is_client_error(), "{status}");
    }

    #[test]
    fn no_path_or_query_panics_or_is_our_fault(path in "(/(api|mcp|audit|adapter|tokens|stream|events|[!-~]{0,6})){0,5}", query in "[!-~]{0,30}") {
        if let Ok(uri) = format!("{path}?{query}").parse::<http::Uri>() {
            let status = ask("GET", &uri.to_string(), Vec::new());
            prop_assert!(status.is_success() || status.is_client_error(), "{uri}: {status}");
        }
    }

    #[test]
    fn no_header_panics_or_is_our_fault(name in "prefer|host|origin|last-event-id|grpc-timeout|if-none-match|content-length|x-forwarded-for|authorization", value in prop::collection::vec(any::<u8>(), 0..40)) {
        let Ok(value) = http::HeaderValue::from_bytes(&value) else { return Ok(()) };
        let request = http::Request::post(INVOKE).header("host", "localhost").header(&name, value);
        let status = through(request.body(axum::body::Body::from(r#"{"name":"a.b"}"#)).unwrap());
        prop_assert!(status.is_success() || status.is_client_error(), "{status}");
    }
}

fn ask(verb: &str, uri: &str, body: Vec<u8>) -> http::StatusCode {
    let request = http::Request::builder()
        .method(verb)
        .uri(uri)
        .header("host", "localhost");
    match request.body(axum::body::Body::from(body)) {
        Ok(request) => through(request),
        Err(_) => http::StatusCode::BAD_REQUEST,
    }
}

/// Panics inside are problems with 500, so they are seen as well.
fn through(request: http::Request<axum::body::Body>) -> http::StatusCode {
    static ROUTER: LazyLock<axum::Router> = LazyLock::new(|| {
        toolgate_facade::router(ScriptedCore::new().service(), &Default::default()).unwrap()
    });
    RUNTIME.block_on(async {
        tower::ServiceExt::oneshot(ROUTER.clone(), request)
            .await
            .unwrap()
            .status()
    })
}
