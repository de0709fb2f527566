//! A plain HTTP client, one connection a request.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts a problem of this status and reason, and gives its JSON.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, reason: &str) -> Value {
        assert_eq!(self.status, status, "{:?}", self.body);
        assert_eq!(self.header("content-type"), "application/problem+json");
        let json = self.json();
        assert_eq!(json["reason"], reason, "{json}");
        assert_eq!(json["status"], status);
        assert_eq!(
            json["type"],
            format!("urn:toolgate:error:{}", reason.to_lowercase().replace('_', "-"))
        );
        assert!(json["title"].as_str().is_some_and(|title| !title.is_empty()));
        assert!(
            json["detail"].as_str().is_some_and(|detail| !detail.is_empty()),
            "{json}"
        );
        json
    }
}

/// An answer whose body is still coming, and the connection it comes by.
pub(crate) struct Live {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Incoming,
    connection: JoinHandle<()>,
}

impl Live {
    /// The next piece of text; empty at the end.
    pub(crate) async fn piece(&mut self) -> String {
        match tokio::time::timeout(PATIENCE, self.body.frame())
            .await
            .expect("a piece arrives")
        {
            Some(Ok(frame)) => String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap(),
            Some(Err(error)) => panic!("{error}"),
            None => String::new(),
        }
    }

    /// All the rest.
    pub(crate) async fn rest(&mut self) -> String {
        let mut whole = String::new();
        loop {
            let piece = self.piece().await;
            if piece.is_empty() {
                return whole;
            }
            whole += &piece;
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

pub(crate) async fn live(address: SocketAddr, request: Request<Full<Bytes>>) -> Live {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(async move {
        let _ = connection.await;
    });
    let response = tokio::time::timeout(PATIENCE, sender.send_request(request))
        .await
        .expect("an answer arrives")
        .unwrap();
    let (parts, body) = response.into_parts();
    Live {
        status: parts.status,
        headers: parts.headers,
        body,
        connection,
    }
}

pub(crate) async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    let mut live = live(address, request).await;
    let body = tokio::time::timeout(PATIENCE, (&mut live.body).collect())
        .await
        .expect("a body arrives")
        .unwrap();
    Answer {
        status: live.status,
        headers: live.headers.clone(),
        body: body.to_bytes(),
    }
}

/// Sends bytes as they are and reads until the other side closes.
pub(crate) async fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .expect("the connection ends");
    String::from_utf8_lossy(&answer).into_owned()
}
