//! The WebSocket end of uplinks.

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest, protocol::WebSocketConfig},
};
use toolgate_contract::v1::{ErrorReason, Failure};

use crate::{client::PATIENCE, world::World};

async fn dial(world: &World) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(world.address).await.unwrap();
    let request = format!("ws://{}/uplink", world.address)
        .into_client_request()
        .unwrap();
    let large = WebSocketConfig::default()
        .max_message_size(Some(32 << 20))
        .max_frame_size(Some(32 << 20));
    let (socket, response) = tokio_tungstenite::client_async_with_config(request, stream, Some(large))
        .await
        .unwrap();
    assert!(
        !response.headers().contains_key("sec-websocket-extensions"),
        "{response:?}"
    );
    socket
}

async fn next(socket: &mut WebSocketStream<TcpStream>) -> Message {
    tokio::time::timeout(PATIENCE, socket.next())
        .await
        .unwrap()
        .unwrap()
        .unwrap()
}

async fn close_code(socket: &mut WebSocketStream<TcpStream>) -> (u16, String) {
    match next(socket).await {
        Message::Close(Some(frame)) => (frame.code.into(), frame.reason.to_string()),
        other => panic!("no close but {other:?}"),
    }
}

#[tokio::test]
async fn frames_go_both_ways_whole_and_unread() {
    let world = World::start().await;
    let mut socket = dial(&world).await;
    for frame in [
        vec![],
        vec![0; 1],
        b"\x00\x00\x00\x02{}body".to_vec(),
        vec![7; 8 * 1024 * 1024 + 1000],
    ] {
        socket.send(Message::binary(frame.clone())).await.unwrap();
        assert_eq!(next(&mut socket).await, Message::binary(frame));
    }
    let asked = &world.core.asked("Attach")[0].metadata;
    assert_eq!(asked["toolgate-source"], "127.0.0.1");
    assert!(!asked.contains_key("tls-exporter-bin"));
}

#[tokio::test]
async fn a_web_page_cannot_open_an_uplink() {
    let world = World::start().await;
    let origin = format!("http://{}", world.address);
    let answer = world
        .ask(
            "GET",
            "/uplink",
            &[
                ("origin", &origin),
                ("connection", "upgrade"),
                ("upgrade", "websocket"),
                ("sec-websocket-version", "13"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ],
            "",
        )
        .await;
    answer.problem(403, "ORIGIN_FORBIDDEN");
    world.get("/uplink").await.problem(400, "REQUEST_MALFORMED");
    assert!(world.core.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_relay_that_leaves_ends_the_stream_to_the_core() {
    let world = World::start().await;
    let mut socket = dial(&world).await;
    world.core.until_open(1).await;
    socket.close(None).await.unwrap();
    world.core.until_open(0).await;

    let socket = dial(&world).await;
    world.core.until_open(1).await;
    drop(socket);
    world.core.until_open(0).await;
}

#[tokio::test]
async fn a_core_that_ends_closes_the_socket_and_says_why() {
    let world = World::start().await;
    let mut socket = dial(&world).await;
    socket.send(Message::binary(b"bye".to_vec())).await.unwrap();
    assert_eq!(close_code(&mut socket).await, (1000, String::new()));

    *world.core.uplink_end.lock().unwrap() = Some(Failure::new(ErrorReason::CredentialInvalid, "revoked"));
    let mut socket = dial(&world).await;
    socket.send(Message::binary(b"bye".to_vec())).await.unwrap();
    assert_eq!(close_code(&mut socket).await, (1008, "credential-invalid".into()));
}

#[tokio::test]
async fn what_is_no_frame_ends_the_uplink() {
    let world = World::start().await;
    let mut socket = dial(&world).await;
    socket.send(Message::text("hello")).await.unwrap();
    assert_eq!(close_code(&mut socket).await.0, 1003);
    world.core.until_open(0).await;

    let mut socket = dial(&world).await;
    world.core.until_open(1).await;
    let _ = socket.send(Message::binary(vec![0; 10 * 1024 * 1024])).await;
    world.core.until_open(0).await;
}

#[tokio::test]
async fn uplinks_are_told_when_the_facade_stops() {
    let mut world = World::start().await;
    let mut socket = dial(&world).await;
    world.core.until_open(1).await;
    world.shutdown.cancel();
    assert_eq!(close_code(&mut socket).await.0, 1012);
    (&mut world.facade).await.unwrap().unwrap();
    world.core.until_open(0).await;
}
