//! The doors with sockets: the gRPC port and the Unix socket of the data directory.

mod connections;

use std::{future::Future, io, path::Path, sync::Arc};

use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        pki_types::{
            CertificateDer, PrivateKeyDer,
            pem::{self, PemObject},
        },
    },
};

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
    /// The certificate or the key is no PEM.
    #[error("the certificate and key of the gRPC port cannot be read: {0}")]
    Pem(#[from] pem::Error),
    /// The two do not go together.
    #[error("the certificate and key of the gRPC port cannot be used: {0}")]
    Tls(#[from] rustls::Error),
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
    let tls = tls.as_ref().map(acceptor).transpose()?;
    connections::serve(listener, tls, core.behind(Door::Network), shutdown).await;
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
    connections::serve(listener, None, core.behind(Door::Facade), shutdown).await;
    Ok(())
}

fn acceptor(tls: &GrpcTls) -> Result<TlsAcceptor, ServeError> {
    let chain = CertificateDer::pem_slice_iter(&tls.certificate).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
