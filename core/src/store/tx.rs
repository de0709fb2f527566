//! One transaction, as its work sees it.

use std::ops::ControlFlow;

use toolgate_contract::ids::TenantId;

use super::{
    LentRow, Param, Row, StoreError,
    postgres::PostgresTx,
    scope::Scope,
    sqlite::{Mode, SqliteTx},
};

/// One transaction. Statements are `&'static str`: none is ever put together from parts.
#[derive(Debug)]
pub enum Tx {
    /// On the embedded store.
    Sqlite(SqliteTx),
    /// On PostgreSQL.
    Postgres(PostgresTx),
}

impl Tx {
    /// The tenant of this transaction; `None` in the doors that belong to no tenant.
    #[must_use]
    pub fn tenant(&self) -> Option<&TenantId> {
        match self.scope() {
            Scope::Tenant(tenant) => Some(tenant),
            Scope::Journal | Scope::Global => None,
        }
    }

    /// Runs a statement; says how many rows it touched.
    pub async fn execute(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(tx) => tx.execute(sql, params),
            Self::Postgres(tx) => tx.execute(sql, params).await,
        }
    }

    /// Runs a statement and gives its rows. Whoever asks bounds them with `limit`.
    pub async fn query(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        match self {
            Self::Sqlite(tx) => tx.query(sql, params),
            Self::Postgres(tx) => tx.query(sql, params).await,
        }
    }

    /// Runs a statement and lends its rows to `take`, one after the other, until that breaks off. No value is copied.
    pub async fn lend_rows(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        take: &mut (dyn FnMut(&LentRow<'_>) -> ControlFlow<()> + Send),
    ) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.lend_rows(sql, params, take),
            Self::Postgres(tx) => tx.lend_rows(sql, params, take).await,
        }
    }

    /// Runs a statement and gives its first row.
    pub async fn query_opt(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    fn scope(&self) -> &Scope {
        match self {
            Self::Sqlite(tx) => tx.scope(),
            Self::Postgres(tx) => tx.scope(),
        }
    }

    pub(super) async fn execute_unscoped(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(tx) => tx.execute_unscoped(sql, params),
            Self::Postgres(tx) => tx.execute_unscoped(sql, params).await,
        }
    }

    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.begin(Mode::Write),
            Self::Postgres(tx) => tx.begin().await,
        }
    }

    pub(crate) async fn commit(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.commit(),
            Self::Postgres(tx) => tx.commit().await,
        }
    }

    pub(crate) async fn rollback(&mut self) {
        match self {
            Self::Sqlite(tx) => tx.rollback(),
            Self::Postgres(tx) => tx.rollback().await,
        }
    }

    /// False when the engine has ended the transaction by itself, as SQLite does when the disk is full and PostgreSQL at
    /// every statement that fails.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Sqlite(tx) => tx.is_open(),
            Self::Postgres(tx) => tx.is_open(),
        }
    }
}
