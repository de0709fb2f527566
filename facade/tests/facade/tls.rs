//! TLS that ends here.

use std::{path::PathBuf, sync::Arc};

use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_tungstenite::tungstenite::Message;
use toolgate_contract::frame::CHANNEL_LABEL;
use toolgate_facade::{FacadeConfig, tls};

use crate::{core::ScriptedCore, world::World};
use futures::{SinkExt, StreamExt};

struct Files {
    _dir: tempfile::TempDir,
    certificate: PathBuf,
    key: PathBuf,
    trust: rustls::RootCertStore,
}

fn files() -> Files {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (certificate, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut trust = rustls::RootCertStore::empty();
    trust.add(made.cert.der().clone()).unwrap();
    Files {
        _dir: dir,
        certificate,
        key,
        trust,
    }
}

async fn connect(world: &World, files: &Files, alpn: &[&[u8]]) -> TlsStream<tokio::net::TcpStream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(files.trust.clone())
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let stream = tokio::net::TcpStream::connect(world.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .unwrap()
}

async fn secured(files: &Files) -> World {
    let tls = tls::load(&files.certificate, &files.key).unwrap();
    World::with(
        ScriptedCore::new(),
        FacadeConfig {
            tls: Some(tls),
            ..FacadeConfig::default()
        },
    )
    .await
}

fn get(uri: &str) -> http::Request<http_body_util::Empty<bytes::Bytes>> {
    http::Request::get(uri)
        .header("host", "localhost")
        .body(http_body_util::Empty::new())
        .unwrap()
}

#[tokio::test]
async fn both_versions_of_http_are_spoken_over_tls() {
    let files = files();
    let world = secured(&files).await;

    let stream = connect(&world, &files, &[b"http/1.1"]).await;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    assert_eq!(sender.send_request(get("/healthz")).await.unwrap().status(), 200);
    connection.abort();

    let stream = connect(&world, &files, &[b"h2"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    let uri = |host| format!("https://{host}/api/mcp/tools");
    let ask = |host| {
        http::Request::get(uri(host))
            .body(http_body_util::Empty::<bytes::Bytes>::new())
            .unwrap()
    };
    assert_eq!(sender.send_request(ask("localhost")).await.unwrap().status(), 200);
    assert_eq!(
        sender.send_request(ask("evil.example")).await.unwrap().status(),
        403
    );
    connection.abort();
}

#[tokio::test]
async fn an_uplink_is_bound_to_its_tls_connection() {
    let files = files();
    let world = secured(&files).await;
    let stream = connect(&world, &files, &[]).await;
    let ours = stream
        .get_ref()
        .1
        .export_keying_material([0; 32], CHANNEL_LABEL, None)
        .unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async("wss://localhost/uplink", stream)
        .await
        .unwrap();
    socket.send(Message::binary(b"hello".to_vec())).await.unwrap();
    assert_eq!(
        socket.next().await.unwrap().unwrap(),
        Message::binary(b"hello".to_vec())
    );
    let told = &world.core.asked("Attach")[0].metadata["tls-exporter-bin"];
    let told = data_encoding::BASE64_NOPAD.decode(told.as_bytes()).unwrap();
    assert_eq!(told, ours);
}

#[test]
fn files_that_are_no_pair_are_named() {
    let (one, other) = (files(), files());
    let check = |certificate: &PathBuf, key: &PathBuf, blamed: &PathBuf, why: &str| {
        let error = tls::load(certificate, key).unwrap_err().to_string();
        assert!(
            error.starts_with(&blamed.display().to_string()) && error.contains(why),
            "{error}"
        );
    };
    let missing = one.certificate.with_file_name("missing.pem");
    check(&missing, &one.key, &missing, "cannot be read");
    check(&one.certificate, &missing, &missing, "cannot be read");
    check(&one.key, &one.key, &one.key, "holds no certificate");
    check(
        &one.certificate,
        &one.certificate,
        &one.certificate,
        "no private key",
    );
    check(&one.certificate, &other.key, &other.key, "does not go with");
}
