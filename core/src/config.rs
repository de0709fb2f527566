//! What an operator can set about the core. Read and checked by the binary; here it only has its meaning.

mod stand_alone;

use std::{path::PathBuf, time::Duration};

pub use self::stand_alone::{BackEnd, BackEndCredential, StandAlone};
use crate::{
    anchor::AnchorConfig,
    profiles::UnknownProfile,
    store::{DatabaseUrl, StoreConfig},
};

/// Settings of the core.
#[derive(Debug, Clone)]
pub struct CoreConfig {
    /// Directory of database, keys, lock and socket.
    pub data_dir: PathBuf,
    /// The PostgreSQL database that keeps configuration and record; none for the embedded one in the data directory.
    pub database_url: Option<DatabaseUrl>,
    /// Limits on calls.
    pub limits: Limits,
    /// What becomes of a profile that nobody knows.
    pub unknown_profile: UnknownProfile,
    /// Whose default `switch_project` sets.
    pub active_project_scope: ProjectScope,
    /// Total time a target has to answer.
    pub upstream_timeout: Duration,
    /// The base URL that relays dial, as shown in enrolment commands.
    pub public_url: String,
    /// Starts although keys are lost that the database needs, with new ones.
    pub accept_lost_keys: bool,
    /// How checkpoints are signed, and where they go.
    pub checkpoint: AnchorConfig,
    /// Where secrets may be kept besides the gateway's own store.
    pub secrets: SecretsConfig,
    /// The issuer whose JWTs services present; none where there is none.
    pub jwt: Option<JwtConfig>,
    /// The provider that people sign in with; none where there is none.
    pub oidc: Option<OidcConfig>,
    /// Nobody but this machine reaches the gateway, so that new targets may be on it too, and without TLS.
    pub only_local: bool,
    /// The certificate of the gateway's own TLS, as enrolment commands name it to relays.
    pub ca_cert: Option<PathBuf>,
    /// The core lives for one process, which is a principal of its own; none for a gateway's.
    pub stand_alone: Option<StandAlone>,
    /// Every host is answered for in process.
    #[cfg(feature = "conformance")]
    pub echo_hosts: bool,
    /// The fixtures of conformance runs are in every list.
    #[cfg(any(test, feature = "conformance"))]
    pub fixtures: Option<crate::fixtures::Fixtures>,
}

impl CoreConfig {
    /// The store that these settings name.
    #[must_use]
    pub fn store(&self) -> StoreConfig {
        match &self.database_url {
            Some(url) => StoreConfig::postgres(url.clone()),
            None => StoreConfig::sqlite(self.data_dir.join("toolgate.db")),
        }
    }

    /// Defaults over a data directory.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            database_url: None,
            limits: Limits::default(),
            unknown_profile: UnknownProfile::Open,
            active_project_scope: ProjectScope::default(),
            upstream_timeout: Duration::from_secs(10),
            public_url: "http://127.0.0.1:7600".into(),
            accept_lost_keys: false,
            checkpoint: AnchorConfig::default(),
            secrets: SecretsConfig::default(),
            jwt: None,
            oidc: None,
            only_local: false,
            ca_cert: None,
            stand_alone: None,
            #[cfg(feature = "conformance")]
            echo_hosts: false,
            #[cfg(any(test, feature = "conformance"))]
            fixtures: None,
        }
    }
}

/// Whose default a switch sets, in the words of `switch_project`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ProjectScope {
    /// The session's, or without one the principal's.
    #[default]
    Caller,
    /// One value for all callers of a tenant, as the origin had it.
    Tenant,
}

impl ProjectScope {
    /// Reads the word of the configuration.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "caller" => Some(Self::Caller),
            "tenant" => Some(Self::Tenant),
            _ => None,
        }
    }
}

/// Where secrets may be kept besides the gateway's own store. A provider of which nothing is set is not used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretsConfig {
    /// AWS Secrets Manager.
    pub aws: AwsConfig,
    /// Vault's KV engine, version 2.
    pub vault: VaultConfig,
}

/// How AWS Secrets Manager is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsConfig {
    /// Region.
    pub region: String,
    /// Another address than the region's own; empty for that.
    pub endpoint: String,
    /// What stands before `<tenant>/<name>` in the names of secrets.
    pub prefix: String,
    /// File with the gateway's own credentials.
    pub credentials_file: Option<PathBuf>,
    /// Endpoint of the container platform that hands them out; empty for none.
    pub credentials_url: String,
    /// File with the token that this endpoint wants.
    pub credentials_token_file: Option<PathBuf>,
}

/// How Vault is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultConfig {
    /// Its address.
    pub address: String,
    /// PEM file with certificate authorities to trust beside the machine's.
    pub ca_cert: Option<PathBuf>,
    /// Namespace; empty for none.
    pub namespace: String,
    /// Path of the engine.
    pub mount: String,
    /// What stands before `<tenant>/<name>` in paths; may be empty.
    pub folder: String,
    /// File with a token that something else keeps alive.
    pub token_file: Option<PathBuf>,
    /// Id of the role to sign in with; empty for none.
    pub role_id: String,
    /// File with the secret id of the role.
    pub secret_id_file: Option<PathBuf>,
    /// Path of the method.
    pub approle_mount: String,
}

impl Default for AwsConfig {
    fn default() -> Self {
        Self {
            region: String::new(),
            endpoint: String::new(),
            prefix: "toolgate/".into(),
            credentials_file: None,
            credentials_url: String::new(),
            credentials_token_file: None,
        }
    }
}

impl Default for VaultConfig {
    fn default() -> Self {
        Self {
            address: String::new(),
            ca_cert: None,
            namespace: String::new(),
            mount: "secret".into(),
            folder: "toolgate".into(),
            token_file: None,
            role_id: String::new(),
            secret_id_file: None,
            approle_mount: "approle".into(),
        }
    }
}

/// The issuer of services' tokens, and how its tokens are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JwtConfig {
    /// What `iss` must be, to the byte.
    pub issuer: String,
    /// What `aud` must hold, to the byte.
    pub audience: String,
    /// Address of its keys; empty where they are in a file.
    pub jwks_url: String,
    /// File with its keys, in place of the address.
    pub jwks_file: Option<PathBuf>,
    /// The tenant of its callers, by id; empty for the first one.
    pub tenant: String,
    /// The claim with the role: a name, or a JSON pointer where it begins with a slash.
    pub role_claim: String,
    /// The claim with the profile that is pinned, in the same way; empty for none.
    pub profile_claim: String,
    /// The role of tokens without that claim; empty for none.
    pub default_role: String,
}

impl Default for JwtConfig {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            audience: String::new(),
            jwks_url: String::new(),
            jwks_file: None,
            tenant: String::new(),
            role_claim: "toolgate_role".into(),
            profile_claim: String::new(),
            default_role: String::new(),
        }
    }
}

/// The provider that people sign in with, and how what it claims of them is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcConfig {
    /// The issuer, to the byte; its discovery document is read.
    pub issuer: String,
    /// The gateway's name there.
    pub client_id: String,
    /// File with the gateway's secret there; none for a public client.
    pub client_secret_file: Option<PathBuf>,
    /// What people call it; empty for its host.
    pub name: String,
    /// Scopes asked for, beside `openid`; white space between.
    pub scopes: String,
    /// The claim with the role: a name, or a JSON pointer where it begins with a slash.
    pub role_claim: String,
    /// Rules `VALUE=ROLE` for values of that claim, the first that fits counts; none where values are roles.
    pub roles: Vec<String>,
    /// The role of people without that claim; empty for none.
    pub default_role: String,
    /// The tenant of its people, by id; empty for the first one.
    pub tenant: String,
    /// The profile that their sessions pin; empty for none.
    pub profile: String,
}

impl Default for OidcConfig {
    fn default() -> Self {
        Self {
            issuer: String::new(),
            client_id: String::new(),
            client_secret_file: None,
            name: String::new(),
            scopes: "openid".into(),
            role_claim: "toolgate_role".into(),
            roles: Vec::new(),
            default_role: String::new(),
            tenant: String::new(),
            profile: String::new(),
        }
    }
}

/// Limits on calls (`gateway.md` D4).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls a minute for one principal; also the burst.
    pub user_per_minute: u32,
    /// Calls a minute for one tenant; also the burst.
    pub tenant_per_minute: u32,
    /// Calls under way at once for one tenant.
    pub tenant_in_flight: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            user_per_minute: 60,
            tenant_per_minute: 300,
            tenant_in_flight: 64,
        }
    }
}
