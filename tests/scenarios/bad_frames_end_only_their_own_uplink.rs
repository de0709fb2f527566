//! A peer that sends rubbish over an uplink, before or after it proved itself, loses its own socket and nothing else.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use tokio_tungstenite::{connect_async, tungstenite::Message};
use toolgate_test_support::World;

#[tokio::test]
async fn bad_frames_end_only_their_own_uplink() {
    let world = World::new().host("web-1").start().await;
    let url = format!("{}/uplink", world.url().replacen("http", "ws", 1));
    let hello = |json: &str| {
        let mut bytes = u32::try_from(json.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend_from_slice(json.as_bytes());
        bytes
    };
    let cases: Vec<Message> = vec![
        Message::text("hello"),
        Message::binary(vec![]),
        Message::binary(vec![0, 0]),
        Message::binary(vec![255; 64]),
        Message::binary(vec![0; 1024 * 1024]),
        Message::binary(hello("{}")),
        Message::binary(hello(r#"{"v":2,"kind":"hello","id":"0"}"#)),
        Message::binary(hello(
            r#"{"v":1,"kind":"request","id":"0","method":"tools/call"}"#,
        )),
        Message::binary(hello(r#"{"v":1,"kind":"proof","id":"0"}"#)),
        Message::binary(
            [
                hello(r#"{"v":1,"kind":"hello","id":"0"}"#),
                b"{\"tenant\":".to_vec(),
            ]
            .concat(),
        ),
        Message::binary([hello(r#"{"v":1,"kind":"hello","id":"0"}"#), vec![b'x'; 60_000]].concat()),
    ];
    for message in cases {
        let (mut socket, _) = connect_async(&url).await.unwrap();
        let what = format!("{message:?}").chars().take(80).collect::<String>();
        let _ = socket.send(message).await;
        let ended = async {
            while let Some(Ok(message)) = socket.next().await {
                if message.is_close() {
                    break;
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(15), ended).await;
        assert!(ended.is_ok(), "the socket stays open after {what}");
    }
    world
        .run("uptime")
        .await
        .expect("the real relay is not disturbed");
}
