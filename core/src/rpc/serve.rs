//! The doors with sockets: the gRPC port and the Unix socket of the data directory.

use std::{future::Future, io, path::Path, time::Duration};

use tokio::net::{TcpListener, UnixListener};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::{Identity, Server, ServerTlsConfig, server::TcpIncoming};
use tower::layer::layer_fn;

use super::CoreService;
use crate::broker::Door;

/// Why a door could not be opened or fell shut.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The socket.
    #[error("the socket {path} cannot be used: {source}")]
    Socket {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The transport.
    #[error("gRPC cannot be served: {0}")]
    Transport(#[from] tonic::transport::Error),
}

/// Certificate and key of the gRPC port, in PEM.
#[derive(Clone)]
pub struct GrpcTls {
    /// The certificate chain.
    pub certificate: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for GrpcTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GrpcTls(***)")
    }
}

/// Serves the gRPC port until `shutdown` ends, then lets calls finish.
pub async fn serve_tcp(
    core: CoreService,
    listener: TcpListener,
    tls: Option<GrpcTls>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let mut server = bounded();
    if let Some(tls) = tls {
        let identity = Identity::from_pem(&tls.certificate, &tls.key);
        server = server.tls_config(ServerTlsConfig::new().identity(identity))?;
    }
    let core = core.behind(Door::Network);
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    server
        .layer(layer_fn(move |_| core.clone()))
        .add_routes(tonic::service::Routes::default())
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await?;
    Ok(())
}

/// Serves the Unix socket at `path`, which only this user may open, until `shutdown` ends.
pub async fn serve_unix(
    core: CoreService,
    path: &Path,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let failed = |source| ServeError::Socket {
        path: path.display().to_string(),
        source,
    };
    // The holder of the data directory's lock owns the name, so a left-over socket is nobody's.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(failed)?;
    let core = core.behind(Door::Facade);
    bounded()
        .layer(layer_fn(move |_| core.clone()))
        .add_routes(tonic::service::Routes::default())
        .serve_with_incoming_shutdown(UnixListenerStream::new(listener), shutdown)
        .await?;
    Ok(())
}

fn bounded() -> Server {
    Server::builder()
        .max_concurrent_streams(100)
        .initial_stream_window_size(64 << 10)
        .initial_connection_window_size(1 << 20)
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .http2_keepalive_timeout(Some(Duration::from_secs(20)))
        .tcp_nodelay(true)
}
