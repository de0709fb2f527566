//! The relay for this very host, inside `up`: enrolled without anyone's help, dialling our own address like any other.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use toolgate_contract::enrolment::EnrolmentToken;
use toolgate_core::{Core, identity::Secret, targets::BuiltInRelay};
use toolgate_relay::{GuardProgram, HostConfig, RelayState, TrustRoots, has_identity, run_host};

use super::hostname::hostname;
use crate::{client::reach::dialable, config::Config, failure::Failure};

/// A first start should be over within a second, with or without the host.
const PATIENCE: Duration = Duration::from_secs(1);

/// The running relay.
#[derive(Debug)]
pub(super) struct BuiltIn {
    /// The host's name as a target.
    pub(super) name: String,
    /// The target's id, where calls have to name it.
    pub(super) named_by: Option<String>,
    /// Why it does not dial, if an admin wants that so.
    held: Option<String>,
    state: watch::Receiver<RelayState>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl BuiltIn {
    /// Enrols where needed, and starts to dial the plain door at `inner`. What an admin has revoked or removed stays
    /// so; a relay that an admin wants back enrols at once.
    pub(super) async fn start(core: &Core, config: &Config, inner: SocketAddr) -> Result<Self, Failure> {
        let host_name = if config.relay.name.is_empty() {
            hostname()
        } else {
            config.relay.name.clone()
        };
        let state_dir = config.data_dir.join("relay");
        let host = core.built_in_host(&host_name, has_identity(&state_dir)).await;
        let host = host.map_err(|error| Failure::failed(format!("this host cannot be enrolled: {error}")))?;
        let held = held(&host.relay, &host.name, &state_dir);
        let start = match &host.relay {
            BuiltInRelay::Connects => Some(None),
            BuiltInRelay::Enrols(token) => Some(Some(readable(token)?)),
            BuiltInRelay::Revoked | BuiltInRelay::Locked | BuiltInRelay::Removed => None,
        };
        let (sender, state) = watch::channel(RelayState::Connecting);
        let plan = Plan {
            gateway_url: format!("http://{}", dialable(inner)),
            name: host_name,
            state_dir,
            state: sender,
        };
        let stop = CancellationToken::new();
        let task = tokio::spawn(keep(plan, start, core.built_in_tokens(), stop.clone()));
        Ok(Self {
            name: host.name,
            named_by: host.id.filter(|_| host.among_others).map(|id| id.to_string()),
            held,
            state,
            stop,
            task,
        })
    }

    /// Waits until it is connected, but not longer than a first start may take; else says what it is doing.
    pub(super) async fn connected(&mut self) -> Result<(), String> {
        if let Some(why) = &self.held {
            return Err(why.clone());
        }
        let arrived = self
            .state
            .wait_for(|state| matches!(state, RelayState::Connected { .. }));
        match tokio::time::timeout(PATIENCE, arrived).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(_)) => return Err("the built-in relay ended, the log says why".into()),
            Err(_) => {}
        }
        Err(match &*self.state.borrow() {
            RelayState::Waiting { why, .. } => why.clone(),
            RelayState::Connecting | RelayState::Connected { .. } | RelayState::Stopped => {
                "still dialling".into()
            }
        })
    }

    /// Ends it.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the built-in relay did not end well");
        }
    }
}

/// What every run of the relay has in common.
struct Plan {
    gateway_url: String,
    name: String,
    state_dir: PathBuf,
    state: watch::Sender<RelayState>,
}

impl Plan {
    fn host(&self, enrolment_token: Option<EnrolmentToken>) -> HostConfig {
        HostConfig {
            gateway_url: self.gateway_url.clone(),
            enrolment_token,
            name: self.name.clone(),
            state_dir: self.state_dir.clone(),
            guard: GuardProgram::default(),
            // It dials without TLS, inside this machine; the pinned identity is checked all the same.
            roots: TrustRoots::Platform,
            allow_root: true,
            built_in: true,
            state: Some(self.state.clone()),
        }
    }
}

/// Runs the relay, if it is to `start`, until `stop`; whenever there is a fresh token, anew with that.
async fn keep(
    plan: Plan,
    mut start: Option<Option<EnrolmentToken>>,
    mut tokens: watch::Receiver<Option<Secret>>,
    stop: CancellationToken,
) {
    loop {
        let told = stop.child_token();
        let this_time = start.take();
        let running = async {
            let Some(token) = this_time else { return };
            if let Err(error) = run_host(plan.host(token), told.clone()).await {
                tracing::error!(%error, "the built-in relay ended; this host is no target until the next start");
            }
        };
        tokio::pin!(running);
        let mut ended = false;
        let fresh = loop {
            // All branches are cancel safe: the relay is polled in place, tokens and the stop are only looked at.
            tokio::select! {
                () = &mut running, if !ended => ended = true,
                fresh = fresh(&mut tokens) => break fresh,
                () = stop.cancelled(), if ended => return,
            }
        };
        told.cancel();
        if !ended {
            running.await;
        }
        start = Some(Some(fresh));
    }
}

/// The next token an admin asks for.
async fn fresh(tokens: &mut watch::Receiver<Option<Secret>>) -> EnrolmentToken {
    while tokens.changed().await.is_ok() {
        let token = tokens.borrow_and_update().as_ref().map(readable);
        if let Some(Ok(token)) = token {
            return token;
        }
    }
    std::future::pending().await
}

fn readable(token: &Secret) -> Result<EnrolmentToken, Failure> {
    EnrolmentToken::parse(token.reveal())
        .map_err(|_| Failure::failed("the core made a token that cannot be read"))
}

/// What keeps the relay from dialling, and the way back.
fn held(relay: &BuiltInRelay, name: &str, state_dir: &Path) -> Option<String> {
    match relay {
        BuiltInRelay::Connects | BuiltInRelay::Enrols(_) => None,
        BuiltInRelay::Revoked => Some(format!(
            "an admin revoked its relay; `toolgate target enrol {name}` brings it back"
        )),
        BuiltInRelay::Locked => Some(format!(
            "it is locked, its relay's key was in use twice; `toolgate target enrol {name}` makes the key a new one"
        )),
        BuiltInRelay::Removed => Some(format!(
            "an admin removed it from the targets; delete {} and start again to bring it back",
            state_dir.display()
        )),
    }
}
