//! Everything that decides: who calls, what they may see, whether a call may run, and what stands on the record.
//!
//! Knows the contract. Must not know facades, the command line or any dialect but gRPC.

pub mod adapters;
pub mod anchor;
pub mod audit;
pub mod broker;
pub mod cache;
pub mod canonical;
pub mod changes;
pub mod clock;
pub mod config;
pub mod data_dir;
pub mod discovery;
pub mod error;
pub mod figures;
#[cfg(any(test, feature = "conformance"))]
pub mod fixtures;
pub mod fleet;
pub mod flights;
pub mod identity;
mod internal_issues;
pub mod issuer;
pub mod journal;
pub mod keys;
pub mod limits;
pub mod mcp_sessions;
pub mod names;
pub mod offline;
pub mod oidc;
pub mod own_profiles;
pub mod pages;
pub mod policy;
pub mod profiles;
pub mod projects;
pub mod proof;
pub mod registry;
pub mod rests;
pub mod results;
pub mod rfc3339;
mod route;
pub mod rpc;
pub mod secrets;
pub mod sessions;
pub mod snapshot;
pub mod start;
pub mod store;
pub mod targets;
pub mod telemetry;
pub mod tenants;
pub mod token_cost;
pub mod tokens;
pub mod uplinks;
pub mod upstream;
pub mod uses;
pub mod why;

pub use self::{
    broker::Door,
    config::{CoreConfig, Limits},
    identity::Secret,
    rpc::{CoreService, GrpcTls, ServeError},
    start::{Core, StartError},
    tenants::FirstRun,
};
