//! A small HTTP/1.1 server on loopback, plain or over TLS.

use std::{convert::Infallible, future::Future, io, net::SocketAddr, sync::Arc};

use futures::future::BoxFuture;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Incoming, ext::ReasonPhrase, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use ring::digest;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::TlsAcceptor;

use crate::{Reply, Request, Seen};

type Answering = Arc<dyn Fn(Request) -> BoxFuture<'static, Reply> + Send + Sync>;

/// A running simulator. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    fingerprint: Option<String>,
    seen: Seen,
    task: JoinHandle<()>,
}

impl Server {
    /// A plain one.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn plain<A, F>(address: SocketAddr, answering: A) -> io::Result<Self>
    where
        A: Fn(Request) -> F + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        Self::start(address, None, answering).await
    }

    /// One over TLS, with a certificate of its own for this start.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn over_tls<A, F>(address: SocketAddr, answering: A) -> io::Result<Self>
    where
        A: Fn(Request) -> F + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        let names = vec!["localhost".to_owned(), address.ip().to_string()];
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        let certificate = made.cert.der().clone();
        let print = digest::digest(&digest::SHA256, &certificate);
        let fingerprint = data_encoding::HEXUPPER.encode(print.as_ref());
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate], key.into())
            })
            .map_err(io::Error::other)?;
        Self::start(
            address,
            Some((TlsAcceptor::from(Arc::new(config)), fingerprint)),
            answering,
        )
        .await
    }

    async fn start<A, F>(
        address: SocketAddr,
        tls: Option<(TlsAcceptor, String)>,
        answering: A,
    ) -> io::Result<Self>
    where
        A: Fn(Request) -> F + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await?;
        let seen = Seen::default();
        let answering: Answering = Arc::new(move |request| Box::pin(answering(request)));
        let (acceptor, fingerprint) = tls.unzip();
        Ok(Self {
            address: listener.local_addr()?,
            fingerprint,
            seen: seen.clone(),
            task: tokio::spawn(accept(listener, acceptor, seen, answering)),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// SHA-256 of its certificate in hexadecimal, where it has one.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Its URL without a path.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.fingerprint.is_some() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}", self.address)
    }

    /// What it was asked.
    #[must_use]
    pub fn seen(&self) -> &Seen {
        &self.seen
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, seen: Seen, answering: Answering) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                connections.spawn(connection(stream, tls.clone(), seen.clone(), Arc::clone(&answering)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, seen: Seen, answering: Answering) {
    let _ = stream.set_nodelay(true);
    match tls {
        None => talk(stream, seen, answering).await,
        Some(tls) => {
            if let Ok(stream) = tls.accept(stream).await {
                talk(stream, seen, answering).await;
            }
        }
    }
}

async fn talk<S>(stream: S, seen: Seen, answering: Answering)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |asked: http::Request<Incoming>| {
        let (seen, answering) = (seen.clone(), Arc::clone(&answering));
        async move {
            let request = read(asked).await;
            seen.push(request.clone());
            Ok::<_, Infallible>(written(answering(request).await))
        }
    });
    // A peer that leaves in the middle is its own affair.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn read(asked: http::Request<Incoming>) -> Request {
    let (head, body) = asked.into_parts();
    let body = Limited::new(body, 1 << 20).collect().await;
    Request {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body: body.map(http_body_util::Collected::to_bytes).unwrap_or_default(),
    }
}

fn written(reply: Reply) -> http::Response<Full<bytes::Bytes>> {
    let mut response = http::Response::new(Full::new(reply.body));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    if let Some(reason) = reply.reason.and_then(|text| ReasonPhrase::try_from(text).ok()) {
        response.extensions_mut().insert(reason);
    }
    response
}
