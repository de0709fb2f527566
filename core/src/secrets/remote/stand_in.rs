//! An HTTP server that answers as a test tells it, for peers of which there is no real one here.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, task::JoinHandle};

/// A request as it came.
#[derive(Debug, Clone)]
pub(in crate::secrets) struct Asked {
    pub(in crate::secrets) method: String,
    pub(in crate::secrets) path: String,
    pub(in crate::secrets) headers: http::HeaderMap,
    pub(in crate::secrets) body: String,
}

impl Asked {
    pub(in crate::secrets) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// What it answers; `None` is silence.
pub(in crate::secrets) type Reply = Option<(u16, String)>;

/// The server; ends with the test.
#[derive(Debug)]
pub(in crate::secrets) struct StandIn {
    pub(in crate::secrets) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl StandIn {
    pub(in crate::secrets) async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        // The client wants a provider of TLS, whether there is TLS or not.
        drop(tokio_rustls::rustls::crypto::ring::default_provider().install_default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                open.spawn(async move {
                    let service = service_fn(|request: Request<Incoming>| {
                        let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                        async move {
                            let (head, body) = request.into_parts();
                            let body = body.collect().await.unwrap().to_bytes();
                            let asked = Asked {
                                method: head.method.to_string(),
                                path: head.uri.to_string(),
                                headers: head.headers,
                                body: String::from_utf8(body.to_vec()).unwrap(),
                            };
                            let reply = answer(&asked);
                            seen.lock().unwrap().push(asked);
                            let Some((status, text)) = reply else {
                                return std::future::pending().await;
                            };
                            let mut response = Response::new(Full::new(Bytes::from(text)));
                            *response.status_mut() = status.try_into().unwrap();
                            Ok::<_, Infallible>(response)
                        }
                    });
                    drop(
                        http1::Builder::new()
                            .serve_connection(TokioIo::new(stream), service)
                            .await,
                    );
                });
            }
        });
        Self { url, asked, task }
    }

    /// What came so far.
    pub(in crate::secrets) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}
