//! Tenants, tokens and hosts put straight into a store that no gateway has open.
//!
//! There is no rpc that makes tenants yet; a second one is needed to show that they cannot see each other, and
//! thousands for measurements.

use std::path::Path;

use data_encoding::BASE64URL_NOPAD;
use ring::digest::{SHA256, digest};
use rusqlite::{Connection, params};
use toolgate_contract::ids::TenantId;

use crate::Role;

/// An open store.
#[derive(Debug)]
pub struct Seed {
    store: Connection,
}

impl Seed {
    /// Opens the store of a data directory whose gateway has stopped.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub fn open(data_dir: &Path) -> rusqlite::Result<Self> {
        let store = Connection::open(data_dir.join("toolgate.db"))?;
        store.execute_batch("begin immediate")?;
        Ok(Self { store })
    }

    /// Adds a tenant.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub fn tenant(&self, name: &str) -> rusqlite::Result<TenantId> {
        let tenant = TenantId::mint();
        self.store.execute(
            "insert into tenants (id, name, created_us) values (?1, ?2, 1)",
            params![tenant.as_str(), name],
        )?;
        Ok(tenant)
    }

    /// Adds a token of a tenant; `number` makes it another one. Gives the token.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub fn token(&self, tenant: &TenantId, name: &str, role: Role, number: u64) -> rusqlite::Result<String> {
        let token = token_of(tenant, number);
        self.store.execute(
            "insert into token (tenant_id, id, kind, name, role, hash, created_us) values (?1, ?2, 'api', ?3, ?4, ?5, 1)",
            params![
                tenant.as_str(),
                toolgate_contract::ids::TokenId::mint().to_string(),
                name,
                role.as_str(),
                digest(&SHA256, token.as_bytes()).as_ref()
            ],
        )?;
        Ok(token)
    }

    /// Adds a host of a tenant that no relay has enrolled for.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub fn host(&self, tenant: &TenantId, name: &str) -> rusqlite::Result<String> {
        let id = toolgate_contract::ids::TargetId::mint().to_string();
        self.store.execute(
            "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us)
             values (?1, ?2, 'ssh', ?3, '{}', '{}', 1, 1)",
            params![tenant.as_str(), id, name],
        )?;
        Ok(id)
    }

    /// Makes it all durable.
    ///
    /// # Errors
    /// Whatever SQLite says.
    pub fn finish(self) -> rusqlite::Result<()> {
        self.store.execute_batch("commit")
    }
}

/// The token that [`Seed::token`] makes from this number. Never random, never outside tests.
#[must_use]
pub fn token_of(tenant: &TenantId, number: u64) -> String {
    let secret = digest(&SHA256, format!("{tenant}/{number}").as_bytes());
    format!("tgk_{tenant}_{}", BASE64URL_NOPAD.encode(secret.as_ref()))
}
