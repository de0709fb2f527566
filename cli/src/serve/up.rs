//! `up`: everything in one process.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Instant,
};

use tokio_util::sync::CancellationToken;
use toolgate_core::Core;
use toolgate_facade::FacadeConfig;

use super::{
    bind::{address, bind},
    built_in::BuiltIn,
    certificate,
    doors::Doors,
    ending::end,
    link,
    projects_file::ProjectsFile,
    rooms,
    stop::Stop,
    welcome::{Host, Token, Welcome, shell_word},
};
use crate::{
    client::reach::dialable,
    commands::Context,
    config::{Config, Reader, keys::find},
    failure::{Exit, Failure},
};

/// Runs the command until it is told to stop.
pub(super) async fn run(context: &Context) -> Result<Exit, Failure> {
    let begun = Instant::now();
    let config = context.config(Reader::Up)?;
    let stop = Stop::on_signals()?;
    let mut facade = rooms::facade(&config)?;
    let grpc_tls = rooms::grpc_tls(&config)?;
    certificate::warn(&config);
    let projects = ProjectsFile::read(&config)?;
    // Ports first: whoever lacks one should not make a data directory.
    let (http, grpc) = (bind("http", config.http).await?, bind("grpc", config.grpc).await?);
    let addresses = (address(&http)?, address(&grpc)?);
    let only_local = rooms::is_only_local(&config, &[addresses.0, addresses.1]);
    let public_url = rooms::public_url(&config, addresses.0);
    facade.public_url = Some(public_url.clone());
    let core = rooms::core(&config, public_url, only_local).await?;

    let closing = CancellationToken::new();
    let mut doors = Doors::default();
    let projects = projects.follow(core.projects()).await?;
    doors.open("projects file", projects.watch(closing.clone()));
    let inner = inner_door(&config, addresses.0, &core, &facade, &mut doors, &closing).await?;
    doors.open("grpc", core.serve_grpc(grpc, grpc_tls, closing.clone()));
    doors.open("core.sock", core.serve_unix(closing.clone()));
    doors.open("record", core.watch_record(closing.clone()));
    doors.open(
        "http",
        toolgate_facade::serve(http, link::local(&core), facade, closing.clone()),
    );
    let published = rooms::reached_at(&config, addresses.0, Some(addresses.1)).publish(&config.data_dir);
    let mut relay = match config.relay.built_in {
        true => Some(BuiltIn::start(&core, &config, inner).await?),
        false => None,
    };
    let host = host(relay.as_mut()).await;
    let welcome = welcome(&config, &core, addresses, host, begun);
    let printed = match context.output.json {
        true => context.output.value(&welcome.json()),
        false => context.output.raw(welcome.text().as_bytes()),
    };
    if printed.is_err() {
        // The addresses are in the log too; a gateway that serves does not end for want of a reader.
        tracing::warn!("standard output cannot be written: the addresses are not printed");
    }
    let stood = doors.stand(&stop.token()).await;
    drop(published);
    let ended = end(core, relay, doors, &closing).await;
    stood.and(ended).map(|()| Exit::Done)
}

/// The plain loopback address that the built-in relay dials. With TLS it is a door of its own, for relays alone: the
/// certificate names the gateway as others know it, which is not how this machine dials itself.
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
        only_uplinks: true,
        behind_proxy: false,
        ..facade.clone()
    };
    doors.open(
        "built-in relay",
        toolgate_facade::serve(listener, link::local(core), plain, closing.clone()),
    );
    Ok(inner)
}

async fn host(relay: Option<&mut BuiltIn>) -> Host {
    let Some(relay) = relay else {
        return Host::Off;
    };
    let name = relay.name.clone();
    match relay.connected().await {
        Ok(()) => Host::Connected {
            name,
            target_id: relay.named_by.clone(),
        },
        Err(why) => Host::Waiting { name, why },
    }
}

fn welcome(
    config: &Config,
    core: &Core,
    (http, grpc): (SocketAddr, SocketAddr),
    host: Host,
    begun: Instant,
) -> Welcome {
    let reached = rooms::reached_at(config, http, Some(grpc));
    let data_dir = absolute(&config.data_dir);
    let first = core.first_run();
    Welcome {
        rest: rooms::public_url(config, http),
        bound: reached.http,
        grpc: reached.grpc.unwrap_or_default(),
        token: match first {
            Some(made) => Token::Made {
                token: made.admin_token.reveal().into(),
                code: made.sign_in_code.reveal().into(),
            },
            None if holds_something(&data_dir.join("admin-token")) => Token::InFile,
            None => Token::Missing,
        },
        certificate: reached.certificate,
        named_dir: !by_default("data_dir", &config.data_dir.display().to_string()),
        data_dir,
        host,
        program: program(std::env::args_os().next()),
        took_ms: begun.elapsed().as_millis(),
    }
}

// A redirection that failed leaves an empty file.
fn holds_something(file: &Path) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

fn by_default(name: &str, value: &str) -> bool {
    find(name).is_some_and(|key| key.default == value)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

// As a shell finds it: by its bare name where it was found so.
fn program(typed: Option<OsString>) -> String {
    match typed.as_deref().map(Path::new) {
        Some(path) if path.components().count() > 1 => shell_word(&absolute(path).display().to_string()),
        _ => "toolgate".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn a_program_that_was_started_by_its_path_is_named_by_it() {
        assert_eq!(program(None), "toolgate");
        assert_eq!(program(Some("toolgate".into())), "toolgate");
        assert_eq!(
            program(Some("/opt/my tools/toolgate".into())),
            "'/opt/my tools/toolgate'"
        );
        let relative = program(Some("target/debug/toolgate".into()));
        assert!(
            relative.starts_with('/') && relative.ends_with("/target/debug/toolgate"),
            "{relative}"
        );
    }
}
