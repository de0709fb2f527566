//! From the pool into a transaction: BEGIN and the tenant in one round trip, and no connection that somebody left in a
//! state of its own.

use std::sync::Arc;

use deadpool_postgres::PoolError;
use futures::future::try_join;
use tokio::time::{Instant, timeout_at};

use super::{Mode, PostgresTx, door::Door, flow::Standing, line::Line};
use crate::store::{StoreError, scope::Scope};

/// Connections that broke unseen, as all do when the server restarts, are passed over so many times.
const TRIES: usize = 16;

const READ: &str = "begin isolation level repeatable read read only";
const WRITE: &str = "begin";
/// What a former user of the connection left, and the tenant of this one.
const ENTER: &str = "select current_setting('app.tenant', true), set_config('app.tenant', $1, true)";
/// The same for a writer, who takes turns with the other writers of its tenant, of other instances too: what it reads
/// before it writes stays true, as it does on the embedded store.
const ENTER_TO_WRITE: &str = "select current_setting('app.tenant', true), set_config('app.tenant', $1, true), \
    pg_advisory_xact_lock(7600, hashtext($1))";

impl Door {
    /// A connection within a transaction of its scope.
    pub(super) async fn check_out(
        &self,
        mode: Mode,
        scope: &Scope,
        until: Instant,
    ) -> Result<PostgresTx, StoreError> {
        for _ in 0..TRIES {
            let line = match timeout_at(until, self.pool.get()).await {
                Ok(Ok(object)) => Line::Pooled(object),
                Ok(Err(error)) => return Err(self.not_had(error)),
                Err(_) => return Err(StoreError::Timeout),
            };
            let mut tx = PostgresTx::of_door(line, scope.clone(), Arc::clone(&self.known), until);
            match tx.enter(mode).await {
                Ok(true) => return Ok(tx),
                // Dropped, it closes its connection.
                Ok(false) => tracing::error!("a database connection still named a tenant; it is closed"),
                Err(StoreError::Lost) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Lost)
    }

    fn not_had(&self, error: PoolError) -> StoreError {
        match error {
            PoolError::Backend(failure) => self.connector.refused(&failure),
            PoolError::Timeout(_) => StoreError::Timeout,
            PoolError::Closed => StoreError::Closed,
            other => StoreError::Engine(other.to_string()),
        }
    }
}

impl PostgresTx {
    /// Begins; false when the connection is not as it should be.
    async fn enter(&mut self, mode: Mode) -> Result<bool, StoreError> {
        let tenant = match self.scope() {
            Scope::Tenant(tenant) => tenant.as_str().to_owned(),
            Scope::Journal | Scope::Global => String::new(),
        };
        let (begin, enter) = match mode {
            Mode::Read => (READ, ENTER),
            Mode::Write if tenant.is_empty() => (WRITE, ENTER),
            Mode::Write => (WRITE, ENTER_TO_WRITE),
        };
        let statement = self.prepare(enter, 1).await?;
        let Self { line, flow, .. } = self;
        let client = line.as_ref().ok_or(StoreError::Lost)?;
        let entered = flow
            .ask(try_join(
                client.batch_execute(begin),
                client.query_one(&statement, &[&tenant]),
            ))
            .await;
        flow.now_stands(Standing::Doubt);
        let (_, row) = entered?;
        let left: Option<&str> = row.try_get(0).map_err(|_| StoreError::Column(0))?;
        if left.is_some_and(|tenant| !tenant.is_empty()) {
            return Ok(false);
        }
        flow.now_stands(Standing::Open);
        Ok(true)
    }
}
