//! The way from a facade to its core: in this process, over a Unix socket, or over TCP.

use std::{path::Path, time::Duration};

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use toolgate_core::{Core, Door};
use toolgate_facade::CoreService;
use tower::{BoxError, ServiceExt};

use crate::{config::Config, failure::Failure};

const CONNECT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The core of this process.
pub(crate) fn local(core: &Core) -> CoreService {
    CoreService::new(core.service(Door::Facade).map_err(|never| match never {}))
}

/// A core that runs elsewhere. Dials at the first request, and again whenever the connection is lost.
pub(super) fn remote(config: &Config) -> Result<CoreService, Failure> {
    let uri = uri(config);
    let wrong =
        |error: tonic::transport::Error| Failure::usage(format!("core: `{uri}` cannot be dialled: {error}"));
    let mut endpoint = Endpoint::from_shared(uri.clone())
        .map_err(wrong)?
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .tcp_nodelay(true);
    if uri.starts_with("https://") {
        endpoint = endpoint.tls_config(trust(config)?).map_err(wrong)?;
    }
    Ok(CoreService::new(endpoint.connect_lazy().map_err(BoxError::from)))
}

/// Where the core is, as a URI.
pub(super) fn uri(config: &Config) -> String {
    match config.core.as_str() {
        "" => unix(&config.data_dir.join("core.sock")),
        url if url.contains("://") => url.into(),
        path => unix(Path::new(path.strip_prefix("unix:").unwrap_or(path))),
    }
}

fn unix(path: &Path) -> String {
    // Relative paths would be read as the host of a URI.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    format!("unix:{}", path.display())
}

fn trust(config: &Config) -> Result<ClientTlsConfig, Failure> {
    let Some(path) = &config.ca_cert else {
        return Err(Failure::usage("core: a core over https needs to be trusted")
            .next("give the certificate of the core, or of its authority, with --ca-cert"));
    };
    let pem = std::fs::read(path)
        .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))?;
    Ok(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)))
}
