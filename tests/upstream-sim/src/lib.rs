//! Simulators of the systems that Toolgate reads, on loopback: for tests, and to try every tool without an account.
//!
//! Proxmox VE is other people's work, `fakepve`, run as a process of its own behind a front that answers what it does
//! not know. Of GitHub's and Gitea's servers there is none that knows tokens and their permissions, so those are ours;
//! they know the routes that Toolgate asks for and nothing else. So are the back ends of agents. Every request is kept, so that a test can show which were
//! made. Nothing of this is part of the product.

pub mod agents;
pub mod gitea;
pub mod github;
pub mod proxmox;
mod request;
mod seen;
mod server;
mod wall;

pub use self::{
    request::{Reply, Request},
    seen::Seen,
    server::Server,
};
