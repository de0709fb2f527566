//! `core` and `facade`, each in a process of its own.

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{
    bind::{address, bind},
    certificate,
    doors::Doors,
    ending::{ACCEPT_AFTER_TOLD, ANSWERED_BY, end},
    link,
    projects_file::ProjectsFile,
    rooms,
    stop::Stop,
};
use crate::{
    commands::Context,
    config::Reader,
    failure::{Exit, Failure},
};

/// The core without HTTP: gRPC and `DIR/core.sock`.
pub(super) async fn core(context: &Context) -> Result<Exit, Failure> {
    let config = context.config(Reader::Core)?;
    let stop = Stop::on_signals()?;
    let tls = rooms::grpc_tls(&config)?;
    certificate::warn(&config);
    let projects = ProjectsFile::read(&config)?;
    let listener = bind("grpc", config.grpc).await?;
    let address = address(&listener)?;
    // Where its facade listens is not known here.
    let core = rooms::core(&config, rooms::public_url(&config, config.http), false).await?;
    let closing = CancellationToken::new();
    let mut doors = Doors::default();
    let projects = projects.follow(core.projects()).await?;
    doors.open("projects file", projects.watch(closing.clone()));
    doors.open("grpc", core.serve_grpc(listener, tls, closing.clone()));
    doors.open("core.sock", core.serve_unix(closing.clone()));
    doors.open("record", core.watch_record(closing.clone()));
    say(
        context,
        &format!(
            "core: gRPC at {}, socket in {}",
            rooms::local_url(&config, address),
            config.data_dir.display()
        ),
    );
    if core.first_run().is_some() {
        let file = config.data_dir.join("admin-token");
        say(
            context,
            &format!("core: first start; the admin's token is in {}", file.display()),
        );
    }
    let stood = doors.stand(&stop.token()).await;
    let ended = end(core, None, doors, &closing).await;
    stood.and(ended).map(|()| Exit::Done)
}

/// The facade in front of a core that runs elsewhere.
pub(super) async fn facade(context: &Context) -> Result<Exit, Failure> {
    let config = context.config(Reader::Facade)?;
    let stop = Stop::on_signals()?;
    let mut settings = rooms::facade(&config)?;
    settings.limits.accept_after_told = ACCEPT_AFTER_TOLD;
    let core = link::remote(&config)?;
    certificate::warn(&config);
    let listener = bind("http", config.http).await?;
    let address = address(&listener)?;
    settings.public_url = Some(rooms::public_url(&config, address));
    let published = rooms::reached_at(&config, address, None).publish(&config.data_dir);
    let closing = CancellationToken::new();
    let mut doors = Doors::default();
    doors.open(
        "http",
        toolgate_facade::serve(listener, core, settings, closing.clone()),
    );
    say(
        context,
        &format!(
            "facade: {}, in front of {}",
            rooms::local_url(&config, address),
            link::uri(&config)
        ),
    );
    let stood = doors.stand(&stop.token()).await;
    drop(published);
    // It ends in steps of its own: calls in flight are the core's, sockets of relays close last.
    closing.cancel();
    let closed = timeout(ANSWERED_BY, doors.close()).await;
    stood.and(closed.unwrap_or(Ok(()))).map(|()| Exit::Done)
}

/// A server that serves does not end for want of a reader.
fn say(context: &Context, text: &str) {
    let printed = match context.output.json {
        true => context.output.value(&serde_json::json!({"serving": text})),
        false => context.output.line(text),
    };
    if printed.is_err() {
        tracing::warn!(text, "standard output cannot be written");
    }
}
