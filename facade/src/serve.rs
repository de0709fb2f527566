//! Accepts connections, speaks HTTP/1.1 and HTTP/2 on them, and drains them at the end.
//!
//! Bounds every peer: so many connections, so much time for a head, a handshake and a write. Knows no route.

mod connection;
mod patience;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper_util::server::conn::auto;
use metrics::gauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::connection::{Endpoint, Tracked};
use crate::{CoreService, FacadeConfig, FacadeError, rest, uplink::Uplinks};

/// How long accepting rests after a failure that is likely to repeat, such as too many open files.
const FIRST_REST: Duration = Duration::from_millis(10);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Serves until `shutdown`, then lets open requests end for as long as the limits allow.
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
    let cut = CancellationToken::new();
    let uplinks = Uplinks::default();
    let router = rest::build(core, &config, tasks.clone(), uplinks.clone())?;
    let endpoint = Arc::new(Endpoint::new(
        router,
        &config,
        builder(&config, &tasks),
        shutdown.clone(),
        cut.clone(),
    ));
    tracing::info!(%bound, tls = config.tls.is_some(), "serving");
    accept(&listener, &endpoint, &tasks, config.limits.connections, &shutdown).await;
    drop(listener);
    let end = Instant::now() + config.limits.drain;
    tasks.close();
    if tokio::time::timeout_at(end, tasks.wait()).await.is_err() {
        tracing::warn!(
            open = tasks.len(),
            "requests were still open at the end of the drain and are cut"
        );
        cut.cancel();
        // Each task is at an await and sees the cut at once.
        let _ = tokio::time::timeout(LONGEST_REST, tasks.wait()).await;
    }
    // A call under way loses its host with the uplink, so uplinks go last.
    if let Some(until) = &config.uplinks_until {
        let _ = tokio::time::timeout_at(end, until.cancelled()).await;
    }
    uplinks.close().await;
    Ok(())
}

fn builder(config: &FacadeConfig, tasks: &TaskTracker) -> auto::Builder<Tracked> {
    let limits = &config.limits;
    let mut builder = auto::Builder::new(Tracked(tasks.clone()));
    let timer = hyper_util::rt::TokioTimer::new();
    builder
        .http1()
        .timer(timer.clone())
        .header_read_timeout(limits.header_read)
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
    connections: usize,
    shutdown: &CancellationToken,
) {
    let room = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
    let mut rest = FIRST_REST;
    loop {
        // Both awaits are cancel-safe: a permit is given back, an unaccepted connection stays in the queue.
        let next = tokio::select! {
            () = shutdown.cancelled() => return,
            next = next(listener, &room) => next,
        };
        match next {
            Ok((stream, peer, permit)) => {
                rest = FIRST_REST;
                let endpoint = Arc::clone(endpoint);
                tasks.spawn(async move {
                    gauge!("toolgate_http_connections").increment(1);
                    endpoint.serve(stream, peer).await;
                    gauge!("toolgate_http_connections").decrement(1);
                    drop(permit);
                });
            }
            Err(error) if is_of_one_peer(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted; trying again");
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = tokio::time::sleep(rest) => rest = (rest * 2).min(LONGEST_REST),
                }
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
