//! Tenants, tokens and hosts put straight into a store, past every rule.
//!
//! There is no rpc that makes tenants yet; a second one is needed to show that they cannot see each other, and
//! thousands for measurements.

use std::fmt::Write as _;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use ring::digest::{SHA256, digest};
use rusqlite::Connection;
use toolgate_contract::ids::{TargetId, TenantId, TokenId};

use crate::{Role, Store};

/// What is to be put into a store.
#[derive(Debug)]
pub struct Seed {
    store: Store,
    statements: String,
}

impl Seed {
    /// For a store that no gateway uses at the time.
    #[must_use]
    pub fn of(store: Store) -> Self {
        Self {
            store,
            statements: String::new(),
        }
    }

    /// Adds a tenant.
    ///
    /// # Errors
    /// When the name cannot be quoted.
    pub fn tenant(&mut self, name: &str) -> Result<TenantId, String> {
        let tenant = TenantId::mint();
        let name = quoted(name)?;
        self.add(
            "tenants (id, name, created_us)",
            format_args!("'{tenant}', {name}, 1"),
        );
        Ok(tenant)
    }

    /// Adds a token of a tenant; `number` makes it another one. Gives the token.
    ///
    /// # Errors
    /// When the name cannot be quoted.
    pub fn token(
        &mut self,
        tenant: &TenantId,
        name: &str,
        role: Role,
        number: u64,
    ) -> Result<String, String> {
        let token = token_of(tenant, number);
        let hash = HEXLOWER.encode(digest(&SHA256, token.as_bytes()).as_ref());
        let hash = match self.store {
            Store::Sqlite(_) => format!("x'{hash}'"),
            Store::Postgres(_) => format!("'\\x{hash}'"),
        };
        let (id, role, name) = (TokenId::mint(), role.as_str(), quoted(name)?);
        self.add(
            "token (tenant_id, id, kind, name, role, hash, created_us)",
            format_args!("'{tenant}', '{id}', 'api', {name}, '{role}', {hash}, 1"),
        );
        Ok(token)
    }

    /// Adds a host of a tenant that no relay has enrolled for.
    ///
    /// # Errors
    /// When the name cannot be quoted.
    pub fn host(&mut self, tenant: &TenantId, name: &str) -> Result<String, String> {
        let id = TargetId::mint().to_string();
        let name = quoted(name)?;
        self.add(
            "target (tenant_id, id, type, name, config, validation, created_us, updated_us)",
            format_args!("'{tenant}', '{id}', 'ssh', {name}, '{{}}', '{{}}', 1, 1"),
        );
        Ok(id)
    }

    /// Makes it all durable, in one transaction.
    ///
    /// # Errors
    /// Whatever the store says.
    pub async fn finish(self) -> Result<(), String> {
        let statements = format!("begin;\n{}commit;", self.statements);
        match &self.store {
            Store::Sqlite(path) => Connection::open(path)
                .and_then(|store| store.execute_batch(&statements))
                .map_err(|error| error.to_string()),
            Store::Postgres(postgres) => {
                let statements = format!("set search_path = toolgate, audit; {statements}");
                postgres.database().execute(&statements).await
            }
        }
    }

    fn add(&mut self, table: &str, values: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.statements, "insert into {table} values ({values});");
    }
}

/// A text as SQL spells it.
fn quoted(text: &str) -> Result<String, String> {
    if text.contains(['\'', '\\', '\0']) {
        return Err(format!("{text:?} is no name for a test"));
    }
    Ok(format!("'{text}'"))
}

/// The token that [`Seed::token`] makes from this number. Never random, never outside tests.
#[must_use]
pub fn token_of(tenant: &TenantId, number: u64) -> String {
    let secret = digest(&SHA256, format!("{tenant}/{number}").as_bytes());
    format!("tgk_{tenant}_{}", BASE64URL_NOPAD.encode(secret.as_ref()))
}
