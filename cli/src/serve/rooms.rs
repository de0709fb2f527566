//! Starts the core and the pieces of configuration that core and facade want in their own words.

use std::{net::SocketAddr, path::Path, time::Duration};

use toolgate_core::{Core, CoreConfig, GrpcTls, Limits, StartError, clock::Clock, data_dir::DataDirError};
use toolgate_facade::{FacadeConfig, tls};

use super::{metering, owner};
use crate::{
    client::reach::dialable,
    config::{Config, TlsFiles},
    failure::Failure,
};

// What is left to be written when everything else has ended.
const CLOSE: Duration = Duration::from_millis(2_500);

/// Starts the core. `public_url` is what relays are told to dial.
pub(super) async fn core(config: &Config, public_url: String) -> Result<Core, Failure> {
    let mut settings = CoreConfig::new(&config.data_dir);
    settings.limits = Limits {
        user_per_minute: config.limits.user_per_minute,
        tenant_per_minute: config.limits.tenant_per_minute,
        tenant_in_flight: config.limits.tenant_in_flight,
    };
    #[cfg(feature = "conformance")]
    {
        settings.echo_hosts = config.echo_hosts;
    }
    settings.public_url = public_url;
    Core::start(settings, Clock::system())
        .await
        .map_err(|error| not_started(&config.data_dir, &error))
}

/// The facade's settings; metrics are on from here.
pub(super) fn facade(config: &Config) -> Result<FacadeConfig, Failure> {
    let mut settings = FacadeConfig {
        allowed_hosts: config.allowed_hosts.clone(),
        behind_proxy: config.behind_proxy,
        metrics: metering::start()?,
        version: env!("CARGO_PKG_VERSION").into(),
        ..FacadeConfig::default()
    };
    if let TlsFiles {
        cert: Some(cert),
        key: Some(key),
    } = &config.tls
    {
        settings.tls = Some(tls::load(cert, key).map_err(|error| Failure::usage(error.to_string()))?);
    }
    Ok(settings)
}

/// Certificate and key of the gRPC port.
pub(super) fn grpc_tls(config: &Config) -> Result<Option<GrpcTls>, Failure> {
    let TlsFiles {
        cert: Some(cert),
        key: Some(key),
    } = &config.tls
    else {
        return Ok(None);
    };
    let read = |path: &Path| {
        std::fs::read(path)
            .map_err(|error| Failure::usage(format!("{} cannot be read: {error}", path.display())))
    };
    Ok(Some(GrpcTls {
        certificate: read(cert)?,
        key: read(key)?,
    }))
}

/// Closes the core once nothing is under way any more.
pub(super) async fn close(core: Core) -> Result<(), Failure> {
    tokio::time::timeout(CLOSE, core.shutdown()).await.map_err(|_| {
        Failure::failed("calls were still open at the end of the drain")
            .next("they are closed at the next start")
    })
}

/// What relays are told to dial.
pub(super) fn public_url(config: &Config, http: SocketAddr) -> String {
    if !config.public_url.is_empty() {
        return config.public_url.trim_end_matches('/').into();
    }
    let scheme = if config.tls.cert.is_some() {
        "https"
    } else {
        "http"
    };
    format!("{scheme}://{}", dialable(http))
}

fn not_started(dir: &Path, error: &StartError) -> Failure {
    if let StartError::DataDir(DataDirError::InUse { pid, .. }) = error {
        let program = pid
            .parse()
            .map(owner::program)
            .unwrap_or_else(|_| "a process".into());
        return Failure::failed(format!("{} is in use by {program} (pid {pid})", dir.display())).next(format!(
            "a gateway runs there already: `toolgate doctor` talks to it, `kill {pid}` stops it, --data-dir DIR \
             starts another one"
        ));
    }
    Failure::failed(error.to_string())
}
