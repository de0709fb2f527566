//! The one door of settings: defaults, file, environment and flags become one typed [`Config`].
//!
//! One table of keys ([`keys::KEYS`]) says everything that parsing, flags, documentation and schema would otherwise
//! repeat. The environment is read here and nowhere else. Everything is checked before anything starts, and all that
//! is wrong is told at once. Secrets are no settings: they have no key and never stand in the file. The one exception
//! is the password within the address of the database, which is never shown.

pub(crate) mod check;
pub(crate) mod document;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod flags;
pub(crate) mod key;
pub(crate) mod keys;
pub(crate) mod load;
pub(crate) mod nearest;
pub(crate) mod problem;
pub(crate) mod schema;
pub(crate) mod show;

use std::{net::SocketAddr, path::PathBuf};

use toolgate_core::{
    config::{AwsConfig, JwtConfig, OidcConfig, VaultConfig},
    store::DatabaseUrl,
};

pub(crate) use self::{
    environment::Environment,
    key::Reader,
    load::{Given, load},
    problem::Problems,
};

/// Every setting, typed and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Where everything that must survive stands.
    pub(crate) data_dir: PathBuf,
    /// The PostgreSQL database; none for the embedded one.
    pub(crate) database_url: Option<DatabaseUrl>,
    /// Address of REST, SSE and uplinks.
    pub(crate) http: SocketAddr,
    /// Address of gRPC.
    pub(crate) grpc: SocketAddr,
    /// A proxy in front of the gateway ends TLS.
    pub(crate) behind_proxy: bool,
    /// Host names served besides loopback and the bound address.
    pub(crate) allowed_hosts: Vec<String>,
    /// What relays are told to dial; empty for the bound address.
    pub(crate) public_url: String,
    /// How MCP lists the names of tools.
    pub(crate) tool_names: String,
    /// What becomes of profiles that nobody knows.
    pub(crate) unknown_profile: String,
    /// Whose default `switch_project` sets.
    pub(crate) active_project_scope: String,
    /// Registers projects; none for `DIR/projects.toml`, where there is one.
    pub(crate) projects_file: Option<PathBuf>,
    /// The gateway's own certificate.
    pub(crate) tls: TlsFiles,
    /// Calls per minute.
    pub(crate) limits: Limits,
    /// How checkpoints are signed, and where they go.
    pub(crate) checkpoint: Checkpoint,
    /// The relay inside `up`.
    pub(crate) relay: BuiltInRelay,
    /// What is logged, and how.
    pub(crate) log: Log,
    /// Where a stand-alone facade finds the core; empty for `DIR/core.sock`.
    pub(crate) core: String,
    /// Where processes without HTTP of their own serve their metrics; none for nowhere.
    pub(crate) metrics_addr: Option<SocketAddr>,
    /// The gateway that client commands talk to; empty for the local one.
    pub(crate) url: String,
    /// A further certificate authority that client commands trust.
    pub(crate) ca_cert: Option<PathBuf>,
    /// Starts although keys are lost that the database needs.
    pub(crate) accept_lost_keys: bool,
    /// Secrets at AWS Secrets Manager.
    pub(crate) aws: AwsConfig,
    /// Secrets at Vault.
    pub(crate) vault: VaultConfig,
    /// The issuer of JWTs; an empty one for none.
    pub(crate) jwt: JwtConfig,
    /// The provider that people sign in with; an empty issuer for none.
    pub(crate) oidc: OidcConfig,
    /// Every host is answered for in process; for load measurements only.
    #[cfg(feature = "conformance")]
    pub(crate) echo_hosts: bool,
}

/// Certificate and key of both addresses; both or neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// PEM certificate chain.
    pub(crate) cert: Option<PathBuf>,
    /// PEM private key.
    pub(crate) key: Option<PathBuf>,
}

/// Checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Seconds between two rounds.
    pub(crate) interval: u32,
    /// Where they are posted; empty for nowhere.
    pub(crate) webhook: String,
    /// File with the bearer token of the webhook.
    pub(crate) webhook_token_file: Option<PathBuf>,
}

/// Capacity of the token buckets; each refills evenly within a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Per principal.
    pub(crate) user_per_minute: u32,
    /// Per tenant.
    pub(crate) tenant_per_minute: u32,
    /// Calls under way at once for one tenant.
    pub(crate) tenant_in_flight: u32,
}

/// The relay that `up` runs for this very host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuiltInRelay {
    /// Off leaves this host out.
    pub(crate) built_in: bool,
    /// The host's name as a target; empty for the machine's host name.
    pub(crate) name: String,
}

/// How logs are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Log {
    /// `pretty` or `json`.
    pub(crate) format: String,
    /// The least severe level that is written.
    pub(crate) level: String,
}

#[cfg(test)]
mod tests;
