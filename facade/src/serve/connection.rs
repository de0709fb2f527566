//! One connection: the handshake, HTTP on it, and its end.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
};

use axum::{Router, body::Body, response::Response};
use http::{HeaderValue, Request};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use toolgate_contract::frame::CHANNEL_LABEL;
use tower::Service;

use super::{
    LAST_WORDS, builder,
    ending::Ending,
    patience::Patient,
    silence::{Silence, Streams},
};
use crate::{FacadeConfig, Limits, link::Peer};

/// What every connection needs, made once.
pub(super) struct Endpoint {
    router: Router,
    tls: Option<TlsAcceptor>,
    tasks: TaskTracker,
    limits: Limits,
    ending: Ending,
}

impl Endpoint {
    pub(super) fn new(router: Router, config: &FacadeConfig, tasks: TaskTracker, ending: Ending) -> Self {
        Self {
            router,
            tls: config.tls.clone().map(TlsAcceptor::from),
            tasks,
            limits: config.limits.clone(),
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
        let patient = Patient::new(stream, self.limits.write);
        let Some(tls) = &self.tls else {
            return self.speak(patient, describe(peer.ip(), dialled.ip(), None)).await;
        };
        match timeout(self.limits.header_read, tls.accept(patient)).await {
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
        let streams = Streams::new(self.tasks.clone());
        let silence = Silence {
            spoken: CancellationToken::new(),
            streams: streams.watch(),
            first: self.limits.header_read,
            idle: self.limits.idle,
        };
        let service = Conversation {
            router: self.router.clone(),
            peer,
            spoken: silence.spoken.clone(),
        };
        let http = builder(&self.limits, streams);
        let connection = http.serve_connection_with_upgrades(TokioIo::new(io), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = silence.too_long() => {
                connection.as_mut().graceful_shutdown();
                // Who asked nothing needs no time to end.
                timeout(LAST_WORDS, connection).await.unwrap_or(Ok(()))
            }
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
    spoken: CancellationToken,
}

impl hyper::service::Service<Request<Incoming>> for Conversation {
    type Response = Response;
    type Error = Infallible;
    type Future = axum::routing::future::RouteFuture<Infallible>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.spoken.cancel();
        request.extensions_mut().insert(self.peer.clone());
        // A router is always ready.
        self.router.clone().call(request.map(Body::new))
    }
}
