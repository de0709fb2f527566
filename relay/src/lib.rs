//! The agent beside a system: dials out, proves its identity, runs six commands of a host or bridges an MCP server.
//!
//! Knows the contract (frames, handshake, grammar) and nothing else of ours. It listens on nothing, takes no
//! setting from the environment, and decides nothing that the grammar has not decided. The path of one request to a host:
//! `session` takes the frame, `commands` parses the command again, `exec` runs it, `guard` sees to it that nothing stays
//! behind. What a project is asked goes through `project` to the operator's own server.

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
pub mod project;
mod service;
mod session;
mod tls;
mod uplink;
mod voice;

pub use config::{HostConfig, TrustRoots};
pub use exec::GuardProgram;
pub use guard::guard_main;
pub use host::run_host;
pub use identity::has_identity;
pub use project::{BadServer, LocalServer, ProjectConfig, run_project};
pub use uplink::{RelayError, RelayState};
