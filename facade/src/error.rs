//! Why the facade does not start or stopped. Meant for the operator, never for callers.

use std::{io, net::SocketAddr, path::PathBuf};

/// A fault that keeps the facade from serving.
#[derive(Debug, thiserror::Error)]
pub enum FacadeError {
    /// A bind that would show credentials to the network.
    #[error(
        "{0} can be reached from other machines, but the connection would not be encrypted; give a certificate \
         and key, say that a proxy in front does TLS, or bind to a loopback address"
    )]
    OpenBind(SocketAddr),
    /// The listener cannot be used.
    #[error("the listening socket cannot be used")]
    Listener(#[source] io::Error),
    /// A certificate or key file cannot be used.
    #[error("{path}: {message}")]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what is wanted.
        message: String,
    },
    /// A route of the contract that cannot be served.
    #[error("the route {verb} {path} of the contract cannot be served: {message}")]
    Route {
        /// HTTP method.
        verb: &'static str,
        /// Path template.
        path: &'static str,
        /// Why not.
        message: String,
    },
}
