//! The agent on a host: dials out, proves its identity, runs six commands.
//!
//! Knows the contract (frames, handshake, grammar) and nothing else of ours. It listens on nothing, reads no
//! environment, and decides nothing that the grammar has not decided. The path of one request: `session` takes the
//! frame, `commands` parses the command again, `exec` runs it, `guard` sees to it that nothing stays behind.

mod backoff;
mod commands;
pub mod config;
mod dial;
mod endpoint;
pub mod exec;
mod guard;
mod handshake;
mod host;
mod identity;
#[cfg(test)]
mod joined;
mod link;
mod session;
mod tls;

pub use config::{HostConfig, TrustRoots};
pub use exec::GuardProgram;
pub use guard::guard_main;
pub use host::{RelayError, RelayState, run_host};
pub use identity::has_identity;
