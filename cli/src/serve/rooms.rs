//! Starts the core and the pieces of configuration that core and facade want in their own words.

use std::{net::SocketAddr, path::Path, time::Duration};

use reqwest::Url;
use toolgate_core::{
    Core, CoreConfig, GrpcTls, Limits, StartError,
    anchor::AnchorConfig,
    clock::Clock,
    config::{JwtConfig, OidcConfig, ProjectScope, SecretsConfig, StandAlone},
    data_dir::DataDirError,
    profiles::UnknownProfile,
};
use toolgate_facade::{FacadeConfig, ToolNames, tls};

use super::{metering, owner};
use crate::{
    address::Address,
    client::reach::dialable,
    config::{Config, TlsFiles, environment::url_variable},
    failure::Failure,
};

// What is left to be written when everything else has ended.
const CLOSE: Duration = Duration::from_millis(2_500);

/// Starts the core. `public_url` is what relays are told to dial; `only_local` that nobody else reaches the gateway.
pub(super) async fn core(config: &Config, public_url: String, only_local: bool) -> Result<Core, Failure> {
    start(config, public_url, only_local, None)
        .await
        .map_err(|error| not_started(&config.data_dir, &error))
}

/// Starts a core for this process alone, unless another process holds the data directory.
pub(super) async fn core_unless_held(
    config: &Config,
    public_url: String,
    brought: StandAlone,
) -> Result<Option<Core>, Failure> {
    match start(config, public_url, true, Some(brought)).await {
        Ok(core) => Ok(Some(core)),
        Err(StartError::DataDir(DataDirError::InUse { .. })) => Ok(None),
        Err(StartError::BackEnd { adapter, what }) => {
            Err(Failure::usage(format!("{}: {what}", url_variable(adapter))))
        }
        Err(error @ StartError::DataDir(DataDirError::Io { .. })) => Err(not_started(
            &config.data_dir,
            &error,
        )
        .next(
            "name a directory that can be written with --data-dir, or a core that runs elsewhere with --core",
        )),
        Err(error) => Err(not_started(&config.data_dir, &error)),
    }
}

async fn start(
    config: &Config,
    public_url: String,
    only_local: bool,
    stand_alone: Option<StandAlone>,
) -> Result<Core, StartError> {
    let mut settings = CoreConfig::new(&config.data_dir);
    settings.stand_alone = stand_alone;
    settings.limits = Limits {
        user_per_minute: config.limits.user_per_minute,
        tenant_per_minute: config.limits.tenant_per_minute,
        tenant_in_flight: config.limits.tenant_in_flight,
    };
    #[cfg(feature = "conformance")]
    {
        settings.echo_hosts = config.echo_hosts;
    }
    settings.unknown_profile = unknown_profile(config);
    settings.active_project_scope = ProjectScope::parse(&config.active_project_scope).unwrap_or_default();
    settings.database_url.clone_from(&config.database_url);
    settings.public_url = public_url;
    settings.only_local = only_local;
    settings.accept_lost_keys = config.accept_lost_keys;
    settings.checkpoint = AnchorConfig {
        interval: Duration::from_secs(config.checkpoint.interval.into()),
        webhook: Some(config.checkpoint.webhook.clone()).filter(|url| !url.is_empty()),
        webhook_token_file: config.checkpoint.webhook_token_file.clone(),
        ..AnchorConfig::default()
    };
    settings.secrets = SecretsConfig {
        aws: config.aws.clone(),
        vault: config.vault.clone(),
    };
    settings.jwt = jwt(config);
    // Nobody signs in to a process that stands alone.
    settings.oidc = oidc(config).filter(|_| settings.stand_alone.is_none());
    // Behind a proxy it is the proxy's certificate that relays see.
    if !config.behind_proxy
        && let Some(cert) = &config.tls.cert
    {
        settings.ca_cert = Some(std::path::absolute(cert).unwrap_or_else(|_| cert.clone()));
    }
    Core::start(settings, Clock::system()).await
}

/// What becomes of profiles that nobody knows.
pub(super) fn unknown_profile(config: &Config) -> UnknownProfile {
    match config.unknown_profile.as_str() {
        "closed" => UnknownProfile::Closed,
        _ => UnknownProfile::Open,
    }
}

/// The issuer of JWTs, if there is one.
fn jwt(config: &Config) -> Option<JwtConfig> {
    let mut jwt = config.jwt.clone();
    if jwt.default_role == "none" {
        jwt.default_role.clear();
    }
    Some(jwt).filter(|jwt| !jwt.issuer.is_empty())
}

/// The provider that people sign in with, if there is one.
fn oidc(config: &Config) -> Option<OidcConfig> {
    let mut oidc = config.oidc.clone();
    if oidc.default_role == "none" {
        oidc.default_role.clear();
    }
    Some(oidc).filter(|oidc| !oidc.issuer.is_empty())
}

/// The facade's settings; metrics are on from here. Where it listens is not known yet.
pub(super) fn facade(config: &Config) -> Result<FacadeConfig, Failure> {
    let mut settings = FacadeConfig {
        allowed_hosts: allowed_hosts(config),
        behind_proxy: config.behind_proxy,
        tool_names: tool_names(config),
        authorization_servers: Some(config.jwt.issuer.clone())
            .filter(|issuer| !issuer.is_empty())
            .into_iter()
            .collect(),
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

/// How MCP lists the names of tools.
pub(super) fn tool_names(config: &Config) -> ToolNames {
    match config.tool_names.as_str() {
        "canonical" => ToolNames::Canonical,
        _ => ToolNames::Underscore,
    }
}

// A proxy passes on the name that the gateway is known by, with or without its port.
fn allowed_hosts(config: &Config) -> Vec<String> {
    let public = Url::parse(&config.public_url).ok();
    let public = public.as_ref().and_then(Url::host_str).map(str::to_owned);
    config.allowed_hosts.iter().cloned().chain(public).collect()
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
    local_url(config, http)
}

/// Whether nobody but this machine reaches the gateway: no address of it is another's to dial, nor passed on to it.
pub(super) fn is_only_local(config: &Config, bound: &[SocketAddr]) -> bool {
    bound.iter().all(|address| address.ip().is_loopback())
        && !config.behind_proxy
        && config.public_url.is_empty()
}

/// A bound address as this machine can dial it.
pub(super) fn local_url(config: &Config, bound: SocketAddr) -> String {
    let scheme = if config.tls.cert.is_some() {
        "https"
    } else {
        "http"
    };
    format!("{scheme}://{}", dialable(bound))
}

/// Where client commands on this machine find the gateway.
pub(super) fn reached_at(config: &Config, http: SocketAddr, grpc: Option<SocketAddr>) -> Address {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into());
    Address {
        http: local_url(config, http),
        grpc: grpc.map(|grpc| local_url(config, grpc)),
        certificate: config.tls.cert.as_deref().map(absolute),
    }
}

fn not_started(dir: &Path, error: &StartError) -> Failure {
    if let StartError::DataDir(DataDirError::InUse { pid, .. }) = error {
        let program = pid
            .parse()
            .map(owner::program)
            .unwrap_or_else(|_| "a process".into());
        return Failure::failed(format!("{} is in use by {program} (pid {pid})", dir.display())).next(format!(
            "a gateway runs there already, or `toolgate mcp` with a core of its own: `toolgate doctor` talks to a gateway, \
             `kill {pid}` stops either, --data-dir DIR starts another one"
        ));
    }
    match error {
        StartError::Secrets(_) | StartError::Issuer(_) | StartError::Oidc(_) => {
            Failure::usage(error.to_string())
        }
        _ => Failure::failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{allowed_hosts, is_only_local};
    use crate::config::{Environment, Given, Reader, load};

    #[test]
    fn a_gateway_is_only_local_where_nothing_leads_to_it_from_elsewhere() {
        let check = |bound: &[&str], variable: (&'static str, &'static str), expected| {
            let config = load(&Given::default(), &Environment::of([variable]), Reader::Show)
                .unwrap()
                .config;
            let bound: Vec<_> = bound.iter().map(|it| it.parse().unwrap()).collect();
            assert_eq!(is_only_local(&config, &bound), expected, "{bound:?} {variable:?}");
        };
        let nothing = ("TOOLGATE_PUBLIC_URL", "");
        check(&["127.0.0.1:7600", "[::1]:7601"], nothing, true);
        check(&["127.0.0.1:7600", "0.0.0.0:7601"], nothing, false);
        check(&["10.0.0.1:7600", "127.0.0.1:7601"], nothing, false);
        check(&["127.0.0.1:7600"], ("TOOLGATE_BEHIND_PROXY", "true"), false);
        check(
            &["127.0.0.1:7600"],
            ("TOOLGATE_PUBLIC_URL", "https://gate.example"),
            false,
        );
    }

    #[test]
    fn the_host_of_the_public_url_is_served_without_being_allowed_once_more() {
        let check = |public: &str, allowed: &str, expected: &[&str]| {
            let environment = Environment::of([
                ("TOOLGATE_PUBLIC_URL", public),
                ("TOOLGATE_ALLOWED_HOSTS", allowed),
            ]);
            let config = load(&Given::default(), &environment, Reader::Show)
                .unwrap()
                .config;
            assert_eq!(allowed_hosts(&config), expected, "{public}");
        };
        check("", "", &[]);
        check("https://gate.example.org", "", &["gate.example.org"]);
        check(
            "https://gate.example.org:8443/base",
            "a:1",
            &["a:1", "gate.example.org"],
        );
        check("https://[2001:db8::1]", "", &["[2001:db8::1]"]);
    }
}
