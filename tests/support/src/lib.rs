//! The `World` builder and fakes named after the peers they stand for.
//!
//! Verbs are a user's: call, invoke, watch. Nothing is asserted here; whatever a peer does wrong is an answer that the
//! test looks at. Nothing sleeps: what has to come true is waited for, with a deadline. Ports are the system's choice.

mod answer;
mod authorizing_proxy;
pub mod back_ends;
mod browser;
mod caller;
mod clients;
mod dialect;
mod events;
mod gateway;
mod ground;
mod grpc;
mod hostile;
mod issuer;
mod lab;
mod mcp_client;
mod oidc;
mod pipe;
mod pod;
mod postgres;
pub mod project;
mod relay;
mod seed;
mod store;
mod systemd;
mod tailer;
pub mod turn;
mod uplink;
mod wait;
mod world;

pub use answer::{Answer, Outcome, Refusal};
pub use authorizing_proxy::AuthorizingProxy;
pub use back_ends::{AgentChat, AgentMemory, AgentOperator, BackEnds, TokenEndpoint};
pub use browser::{Browser, Walked};
pub use caller::{Caller, Role};
pub use clients::{Ask, Client, Clients, Inspected, Listening, Server, rust_sdk};
pub use dialect::{Dialect, Form, Revision, Speaker, Told};
pub use events::{Event, Events};
pub use gateway::{Gateway, binary, run};
pub use ground::Ground;
pub use grpc::Grpc;
pub use hostile::{Believer, HostileGateway};
pub use issuer::{AUDIENCE, Issuer, Signer, unsigned};
pub use lab::{Lab, proxmox_credential, proxmox_settings};
pub use mcp_client::{Heard, Hearing, McpClient};
pub use oidc::{Client as OidcClient, OidcProvider, Person, Shown};
pub use pipe::{Ended, Pipe};
pub use pod::{Pod, names};
pub use postgres::{Catch, Postgres, Proxy};
pub use project::{Asked, Beside, Does, Project, RealProject};
pub use relay::{Relay, Reply, Seen};
pub use seed::{Seed, token_of};
pub use store::Store;
pub use systemd::Systemd;
pub use tailer::Tailer;
pub use toolgate_test_postgres::not_run;
pub use wait::until;
pub use world::{Builder, World};
