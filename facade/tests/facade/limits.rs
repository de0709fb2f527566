//! Bounds on peers, the drain at the end, and what every answer carries.

use std::{sync::Arc, time::Duration};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use toolgate_contract::v1::{ErrorReason, Failure, GetStatusResponse, StatusCheck};
use toolgate_facade::{FacadeConfig, Limits};

use crate::{
    client,
    core::{CALL_ID, ScriptedCore},
    world::World,
};

async fn limited(limits: Limits) -> World {
    World::with(
        ScriptedCore::new(),
        FacadeConfig {
            limits,
            ..FacadeConfig::default()
        },
    )
    .await
}

#[tokio::test]
async fn heads_are_bounded_in_size_number_and_time() {
    let world = limited(Limits {
        header_read: Duration::from_millis(200),
        ..Limits::default()
    })
    .await;
    let head = |headers: String| {
        format!(
            "GET /healthz HTTP/1.1\r\nhost: {}\r\n{headers}\r\n",
            world.address
        )
    };
    let big = world.raw(head(format!("x: {}\r\n", "a".repeat(40_000)))).await;
    assert!(!big.contains(" 200 "), "{big}");
    let many = world
        .raw(head((0..200).map(|n| format!("x-{n}: 1\r\n")).collect()))
        .await;
    assert!(many.starts_with("HTTP/1.1 431 "), "{many}");
    // The rest of this head never comes.
    let slow = world.raw("GET /healthz HTTP/1.1\r\nhost: loc").await;
    assert!(!slow.contains(" 200 "), "{slow}");
}

#[tokio::test]
async fn of_someone_unknown_no_more_than_the_beginning_of_a_body_is_read() {
    let unknown = Failure::new(ErrorReason::CredentialInvalid, "sign in again");
    let world = World::with(ScriptedCore::failing(unknown), FacadeConfig::default()).await;
    for path in ["/api/mcp/invoke", "/api/tokens", "/mcp", "/openai/v1/tool_calls"] {
        // A megabyte is announced, and most of it never comes.
        let begun = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: 1048576\r\n\r\n{{{}",
            world.address,
            " ".repeat(80_000)
        );
        let answer = world.raw(begun).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_peer_that_asks_nothing_is_let_go() {
    let world = limited(Limits {
        header_read: Duration::from_millis(200),
        ..Limits::default()
    })
    .await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [&preface[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
    for said in [&b""[..], b"P", b"G", &preface[..20], preface, &settings] {
        let mut peer = tokio::net::TcpStream::connect(world.address).await.unwrap();
        peer.write_all(said).await.unwrap();
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(client::PATIENCE, peer.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "{:?} is kept", String::from_utf8_lossy(said));
    }
}

#[tokio::test]
async fn a_connection_waits_for_its_next_request_longer_than_for_its_first() {
    let world = limited(Limits {
        header_read: Duration::from_millis(100),
        idle: Duration::from_millis(600),
        ..Limits::default()
    })
    .await;
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", world.address);
    let mut peer = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let began = std::time::Instant::now();
    peer.write_all(request.as_bytes()).await.unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(client::PATIENCE, peer.read_to_end(&mut rest)).await;
    assert!(ended.is_ok() && rest.starts_with(b"HTTP/1.1 200 "));
    assert!(
        began.elapsed() >= Duration::from_millis(500),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn one_source_does_not_take_the_place_of_others() {
    let world = limited(Limits {
        connections_of_source: 2,
        ..Limits::default()
    })
    .await;
    let dial = async |from: &str| {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
        let mut peer = socket.connect(world.address).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", world.address);
        // A connection that is closed at once may refuse either.
        let _ = peer.write_all(request.as_bytes()).await;
        let served = peer.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0);
        served.then_some(peer)
    };
    let (first, second) = (dial("127.0.0.1").await, dial("127.0.0.1").await);
    assert!(first.is_some() && second.is_some());
    assert!(dial("127.0.0.1").await.is_none());
    assert!(dial("127.0.0.2").await.is_some());
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let world = limited(Limits {
        body_read: Duration::from_millis(200),
        ..Limits::default()
    })
    .await;
    let head = format!(
        "POST /api/mcp/invoke HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: 20\r\n\r\n{{",
        world.address
    );
    let answer = world.raw(head).await;
    assert!(
        answer.starts_with("HTTP/1.1 400 ") && answer.contains("did not arrive"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_core_that_does_not_answer_is_given_up() {
    let world = limited(Limits {
        core: Duration::from_millis(100),
        ..Limits::default()
    })
    .await;
    world.core.hang.send_replace(true);
    let answer = world
        .ask(
            "POST",
            "/api/mcp/invoke",
            &[("prefer", "wait")],
            r#"{"name":"a.b"}"#,
        )
        .await;
    answer.problem(503, "OVERLOADED");
    world.core.until_open(0).await;
}

#[tokio::test]
async fn connections_over_the_cap_wait_for_their_turn() {
    let world = limited(Limits {
        connections: 1,
        ..Limits::default()
    })
    .await;
    let mut first = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", world.address);
    first.write_all(request.as_bytes()).await.unwrap();
    assert!(first.read(&mut [0; 1024]).await.unwrap() > 0);

    let mut second = tokio::net::TcpStream::connect(world.address).await.unwrap();
    second.write_all(request.as_bytes()).await.unwrap();
    let answer = second.read_u8();
    tokio::pin!(answer);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), &mut answer)
            .await
            .is_err()
    );
    drop(first);
    assert_eq!(
        tokio::time::timeout(client::PATIENCE, answer)
            .await
            .unwrap()
            .unwrap(),
        b'H'
    );
}

#[tokio::test]
async fn open_calls_end_before_the_facade_does() {
    let mut world = World::start().await;
    world.core.hang.send_replace(true);
    let request = world.request(
        "POST",
        "/api/mcp/invoke",
        &[("prefer", "wait")],
        r#"{"name":"a.b"}"#,
    );
    let call = tokio::spawn(client::send(world.address, request));
    world.core.until_open(1).await;
    world.shutdown.cancel();
    while tokio::net::TcpStream::connect(world.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!call.is_finished());
    world.core.hang.send_replace(false);
    assert_eq!(call.await.unwrap().status, 200);
    (&mut world.facade).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_open_after_the_drain_is_cut() {
    let mut world = limited(Limits {
        drain: Duration::from_millis(100),
        ..Limits::default()
    })
    .await;
    let _events = world.core.will_stream();
    let _reader = world.live(&format!("/api/mcp/stream/{CALL_ID}"), &[]).await;
    world.core.until_open(1).await;
    world.shutdown.cancel();
    (&mut world.facade).await.unwrap().unwrap();
    world.core.until_open(0).await;
}

#[tokio::test]
async fn told_to_stop_calls_are_taken_for_a_moment_while_probes_say_no() {
    let world = limited(Limits {
        accept_after_told: client::PATIENCE,
        ..Limits::default()
    })
    .await;
    world.shutdown.cancel();
    let ready = world.get("/readyz").await;
    assert_eq!(ready.status, 503);
    assert!(
        ready.text().contains("the gateway is stopping"),
        "{}",
        ready.text()
    );
    let call = world.ask(
        "POST",
        "/api/mcp/invoke",
        &[("prefer", "wait")],
        r#"{"name":"a.b"}"#,
    );
    assert_eq!(call.await.status, 200);
}

#[tokio::test]
async fn a_stream_that_only_waits_at_the_end_of_the_drain_ends_in_order() {
    let world = limited(Limits {
        drain: Duration::from_millis(100),
        ..Limits::default()
    })
    .await;
    let _events = world.core.will_stream();
    let mut reader = world.live(&format!("/api/mcp/stream/{CALL_ID}"), &[]).await;
    world.core.until_open(1).await;
    world.shutdown.cancel();
    // A body that is cut off would be an error here.
    assert_eq!(reader.rest().await, "");
}

#[tokio::test]
async fn probes_tell_the_process_and_the_core_apart() {
    let world = World::start().await;
    assert_eq!(world.get("/healthz").await.text(), "ok\n");
    let ready = world.get("/readyz").await;
    assert_eq!(
        (ready.status.as_u16(), ready.text()),
        (200, r#"{"ready":true,"checks":[],"version":"9.9.9"}"#)
    );
    *world.core.ready.lock().unwrap() = GetStatusResponse {
        ready: false,
        checks: vec![
            StatusCheck {
                name: "store".into(),
                ok: true,
                detail: String::new(),
            },
            StatusCheck {
                name: "audit".into(),
                ok: false,
                detail: "the disk is full".into(),
            },
        ],
        version: "9.9.9".into(),
    };
    let unready = world.get("/readyz").await;
    assert_eq!(unready.status, 503);
    assert_eq!(
        unready.text(),
        r#"{"ready":false,"checks":[{"name":"store","ok":true},{"name":"audit","ok":false,"detail":"the disk is full"}],"version":"9.9.9"}"#
    );
    *world.core.failure.lock().unwrap() = Some(toolgate_contract::v1::Failure::default());
    assert_eq!(world.get("/readyz").await.status, 503);
    assert_eq!(world.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn documents_and_metrics_are_served() {
    let metrics = Arc::new(|| "toolgate_up 1\n".to_owned());
    let world = World::with(
        ScriptedCore::new(),
        FacadeConfig {
            metrics,
            ..FacadeConfig::default()
        },
    )
    .await;
    let answer = world.get("/metrics").await;
    assert_eq!(
        (answer.text(), answer.header("content-type")),
        ("toolgate_up 1\n", "text/plain; version=0.0.4; charset=utf-8")
    );
    let openapi = world.get("/openapi.json").await;
    assert_eq!(openapi.json()["openapi"].as_str().unwrap().get(..4), Some("3.1."));
    let page = world.get("/sign-in").await;
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
}

#[tokio::test]
async fn every_answer_keeps_browsers_from_guessing_storing_and_framing() {
    let world = World::start().await;
    for (path, headers) in [
        ("/healthz", vec![]),
        ("/api/mcp/tools", vec![]),
        ("/api/mcp/invoke", vec![]),
        ("/nothing", vec![]),
        ("/healthz", vec![("host", "evil.example")]),
    ] {
        let answer = world.ask("GET", path, &headers, "").await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert!(
            answer
                .header("content-security-policy")
                .starts_with("default-src 'none'; "),
            "{path}"
        );
        assert_eq!(answer.header("server"), "");
    }
}

#[tokio::test]
async fn a_door_for_relays_serves_nothing_but_uplinks() {
    let world = World::with(
        ScriptedCore::new(),
        FacadeConfig {
            only_uplinks: true,
            ..FacadeConfig::default()
        },
    )
    .await;
    for path in [
        "/api/mcp/tools",
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/sign-in",
    ] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
    // Not a WebSocket, so a mistake, but a path that there is.
    assert_eq!(world.get("/uplink").await.status, 400);
}
