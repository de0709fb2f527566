//! Where state lives: the doors to it, the statements' values, the migrations.
//!
//! Nothing reaches the data but through a door: [`Store::with_tenant`], [`Store::with_tenant_read`], the journal's own,
//! and the one for `tenants`, the only table that belongs to nobody. Each statement is written once, in portable SQL
//! with `$n` placeholders, and names its tenant in `$1`. This room holds no rules about what is stored, and no
//! connection is ever held while something else is awaited.

mod config;
mod error;
mod lent;
mod migrations;
pub(crate) mod postgres;
mod scope;
mod sqlite;
#[cfg(test)]
pub(crate) mod suite;
mod tenants;
mod tx;
mod value;

use futures::future::BoxFuture;
use toolgate_contract::ids::TenantId;

pub use self::{
    config::{DatabaseUrl, DatabaseUrlError, StoreConfig, StorePlace},
    error::StoreError,
    lent::{Cell, LentRow},
    postgres::schema,
    tenants::{StoredHead, Tenant},
    tx::Tx,
    value::{Param, Row, Value},
};
use self::{postgres::Postgres, scope::Scope, sqlite::Sqlite};

/// Handle to the store. Clones share it; the last one dropped closes it.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Backend,
}

/// The back ends.
#[derive(Debug, Clone)]
enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    /// Opens the store. The embedded one brings its schema up to date; PostgreSQL's must be, which is an admin's work.
    pub async fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let backend = match config.place.clone() {
            StorePlace::File(path) => Backend::Sqlite(Sqlite::open(path, config).await?),
            StorePlace::Server(url) => Backend::Postgres(Postgres::open(*url, config).await?),
        };
        Ok(Self { backend })
    }

    /// Runs `work` for one tenant in one write transaction: committed when it gives `Ok`, else rolled back.
    ///
    /// A caller that is gone before the commit leaves nothing behind. Awaiting anything but the [`Tx`] inside `work`
    /// fails at once.
    pub async fn with_tenant<T, E, F>(&self, tenant: &TenantId, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        match &self.backend {
            Backend::Sqlite(sqlite) => {
                sqlite
                    .write(Scope::Tenant(tenant.clone()), IfGone::RollBack, work)
                    .await
            }
            Backend::Postgres(postgres) => {
                postgres
                    .write(Scope::Tenant(tenant.clone()), IfGone::RollBack, work)
                    .await
            }
        }
    }

    /// Runs `work` for one tenant on one snapshot, without the right to write.
    pub async fn with_tenant_read<T, E, F>(&self, tenant: &TenantId, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.read(Scope::Tenant(tenant.clone()), work).await,
            Backend::Postgres(postgres) => postgres.read(Scope::Tenant(tenant.clone()), work).await,
        }
    }

    /// Says whether what is written now will be there at the next start.
    pub fn in_place(&self) -> Result<(), StoreError> {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.in_place(),
            // Whoever drops the database ends its sessions first.
            Backend::Postgres(_) => Ok(()),
        }
    }

    /// Says whether the store answers, to readers and to the writer.
    pub async fn check(&self) -> Result<(), StoreError> {
        const ALIVE: &str = "select at_us from health where id = 1";
        fn ask(tx: &mut Tx) -> BoxFuture<'_, Result<(), StoreError>> {
            Box::pin(async move { tx.query(ALIVE, &[]).await.map(drop) })
        }
        self.in_place()?;
        match &self.backend {
            Backend::Sqlite(sqlite) => {
                sqlite.read(Scope::Global, ask).await?;
                sqlite.write(Scope::Global, IfGone::RollBack, ask).await
            }
            Backend::Postgres(postgres) => {
                // Together, so that a server that does not answer is told of within one deadline.
                let reading = postgres.read(Scope::Global, ask);
                let writing = postgres.write(Scope::Global, IfGone::RollBack, ask);
                futures::future::try_join(reading, writing).await.map(drop)
            }
        }
    }

    /// Like [`Store::with_tenant`], but carried out although its caller vanished. Only the journal asks for this.
    pub(crate) async fn with_tenant_to_the_end<T, E, F>(&self, tenant: &TenantId, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, E>> + Send + 'static,
    {
        match &self.backend {
            Backend::Sqlite(sqlite) => {
                sqlite
                    .write(Scope::Tenant(tenant.clone()), IfGone::CarryOn, work)
                    .await
            }
            Backend::Postgres(postgres) => {
                postgres
                    .write(Scope::Tenant(tenant.clone()), IfGone::CarryOn, work)
                    .await
            }
        }
    }

    /// Lends the write connection to the journal, which begins and commits by itself and serves all tenants. Does not
    /// wait, and is never refused for want of room: the journal asks for one loan at a time.
    pub(crate) fn lend_to_journal<F>(&self, work: F) -> Result<(), StoreError>
    where
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, ()> + Send + 'static,
    {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.lend(work),
            Backend::Postgres(postgres) => postgres.lend(work),
        }
    }

    /// What is left when the thread of the writer is gone.
    #[cfg(test)]
    pub(crate) fn abandon_writer(&self) {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.abandon_writer(),
            Backend::Postgres(_) => {}
        }
    }
}

/// What becomes of a write whose caller is gone before its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfGone {
    RollBack,
    CarryOn,
}

/// Values of a statement's placeholders: `params![tenant, 7, "name"]`.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::store::Param::from($value)),*] };
}
pub(crate) use params;

#[cfg(test)]
mod tests;
