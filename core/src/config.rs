//! What an operator can set about the core. Read and checked by the binary; here it only has its meaning.

use std::{path::PathBuf, time::Duration};

use crate::{
    anchor::AnchorConfig,
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
    /// Total time a target has to answer.
    pub upstream_timeout: Duration,
    /// The base URL that relays dial, as shown in enrolment commands.
    pub public_url: String,
    /// Starts although keys are lost that the database needs, with new ones.
    pub accept_lost_keys: bool,
    /// How checkpoints are signed, and where they go.
    pub checkpoint: AnchorConfig,
    /// The certificate of the gateway's own TLS, as enrolment commands name it to relays.
    pub ca_cert: Option<PathBuf>,
    /// Every host is answered for in process.
    #[cfg(feature = "conformance")]
    pub echo_hosts: bool,
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
            upstream_timeout: Duration::from_secs(10),
            public_url: "http://127.0.0.1:7600".into(),
            accept_lost_keys: false,
            checkpoint: AnchorConfig::default(),
            ca_cert: None,
            #[cfg(feature = "conformance")]
            echo_hosts: false,
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
