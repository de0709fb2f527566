//! `toolgate relay host`: six commands of this host, offered until it is told to stop.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    config::HostConfig,
    exec::Exec,
    uplink::{Relay, RelayError, RelayState, UplinkConfig},
};

/// Runs the relay of a host until `shutdown`.
pub async fn run_host(config: HostConfig, shutdown: CancellationToken) -> Result<(), RelayError> {
    let exec = Arc::new(Exec::new(config.guard));
    let uplink = UplinkConfig {
        gateway_url: config.gateway_url,
        enrolment_token: config.enrolment_token,
        name: config.name,
        state_dir: config.state_dir,
        roots: config.roots,
        allow_root: config.allow_root || config.built_in,
        state: config.state,
    };
    let mut relay = Relay::new(uplink, Arc::clone(&exec))?;
    let outcome = relay.run(&shutdown).await;
    exec.wait_clean(Duration::from_secs(2)).await;
    relay.show(RelayState::Stopped);
    outcome
}
