use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::{Core, CoreConfig, broker::Door, clock::Clock};

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_is_let_go() {
    let dir = tempfile::tempdir().unwrap();
    let core = Core::start(CoreConfig::new(dir.path()), Clock::system())
        .await
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let door = core.service(Door::Network);
    let patience = Duration::from_millis(50);
    let serving = tokio::spawn(serve_within(
        patience,
        listener,
        None,
        door,
        stop.clone().cancelled_owned(),
    ));

    for begins in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(begins).await.unwrap();
        let mut said = Vec::new();
        let ended = timeout(Duration::from_secs(10), stream.read_to_end(&mut said)).await;
        assert!(ended.is_ok(), "still open after {begins:?}");
    }

    stop.cancel();
    timeout(Duration::from_secs(10), serving).await.unwrap().unwrap();
    core.shutdown().await;
}
