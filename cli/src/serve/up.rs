//! `up`: everything in one process.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Instant,
};

use tokio_util::sync::CancellationToken;
use toolgate_core::Core;
use toolgate_facade::FacadeConfig;

use super::{
    bind::{address, bind},
    built_in::BuiltIn,
    doors::Doors,
    ending::end,
    link, rooms,
    stop::Stop,
    welcome::{Host, Welcome, shell_word},
};
use crate::{
    client::{Gateway, reach::dialable},
    commands::{Context, target, text},
    config::{Config, Environment, Reader, keys::find},
    failure::{Exit, Failure},
};

/// Runs the command until it is told to stop.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let config = context.config(Reader::Up)?;
    let stop = Stop::on_signals()?;
    let facade = rooms::facade(&config)?;
    let grpc_tls = rooms::grpc_tls(&config)?;
    // Ports first: whoever lacks one should not make a data directory.
    let (http, grpc) = (bind("http", config.http).await?, bind("grpc", config.grpc).await?);
    let addresses = (address(&http)?, address(&grpc)?);
    let core = rooms::core(&config, rooms::public_url(&config, addresses.0)).await?;

    let closing = CancellationToken::new();
    let mut doors = Doors::default();
    let inner = inner_door(&config, addresses.0, &core, &facade, &mut doors, &closing).await?;
    doors.open("grpc", core.serve_grpc(grpc, grpc_tls, closing.clone()));
    doors.open("core.sock", core.serve_unix(closing.clone()));
    doors.open(
        "http",
        toolgate_facade::serve(http, link::local(&core), facade, closing.clone()),
    );
    let mut relay = match config.relay.built_in {
        true => Some(BuiltIn::start(&core, &config, inner).await?),
        false => None,
    };
    let host = host(&config, relay.as_mut(), inner).await;
    let welcome = welcome(&config, &core, addresses, host, begun);
    if context.output.json {
        context.output.value(&welcome.json())?;
    } else {
        context.output.raw(welcome.text().as_bytes())?;
    }
    let stood = doors.stand(&stop.token()).await;
    let ended = end(core, relay, doors, &closing).await;
    stood.and(ended).map(|()| Exit::Done)
}

/// The plain loopback address that the built-in relay dials. With TLS it is a door of its own: the certificate names
/// the gateway as others know it, which is not how this machine dials itself.
async fn inner_door(
    config: &Config,
    outer: SocketAddr,
    core: &Core,
    facade: &FacadeConfig,
    doors: &mut Doors,
    closing: &CancellationToken,
) -> Result<SocketAddr, Failure> {
    let outer = dialable(outer);
    if !config.relay.built_in || (facade.tls.is_none() && outer.ip().is_loopback()) {
        return Ok(outer);
    }
    let listener = bind("http", SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let inner = address(&listener)?;
    let plain = FacadeConfig {
        tls: None,
        behind_proxy: false,
        ..facade.clone()
    };
    doors.open(
        "http",
        toolgate_facade::serve(listener, link::local(core), plain, closing.clone()),
    );
    Ok(inner)
}

async fn host(config: &Config, relay: Option<&mut BuiltIn>, inner: SocketAddr) -> Host {
    let Some(relay) = relay else {
        return Host::Off;
    };
    let name = relay.name.clone();
    match relay.connected().await {
        Ok(()) => Host::Connected {
            name,
            target_id: told_apart(config, inner).await,
        },
        Err(why) => Host::Waiting { name, why },
    }
}

/// The id of this host where the tenant has several; asked like any client would, and done without where it fails.
async fn told_apart(config: &Config, inner: SocketAddr) -> Option<String> {
    let own = Config {
        url: format!("http://{}", dialable(inner)),
        ..config.clone()
    };
    let gateway = Gateway::reach(&own, &Environment::default()).ok()?;
    let targets = target::all(&gateway, Some("ssh".into())).await.ok()?;
    if targets.len() < 2 {
        return None;
    }
    let own = targets
        .iter()
        .find(|target| target["config"]["builtIn"] == true)?;
    Some(text(own, "id").into())
}

fn welcome(
    config: &Config,
    core: &Core,
    (http, grpc): (SocketAddr, SocketAddr),
    host: Host,
    begun: Instant,
) -> Welcome {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.into());
    let first = core.first_run();
    Welcome {
        rest: rooms::public_url(config, http),
        grpc: dialable(grpc),
        tls: config.tls.cert.is_some(),
        certificate: config.tls.cert.as_deref().map(absolute),
        data_dir: absolute(&config.data_dir),
        first: first.map(|made| {
            (
                made.admin_token.reveal().into(),
                made.sign_in_code.reveal().into(),
            )
        }),
        host,
        client_flags: client_flags(config, &rooms::public_url(config, http)),
        took_ms: begun.elapsed().as_millis(),
    }
}

// What is not as a bare client command would look for it.
fn client_flags(config: &Config, url: &str) -> String {
    let by_default = |name: &str, value: &str| find(name).is_some_and(|key| key.default == value);
    let mut flags = String::new();
    if !url
        .strip_prefix("http://")
        .is_some_and(|address| by_default("http", address))
    {
        flags.push_str(&format!(" --url {}", shell_word(url)));
    }
    if let Some(cert) = &config.tls.cert {
        flags.push_str(&format!(" --ca-cert {}", shell_word(&cert.display().to_string())));
    }
    let dir = config.data_dir.display().to_string();
    if !by_default("data_dir", &dir) {
        flags.push_str(&format!(" --data-dir {}", shell_word(&dir)));
    }
    flags
}
