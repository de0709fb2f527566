//! What the binary tells the facade at start.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use crate::FacadeError;

/// Renders the metrics of the process as Prometheus text.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// How the facade serves.
#[derive(Clone)]
pub struct FacadeConfig {
    /// Host names served besides loopback and the bound address: `name` for any port, `name:port` for one.
    pub allowed_hosts: Vec<String>,
    /// A proxy of ours stands in front: it does TLS, and its `X-Forwarded-For` is believed.
    pub behind_proxy: bool,
    /// Certificate and key when TLS ends here; see [`crate::tls::load`].
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// A door for relays alone: nothing is served but uplinks.
    pub only_uplinks: bool,
    /// How callers reach this gateway from elsewhere, such as `https://gate.example.org`; without a slash at the end.
    pub public_url: Option<String>,
    /// Issuers of the tokens of services, as RFC 9728 lists them; empty where there are none.
    pub authorization_servers: Vec<String>,
    /// How MCP lists the names of tools.
    pub tool_names: ToolNames,
    /// What `/metrics` answers.
    pub metrics: MetricsText,
    /// Bounds on what one caller can take.
    pub limits: Limits,
    /// Version of the product.
    pub version: String,
}

impl Default for FacadeConfig {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            behind_proxy: false,
            tls: None,
            only_uplinks: false,
            public_url: None,
            authorization_servers: Vec::new(),
            tool_names: ToolNames::default(),
            metrics: Arc::new(String::new),
            limits: Limits::default(),
            version: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

impl fmt::Debug for FacadeConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FacadeConfig")
            .field("allowed_hosts", &self.allowed_hosts)
            .field("behind_proxy", &self.behind_proxy)
            .field("tls", &self.tls.is_some())
            .field("limits", &self.limits)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// How MCP lists the names of tools; either spelling is accepted on calls (`architecture.md` §12.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolNames {
    /// `proxmox_list_vms`: most model clients refuse dots.
    #[default]
    Underscore,
    /// `proxmox.list_vms`.
    Canonical,
}

/// Bounds on what one caller can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest request body, in bytes.
    pub body: usize,
    /// Largest request head, in bytes.
    pub header_bytes: u32,
    /// Most header fields of a request.
    pub headers: usize,
    /// How long a TLS handshake may take, and then the head of the first request.
    pub header_read: Duration,
    /// How long a connection may wait for its next request, the head included.
    pub idle: Duration,
    /// How long the body of a request may take.
    pub body_read: Duration,
    /// How long a peer may accept no byte before its connection is cut.
    pub write: Duration,
    /// How long a core may take to begin its answer; a backstop, deadlines of calls are the core's.
    pub core: Duration,
    /// Most connections at a time; further ones wait in the listener's queue.
    pub connections: usize,
    /// Most of them from one source; one more is closed at once. Behind a proxy there is but one source.
    pub connections_of_source: usize,
    /// How long requests are still taken after we were told to stop.
    pub accept_after_told: Duration,
    /// How long open requests may go on after that.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1024 * 1024,
            header_bytes: 32 * 1024,
            headers: 100,
            header_read: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            body_read: Duration::from_secs(30),
            write: Duration::from_secs(30),
            core: Duration::from_secs(120),
            connections: 10_000,
            connections_of_source: 1_000,
            accept_after_told: Duration::ZERO,
            drain: Duration::from_secs(10),
        }
    }
}

/// Refuses an address that other machines can reach when nothing encrypts the connection.
///
/// # Errors
/// [`FacadeError::OpenBind`], whose text says what to do.
pub fn check_bind(address: SocketAddr, config: &FacadeConfig) -> Result<(), FacadeError> {
    if address.ip().is_loopback() || config.tls.is_some() || config.behind_proxy {
        Ok(())
    } else {
        Err(FacadeError::OpenBind(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bind_that_others_can_reach_needs_tls_or_a_proxy() {
        let check = |address: &str, behind_proxy| {
            let config = FacadeConfig {
                behind_proxy,
                ..FacadeConfig::default()
            };
            check_bind(address.parse().unwrap(), &config).is_ok()
        };
        assert!(check("127.0.0.1:7600", false));
        assert!(check("127.8.8.8:7600", false));
        assert!(check("[::1]:7600", false));
        assert!(!check("0.0.0.0:7600", false));
        assert!(!check("[::]:7600", false));
        assert!(!check("10.0.0.1:7600", false));
        assert!(check("10.0.0.1:7600", true));
    }
}
