//! The door through which `mcp` and `transcript tail`, which have no HTTP of their own, show their metrics.
//!
//! Answers `/metrics` and `/healthz` and nothing else, to anyone who reaches it: what it shows are counts under closed
//! label sets. One request a connection, few connections, little time for each; there is no way in from here.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};
use toolgate_facade::MetricsText;

use super::{bind, metering};
use crate::{config::Config, failure::Failure};

/// Connections at a time; further ones wait in the listener's queue.
const CONNECTIONS: usize = 16;
/// How long one connection may last, from its first byte to the last of its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long accepting rests after a failure, such as too many open files.
const REST: Duration = Duration::from_millis(100);
const TEXT: &str = "text/plain; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The open door. Dropping it closes it and cuts who stands in it.
#[derive(Debug)]
pub(super) struct MetricsDoor {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl MetricsDoor {
    /// Opens it where the settings name an address; the metrics of this process are kept from then on.
    pub(super) async fn open(config: &Config) -> Result<Option<Self>, Failure> {
        let Some(address) = config.metrics_addr else {
            return Ok(None);
        };
        let listener = bind::bind("metrics-addr", address).await?;
        let door = Self::at(listener, metering::start()?)?;
        // Standard output may belong to a protocol, and port 0 has become a number.
        tracing::info!(address = %door.address(), "metrics are served at /metrics");
        Ok(Some(door))
    }

    /// The address that was really taken.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    fn at(listener: TcpListener, metrics: MetricsText) -> Result<Self, Failure> {
        let address = bind::address(&listener)?;
        let serving = tokio::spawn(accept(listener, metrics));
        Ok(Self { address, serving })
    }
}

impl Drop for MetricsDoor {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

// Owns its connections: they are cut when this is dropped.
async fn accept(listener: TcpListener, metrics: MetricsText) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        // Nobody closes it.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let metrics = Arc::clone(&metrics);
                open.spawn(async move {
                    serve(stream, metrics).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "no connection to the metrics can be accepted; trying again");
                sleep(REST).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, metrics: MetricsText) {
    let service = service_fn(move |request| {
        let answer = answer(&request, &metrics);
        async { Ok::<_, Infallible>(answer) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .keep_alive(false)
        .max_buf_size(8192)
        .serve_connection(TokioIo::new(stream), service);
    match timeout(PATIENCE, connection).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a reader of the metrics was not understood"),
        Err(_) => tracing::debug!("a reader of the metrics took too long and is cut"),
    }
}

// No body is read: none is wanted, and the connection ends with the answer.
fn answer(request: &Request<Incoming>, metrics: &MetricsText) -> Response<Full<Bytes>> {
    let known = match request.uri().path() {
        "/metrics" => Some(PROMETHEUS),
        "/healthz" => Some(TEXT),
        _ => None,
    };
    let (status, kind, body) = match (known, request.method()) {
        (None, _) => (
            StatusCode::NOT_FOUND,
            TEXT,
            "no such page; there are /metrics and /healthz\n".into(),
        ),
        (Some(PROMETHEUS), &Method::GET | &Method::HEAD) => (StatusCode::OK, PROMETHEUS, metrics().into()),
        (Some(kind), &Method::GET | &Method::HEAD) => (StatusCode::OK, kind, Bytes::from_static(b"ok\n")),
        (Some(_), _) => (
            StatusCode::METHOD_NOT_ALLOWED,
            TEXT,
            "only GET and HEAD are answered\n".into(),
        ),
    };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
    };

    use super::{CONNECTIONS, MetricsDoor};

    async fn door() -> MetricsDoor {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        MetricsDoor::at(listener, Arc::new(|| "a_total 1\n".into())).unwrap()
    }

    async fn ask(door: &MetricsDoor, request: &str) -> String {
        let mut stream = TcpStream::connect(door.address()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn metrics_and_health_are_answered_and_nothing_else() {
        let door = door().await;
        let check = async |line: &str, status: &str, part: &str, body: &str| {
            let answer = ask(&door, &format!("{line} HTTP/1.1\r\nhost: pod\r\n\r\n")).await;
            let (head, told) = answer.split_once("\r\n\r\n").unwrap();
            assert!(
                head.starts_with(&format!("HTTP/1.1 {status}")),
                "{line}: {answer}"
            );
            assert!(head.contains(part), "{line}: {answer}");
            assert!(head.contains("connection: close"), "{line}: {answer}");
            assert_eq!(told, body, "{line}");
        };
        check("GET /metrics", "200", "version=0.0.4", "a_total 1\n").await;
        check("GET /metrics?x=1", "200", "version=0.0.4", "a_total 1\n").await;
        check("HEAD /metrics", "200", "content-length: 10", "").await;
        check("GET /healthz", "200", "text/plain", "ok\n").await;
        check(
            "POST /metrics",
            "405",
            "allow: GET, HEAD",
            "only GET and HEAD are answered\n",
        )
        .await;
        let nowhere = "no such page; there are /metrics and /healthz\n";
        check("GET /", "404", "text/plain", nowhere).await;
        check("DELETE /tools", "404", "text/plain", nowhere).await;
    }

    #[tokio::test]
    async fn what_is_no_http_ends_only_its_own_connection() {
        let door = door().await;
        assert!(
            ask(&door, "\0\x01 no http\r\n\r\n")
                .await
                .starts_with("HTTP/1.1 400")
        );
        assert!(
            ask(&door, &format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(20_000)))
                .await
                .len()
                < 400
        );
        assert!(
            ask(&door, "GET /metrics HTTP/1.0\r\n\r\n")
                .await
                .contains("a_total 1")
        );
    }

    #[tokio::test]
    async fn those_who_come_while_it_is_full_are_answered_after_the_others() {
        let door = door().await;
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS {
            silent.push(TcpStream::connect(door.address()).await.unwrap());
        }
        let late = ask(&door, "GET /metrics HTTP/1.1\r\n\r\n");
        tokio::pin!(late);
        assert!(futures::poll!(&mut late).is_pending());
        drop(silent);
        assert!(late.await.contains("a_total 1"));
    }

    #[tokio::test]
    async fn a_dropped_door_is_closed() {
        let door = door().await;
        let address = door.address();
        drop(door);
        // The task ends at its next await; until then the queue of the listener may still take someone.
        let mut refused = false;
        for _ in 0..1000 {
            tokio::task::yield_now().await;
            refused = TcpStream::connect(address).await.is_err();
            if refused {
                break;
            }
        }
        assert!(refused);
    }
}
