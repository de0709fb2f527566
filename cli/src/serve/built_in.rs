//! The relay for this very host, inside `up`: enrolled without anyone's help, dialling our own address like any other.

use std::{net::SocketAddr, path::Path, time::Duration};

use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use toolgate_contract::enrolment::EnrolmentToken;
use toolgate_core::Core;
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
    state: watch::Receiver<RelayState>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl BuiltIn {
    /// Enrols where needed, and starts to dial the plain door at `inner`.
    pub(super) async fn start(core: &Core, config: &Config, inner: SocketAddr) -> Result<Self, Failure> {
        let name = if config.relay.name.is_empty() {
            hostname()
        } else {
            config.relay.name.clone()
        };
        let state_dir = config.data_dir.join("relay");
        let token = enrolment(core, &name, &state_dir).await?;
        let (sender, state) = watch::channel(RelayState::Connecting);
        let host = HostConfig {
            gateway_url: format!("http://{}", dialable(inner)),
            enrolment_token: token,
            name: name.clone(),
            state_dir,
            guard: GuardProgram::default(),
            // Our own certificate may be signed by nobody; the pinned identity is checked all the same.
            roots: config
                .tls
                .cert
                .clone()
                .map_or(TrustRoots::Platform, TrustRoots::File),
            allow_root: true,
            built_in: true,
            state: Some(sender),
        };
        let stop = CancellationToken::new();
        let told = stop.clone();
        let task = tokio::spawn(async move {
            if let Err(error) = run_host(host, told).await {
                tracing::error!(%error, "the built-in relay ended; this host is no target until the next start");
            }
        });
        Ok(Self {
            name,
            state,
            stop,
            task,
        })
    }

    /// Waits until it is connected, but not longer than a first start may take; else says what it is doing.
    pub(super) async fn connected(&mut self) -> Result<(), String> {
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

async fn enrolment(core: &Core, name: &str, state_dir: &Path) -> Result<Option<EnrolmentToken>, Failure> {
    let made = core.built_in_enrolment(name, has_identity(state_dir)).await;
    let made = made.map_err(|error| Failure::failed(format!("this host cannot be enrolled: {error}")))?;
    made.map(|token| {
        EnrolmentToken::parse(token.reveal())
            .map_err(|_| Failure::failed("the core made a token that cannot be read"))
    })
    .transpose()
}
