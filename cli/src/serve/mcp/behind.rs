//! Which core stands behind `mcp`: one that is named, the one of the gateway that runs, or one of our own.

use std::{path::Path, time::Duration};

use reqwest::Url;
use tokio::{
    net::UnixStream,
    sync::Mutex,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use toolgate_core::{Core, Secret, config::StandAlone};
use toolgate_facade::CoreService;

use super::super::{doors::Doors, ending, link, rooms};
use crate::{
    client::reach::is_loopback,
    config::Config,
    failure::{Exit, Failure},
};

/// A core that has just begun opens its socket within moments.
const OPENS_WITHIN: Duration = Duration::from_secs(3);
const LOOKS_EVERY: Duration = Duration::from_millis(50);

/// The core behind the pipe.
pub(super) struct Behind {
    service: CoreService,
    place: String,
    of_this_machine: bool,
    own: Option<Own>,
}

/// A core of our own. Its socket lets other commands in as well.
struct Own {
    core: Core,
    doors: Mutex<Doors>,
    closing: CancellationToken,
}

impl Behind {
    /// Finds it, or starts one with what the process brings.
    pub(super) async fn find(config: &Config, brought: StandAlone) -> Result<Self, Failure> {
        if !config.core.is_empty() {
            left_alone(&brought, &link::uri(config))?;
            return Ok(Self {
                service: link::remote(config)?,
                place: link::uri(config),
                of_this_machine: is_of_this_machine(&config.core),
                own: None,
            });
        }
        let public_url = rooms::public_url(config, config.http);
        let targets = brought.back_ends.len();
        match rooms::core_unless_held(config, public_url, brought.clone()).await? {
            Some(core) => Ok(Self::with(core, config, targets)),
            None => {
                left_alone(&brought, &config.data_dir.display().to_string())?;
                Self::of_running(config).await
            }
        }
    }

    fn with(core: Core, config: &Config, targets: usize) -> Self {
        let dir = config.data_dir.display();
        if core.first_run().is_some() && targets == 0 {
            tracing::warn!(%dir, "the data directory is new and has no targets; if another one was meant, name it with --data-dir");
        }
        tracing::info!(%dir, targets, "no gateway runs on the data directory; this command has a core of its own, which reaches no hosts");
        let closing = CancellationToken::new();
        let mut doors = Doors::default();
        doors.open("core.sock", core.serve_unix(closing.clone()));
        doors.open("record", core.watch_record(closing.clone()));
        Self {
            service: link::local(&core),
            place: config.data_dir.display().to_string(),
            of_this_machine: true,
            own: Some(Own {
                core,
                doors: Mutex::new(doors),
                closing,
            }),
        }
    }

    async fn of_running(config: &Config) -> Result<Self, Failure> {
        let socket = config.data_dir.join("core.sock");
        if !opens(&socket).await {
            let holder = format!(
                "{} is in use, and nothing answers in it",
                config.data_dir.display()
            );
            return Err(Failure::new(Exit::Unreachable, holder).next(
                "wait for the command that uses it to end; `toolgate doctor` tells what it is, --data-dir DIR starts \
                 another gateway",
            ));
        }
        Ok(Self {
            service: link::remote(config)?,
            place: link::uri(config),
            of_this_machine: true,
            own: None,
        })
    }

    pub(super) fn service(&self) -> CoreService {
        self.service.clone()
    }

    /// The credential of this process; `None` where the core is not its own.
    pub(super) fn process(&self) -> Option<&Secret> {
        self.own.as_ref()?.core.process()
    }

    /// Where it is, for people.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Whether the admin token of the data directory may be shown to it.
    pub(super) fn is_of_this_machine(&self) -> bool {
        self.of_this_machine
    }

    /// Ends when our own core can no longer serve; never where there is none.
    pub(super) async fn lost(&self) -> Result<(), Failure> {
        let Some(own) = &self.own else {
            return std::future::pending().await;
        };
        own.doors.lock().await.stand(&own.closing).await
    }

    /// Closes our own core: what other commands have under way through it settles first, but not for long.
    pub(super) async fn end(self) -> Result<(), Failure> {
        match self.own {
            Some(own) => ending::end_soon(own.core, own.doors.into_inner(), &own.closing).await,
            None => Ok(()),
        }
    }
}

/// What the process was given for a core of its own says nothing to another one: back ends are its targets, and what may be
/// written there is said with them. A promise to write nothing is not broken in silence.
fn left_alone(brought: &StandAlone, core: &str) -> Result<(), Failure> {
    if brought.read_only {
        return Err(Failure::usage(format!(
            "--read-only is for a core of this command's own, and it speaks with the one at {core}"
        ))
        .next("set the access of that core's targets to read_only, or give a --data-dir that nobody uses"));
    }
    if !brought.back_ends.is_empty() {
        tracing::warn!(
            core,
            "the back ends of the environment are not used; those of the core are"
        );
    }
    Ok(())
}

async fn opens(socket: &Path) -> bool {
    let until = Instant::now() + OPENS_WITHIN;
    loop {
        if UnixStream::connect(socket).await.is_ok() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        sleep(LOOKS_EVERY).await;
    }
}

fn is_of_this_machine(core: &str) -> bool {
    !core.contains("://") || Url::parse(core).is_ok_and(|url| is_loopback(&url))
}

#[cfg(test)]
mod tests {
    use super::is_of_this_machine;

    #[test]
    fn the_admins_token_is_shown_to_cores_of_this_machine_only() {
        for own in [
            "unix:/run/core.sock",
            "data/core.sock",
            "http://127.0.0.1:7601",
            "https://localhost:7601",
        ] {
            assert!(is_of_this_machine(own), "{own}");
        }
        for other in [
            "http://10.0.0.1:7601",
            "https://gate.example:7601",
            "https://localhost.example",
        ] {
            assert!(!is_of_this_machine(other), "{other}");
        }
    }
}
