//! What a relay is told. Values only: where they come from is the command line's business.

use std::path::PathBuf;

use tokio::sync::watch;
use toolgate_contract::enrolment::EnrolmentToken;

use crate::{exec::GuardProgram, uplink::RelayState};

/// Whose certificates are believed. The pinned Ed25519 identity of the gateway is checked on top of this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TrustRoots {
    /// The roots the host has.
    #[default]
    Platform,
    /// The certificates of one PEM file, and no others.
    File(PathBuf),
}

/// Settings of `toolgate relay host`.
#[derive(Debug)]
pub struct HostConfig {
    /// The gateway, as `http`, `https`, `ws` or `wss`; without TLS only on loopback.
    pub gateway_url: String,
    /// The one-time token, for the first start. A token that has been redeemed already is passed over.
    pub enrolment_token: Option<EnrolmentToken>,
    /// What people see; decides nothing.
    pub name: String,
    /// Where the key and the pin are kept.
    pub state_dir: PathBuf,
    /// How guards are made.
    pub guard: GuardProgram,
    /// Whose certificates are believed.
    pub roots: TrustRoots,
    /// Root is accepted; commands still run unprivileged.
    pub allow_root: bool,
    /// This is the relay inside `toolgate up`.
    pub built_in: bool,
    /// Where the state is shown, if anyone looks.
    pub state: Option<watch::Sender<RelayState>>,
}
