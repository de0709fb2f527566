//! One connection: the handshake, HTTP on it, and its end.

use std::{
    convert::Infallible,
    future::Future,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use axum::{Router, body::Body, response::Response};
use http::{HeaderValue, Request};
use hyper::{body::Incoming, rt::Executor};
use hyper_util::{rt::TokioIo, server::conn::auto};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use toolgate_contract::frame::CHANNEL_LABEL;
use tower::Service;

use super::{ending::Ending, patience::Patient};
use crate::{FacadeConfig, link::Peer};

/// Spawns the tasks of HTTP/2 streams where they are joined.
#[derive(Debug, Clone)]
pub(super) struct Tracked(pub(super) TaskTracker);

impl<F> Executor<F> for Tracked
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        self.0.spawn(task);
    }
}

/// What every connection needs, made once.
pub(super) struct Endpoint {
    router: Router,
    tls: Option<TlsAcceptor>,
    http: auto::Builder<Tracked>,
    handshake: Duration,
    write: Duration,
    ending: Ending,
}

impl Endpoint {
    pub(super) fn new(
        router: Router,
        config: &FacadeConfig,
        http: auto::Builder<Tracked>,
        ending: Ending,
    ) -> Self {
        Self {
            router,
            tls: config.tls.clone().map(TlsAcceptor::from),
            http,
            handshake: config.limits.header_read,
            write: config.limits.write,
            ending,
        }
    }

    /// Serves a connection to its end.
    pub(super) async fn serve(&self, stream: TcpStream, peer: SocketAddr) {
        tokio::select! {
            () = self.ending.cut.cancelled() => {}
            () = self.shake_hands(stream, peer) => {}
        }
    }

    async fn shake_hands(&self, stream: TcpStream, peer: SocketAddr) {
        let _ = stream.set_nodelay(true);
        let Ok(dialled) = stream.local_addr() else { return };
        let patient = Patient::new(stream, self.write);
        let Some(tls) = &self.tls else {
            return self.speak(patient, describe(peer.ip(), dialled.ip(), None)).await;
        };
        match tokio::time::timeout(self.handshake, tls.accept(patient)).await {
            Ok(Ok(stream)) => {
                let session = &stream.get_ref().1;
                let exporter = session.export_keying_material([0; 32], CHANNEL_LABEL, None).ok();
                self.speak(stream, describe(peer.ip(), dialled.ip(), exporter))
                    .await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn speak<I>(&self, io: I, peer: Peer)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = Conversation {
            router: self.router.clone(),
            peer,
        };
        let connection = self
            .http
            .serve_connection_with_upgrades(TokioIo::new(io), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.ending.closed.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(error, "a connection ended with an error");
        }
    }
}

fn describe(peer: IpAddr, dialled: IpAddr, exporter: Option<[u8; 32]>) -> Peer {
    let source = HeaderValue::try_from(peer.to_canonical().to_string());
    Peer {
        // An address is always a header value.
        source: source.unwrap_or(HeaderValue::from_static("unknown")),
        dialled: dialled.to_canonical(),
        exporter,
    }
}

/// The requests of one connection.
#[derive(Clone)]
struct Conversation {
    router: Router,
    peer: Peer,
}

impl hyper::service::Service<Request<Incoming>> for Conversation {
    type Response = Response;
    type Error = Infallible;
    type Future = axum::routing::future::RouteFuture<Infallible>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer.clone());
        // A router is always ready.
        self.router.clone().call(request.map(Body::new))
    }
}
