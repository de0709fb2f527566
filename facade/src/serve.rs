//! Accepts connections, speaks HTTP/1.1 and HTTP/2 on them, and drains them at the end.
//!
//! Bounds every peer: so many connections, so much time for a head, a handshake and a write. Knows no route.

mod connection;
mod ending;
mod patience;
mod silence;
mod sources;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper_util::server::conn::auto;
use metrics::gauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use self::ending::Ending;
use self::{connection::Endpoint, silence::Streams, sources::Sources};
use crate::{CoreService, FacadeConfig, FacadeError, Limits, routes};

/// How long accepting rests after a failure that is likely to repeat, such as too many open files.
const FIRST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);
/// What was told to end has this long to do so.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves until `shutdown`, then takes requests for a moment longer, lets open ones end for as long as the limits
/// allow, and closes uplinks last.
///
/// # Errors
/// A route of the contract that cannot be served, or a listener without an address. Failures to accept are waited out.
pub async fn serve(
    listener: TcpListener,
    core: CoreService,
    config: FacadeConfig,
    shutdown: CancellationToken,
) -> Result<(), FacadeError> {
    let bound = listener.local_addr().map_err(FacadeError::Listener)?;
    let tasks = TaskTracker::new();
    let ending = Ending::when(shutdown);
    let router = routes::build(core, &config, tasks.clone(), ending.clone())?;
    let endpoint = Arc::new(Endpoint::new(router, &config, tasks.clone(), ending.clone()));
    tracing::info!(%bound, tls = config.tls.is_some(), only_uplinks = config.only_uplinks, "serving");
    // Whoever spreads requests over instances needs a moment to see that this one is going.
    let closed = async {
        ending.told.cancelled().await;
        tokio::time::sleep(config.limits.accept_after_told).await;
    };
    tokio::select! {
        () = accept(&listener, &endpoint, &tasks, &config) => {}
        () = closed => {}
    }
    drop(listener);
    drain(&ending, &tasks, config.limits.drain).await;
    Ok(())
}

async fn drain(ending: &Ending, tasks: &TaskTracker, limit: Duration) {
    ending.closed.cancel();
    tasks.close();
    if timeout(limit, tasks.wait()).await.is_err() {
        tracing::warn!(
            open = tasks.len(),
            "requests were still open at the end of the drain and are cut"
        );
        ending.waited.cancel();
        let _ = timeout(LAST_WORDS, tasks.wait()).await;
        ending.cut.cancel();
        // Each task is at an await and sees the cut at once.
        let _ = timeout(LAST_WORDS, tasks.wait()).await;
    }
    ending.uplinks.cancel();
    ending.bridges.close();
    let _ = timeout(2 * LAST_WORDS, ending.bridges.wait()).await;
}

fn builder(limits: &Limits, streams: Streams) -> auto::Builder<Streams> {
    let mut builder = auto::Builder::new(streams);
    let timer = hyper_util::rt::TokioTimer::new();
    builder
        .http1()
        .timer(timer.clone())
        // Runs from the end of one request to the head of the next; a peer may be silent for as long.
        .header_read_timeout(limits.idle)
        .max_headers(limits.headers)
        .max_buf_size(
            usize::try_from(limits.header_bytes)
                .unwrap_or(usize::MAX)
                .max(8192),
        );
    builder
        .http2()
        .timer(timer)
        .max_header_list_size(limits.header_bytes)
        .max_concurrent_streams(100)
        .initial_stream_window_size(64 * 1024)
        .initial_connection_window_size(1024 * 1024)
        .max_send_buf_size(64 * 1024)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

async fn accept(
    listener: &TcpListener,
    endpoint: &Arc<Endpoint>,
    tasks: &TaskTracker,
    config: &FacadeConfig,
) {
    let limits = &config.limits;
    let room = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    let sources = Sources::new(match config.behind_proxy {
        true => limits.connections,
        false => limits.connections_of_source,
    });
    let mut rest = FIRST_REST;
    loop {
        // Every await is cancel-safe: a permit is given back, an unaccepted connection stays in the queue.
        match next(listener, &room).await {
            Ok((stream, peer, permit)) => {
                rest = FIRST_REST;
                let Some(place) = sources.place(peer.ip()) else {
                    tracing::debug!("a source has as many connections as it may");
                    continue;
                };
                let endpoint = Arc::clone(endpoint);
                tasks.spawn(async move {
                    gauge!("toolgate_http_connections").increment(1);
                    endpoint.serve(stream, peer).await;
                    gauge!("toolgate_http_connections").decrement(1);
                    drop((place, permit));
                });
            }
            Err(error) if is_of_one_peer(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted; trying again");
                tokio::time::sleep(rest).await;
                rest = (rest * 2).min(LONGEST_REST);
            }
        }
    }
}

async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, peer) = listener.accept().await?;
    Ok((stream, peer, permit))
}

fn is_of_one_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}
