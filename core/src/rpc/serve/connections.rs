//! Accepts connections and speaks HTTP/2 on them, with and without TLS, until told to end.
//!
//! Stands in the stead of the transport's own server, which ends a call at the caller's deadline with a status that
//! names no reason and is on no record; here deadlines are the core's affair alone.

use std::{convert::Infallible, future::Future, io, pin::pin, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use http::{Request, Response};
use hyper::{body::Incoming, rt::Executor, server::conn::http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{
    body::Body,
    transport::server::{Connected, TcpConnectInfo},
};
use tower::Service;

use crate::rpc::CoreService;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// How many connections one door holds; more wait until one is let go.
const CONNECTIONS: usize = 1_000;
/// A connection on which nothing was asked for this long is let go; clients dial again when they have something to ask.
const FIRST_REQUEST: Duration = Duration::from_secs(30);
/// How long accepting rests after a failure that is likely to repeat, such as too many open files.
const REST: Duration = Duration::from_millis(100);

/// Where connections come from.
pub(super) trait Listener: Send + Sync {
    /// A connection.
    type Io: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next connection, and the addresses of its ends where it has some.
    fn next(&self) -> impl Future<Output = io::Result<(Self::Io, Option<TcpConnectInfo>)>> + Send;
}

impl Listener for TcpListener {
    type Io = TcpStream;

    async fn next(&self) -> io::Result<(TcpStream, Option<TcpConnectInfo>)> {
        let (stream, _) = self.accept().await?;
        let _ = stream.set_nodelay(true);
        let ends = stream.connect_info();
        Ok((stream, Some(ends)))
    }
}

impl Listener for UnixListener {
    type Io = UnixStream;

    async fn next(&self) -> io::Result<(UnixStream, Option<TcpConnectInfo>)> {
        let (stream, _) = self.accept().await?;
        Ok((stream, None))
    }
}

/// Serves until `shutdown` ends, then lets calls finish. Dropped, it cuts every connection.
pub(super) async fn serve(
    listener: impl Listener,
    tls: Option<TlsAcceptor>,
    core: CoreService,
    shutdown: impl Future<Output = ()>,
) {
    serve_within(FIRST_REQUEST, listener, tls, core, shutdown).await;
}

async fn serve_within(
    first_request: Duration,
    listener: impl Listener,
    tls: Option<TlsAcceptor>,
    core: CoreService,
    shutdown: impl Future<Output = ()>,
) {
    let tasks = TaskTracker::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let (closing, cut) = (CancellationToken::new(), CancellationToken::new());
    let _cut_when_dropped = cut.clone().drop_guard();
    let doorway = Arc::new(Doorway {
        http: builder(&tasks),
        tls,
        first_request,
        closing: closing.clone(),
        cut,
    });
    let mut shutdown = pin!(shutdown);
    loop {
        // All are cancel-safe: an unaccepted connection stays in the queue.
        let (place, accepted) = tokio::select! {
            () = &mut shutdown => break,
            next = next(&listener, &places) => next,
        };
        match accepted {
            Ok((io, ends)) => {
                let doorway = Arc::clone(&doorway);
                let asked = CancellationToken::new();
                let conversation = Conversation {
                    core: core.clone(),
                    ends,
                    asked,
                };
                tasks.spawn(async move {
                    doorway.serve(io, conversation).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection cannot be accepted");
                sleep(REST).await;
            }
        }
    }
    drop(listener);
    closing.cancel();
    tasks.close();
    tasks.wait().await;
}

async fn next<L: Listener>(
    listener: &L,
    places: &Arc<Semaphore>,
) -> (
    Option<OwnedSemaphorePermit>,
    io::Result<(L::Io, Option<TcpConnectInfo>)>,
) {
    // Never closed, so there is always a place in the end.
    let place = Arc::clone(places).acquire_owned().await.ok();
    (place, listener.next().await)
}

fn builder(tasks: &TaskTracker) -> http2::Builder<Tracked> {
    let mut http = http2::Builder::new(Tracked(tasks.clone()));
    http.timer(TokioTimer::new())
        .max_concurrent_streams(100)
        .initial_stream_window_size(64 << 10)
        .initial_connection_window_size(1 << 20)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    http
}

/// Spawns the tasks of streams where they are joined.
#[derive(Debug, Clone)]
struct Tracked(TaskTracker);

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
struct Doorway {
    http: http2::Builder<Tracked>,
    tls: Option<TlsAcceptor>,
    first_request: Duration,
    closing: CancellationToken,
    cut: CancellationToken,
}

impl Doorway {
    async fn serve<I>(&self, io: I, conversation: Conversation)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        tokio::select! {
            () = self.cut.cancelled() => {}
            () = self.shake_hands(io, conversation) => {}
        }
    }

    async fn shake_hands<I>(&self, io: I, conversation: Conversation)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Some(tls) = &self.tls else {
            return self.speak(io, conversation).await;
        };
        match timeout(HANDSHAKE, tls.accept(io)).await {
            Ok(Ok(io)) => self.speak(io, conversation).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn speak<I>(&self, io: I, conversation: Conversation)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let asked = conversation.asked.clone();
        let silent = async {
            if timeout(self.first_request, asked.cancelled()).await.is_ok() {
                std::future::pending::<()>().await;
            }
        };
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(io), conversation));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = silent => return tracing::debug!("a connection on which nothing was asked is let go"),
            () = self.closing.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended with an error");
        }
    }
}

/// The requests of one connection.
struct Conversation {
    core: CoreService,
    ends: Option<TcpConnectInfo>,
    /// Fires with the first request.
    asked: CancellationToken,
}

impl hyper::service::Service<Request<Incoming>> for Conversation {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.asked.cancel();
        if let Some(ends) = &self.ends {
            request.extensions_mut().insert(ends.clone());
        }
        // The core is always ready.
        self.core.clone().call(request.map(Body::new))
    }
}

#[cfg(test)]
mod tests;
