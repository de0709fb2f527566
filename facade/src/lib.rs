//! The facade: decode, encode and errors per dialect, and the WebSocket end of uplinks.
//!
//! Speaks to the core only through the contract's generated clients, over whatever service the binary passes in: the
//! core in this process, a Unix socket or TCP. Holds no rules: who may do what, which tools exist and what stands on
//! the record is decided in core. May touch the contract; must not know core.

mod body;
mod catalog;
mod challenge;
mod config;
mod edge;
mod entity_tags;
mod error;
mod link;
pub mod mcp;
mod openai;
mod problem;
mod query;
mod rest;
mod result;
mod routes;
mod serve;
mod session;
pub mod tls;
mod told;
mod uplink;
mod web;
mod well_known;

pub use config::{FacadeConfig, Limits, MetricsText, ToolNames, check_bind};
pub use error::FacadeError;
pub use link::Context;
pub use routes::router;
pub use serve::serve;

/// The way to the core: any service that carries gRPC.
pub type CoreService = tower::util::BoxCloneSyncService<
    http::Request<tonic::body::Body>,
    http::Response<tonic::body::Body>,
    tower::BoxError,
>;
