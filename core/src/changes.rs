//! The one door for changes of what a tenant has: the change, its rows on the record, and the snapshot calls read.
//!
//! Change and rows are one transaction; a change that turns out to change nothing leaves no row. After the commit the
//! snapshot is read anew, so the next call sees the change; a maker that vanishes changes nothing of this. Rooms that change things have no other way to the store.

use futures::future::BoxFuture;
use serde_json::Value;
use tokio_util::task::TaskTracker;
use toolgate_contract::ids::{EventId, TargetId, TenantId};

use crate::{
    audit::{Event, EventKind, Outcome},
    clock::Clock,
    error::Error,
    journal::Journal,
    snapshot::Snapshots,
    store::{Store, StoreError, Tx},
};

/// Who makes a change, as the record says it.
#[derive(Debug, Clone)]
pub struct By {
    /// Whose record it goes on.
    pub tenant: TenantId,
    /// The principal's name; empty where there is none.
    pub principal: String,
    /// The principal's role; empty where there is none.
    pub role: &'static str,
    /// The dialect it came by.
    pub facade: &'static str,
}

impl By {
    /// The gateway itself, at start or on behalf of a relay.
    #[must_use]
    pub fn gateway(tenant: TenantId) -> Self {
        Self {
            tenant,
            principal: String::new(),
            role: "",
            facade: "system",
        }
    }
}

/// What a change was, for the record.
#[derive(Debug)]
pub struct Fact {
    kind: EventKind,
    target: Option<(&'static str, TargetId)>,
    detail: Value,
}

impl Fact {
    /// A fact of this kind; `detail` is a JSON object without credentials.
    #[must_use]
    pub fn new(kind: EventKind, detail: Value) -> Self {
        Self {
            kind,
            target: None,
            detail,
        }
    }

    /// About a target of this adapter type.
    #[must_use]
    pub fn about(self, adapter: &'static str, target: TargetId) -> Self {
        Self {
            target: Some((adapter, target)),
            ..self
        }
    }

    fn event(&self, by: &By, time_us: i64) -> Event {
        Event {
            id: EventId::mint(),
            kind: self.kind,
            time_us,
            principal: by.principal.clone(),
            role: by.role.to_owned(),
            facade: by.facade.to_owned(),
            adapter_type: self.target.map_or("", |(adapter, _)| adapter).to_owned(),
            target_id: self.target.map(|(_, target)| target),
            capability: String::new(),
            params_hash: None,
            result: Outcome::Success,
            reason: String::new(),
            duration_ms: 0,
            correlation_id: None,
            detail: self.detail.to_string(),
        }
    }
}

/// What a change gives its maker, and what the record will say of it.
pub type Changed<T> = (T, Vec<Fact>);

/// The door. Clones share it.
#[derive(Debug, Clone)]
pub struct Changes {
    store: Store,
    journal: Journal,
    snapshots: Snapshots,
    clock: Clock,
    tasks: TaskTracker,
}

impl Changes {
    /// Over the rooms below; changes under way are owned by `tasks`.
    #[must_use]
    pub fn new(
        store: Store,
        journal: Journal,
        snapshots: Snapshots,
        clock: Clock,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            store,
            journal,
            snapshots,
            clock,
            tasks,
        }
    }

    /// Carries out a change with its rows in one transaction. No facts means that nothing changed.
    pub async fn make<T, W>(&self, by: By, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<Changed<T>, Error>> + Send + 'static,
    {
        self.make_then(by, work, || {}).await
    }

    /// Like [`Changes::make`]; `then` runs once the change is durable, although its maker vanished.
    pub async fn make_then<T, W, A>(&self, by: By, work: W, then: A) -> Result<T, Error>
    where
        T: Send + 'static,
        W: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<Changed<T>, Error>> + Send + 'static,
        A: FnOnce() + Send + 'static,
    {
        let door = self.clone();
        let carried = self.tasks.spawn(async move {
            let (tenant, time_us) = (by.tenant.clone(), door.now_us());
            let rows =
                move |(_, facts): &Changed<T>| facts.iter().map(|fact| fact.event(&by, time_us)).collect();
            let (value, facts) = door.journal.with_rows(&tenant, work, rows).await?;
            then();
            if !facts.is_empty() {
                door.show(&tenant).await;
            }
            Ok(value)
        });
        carried.await.unwrap_or_else(|lost| Err(Error::internal(lost)))
    }

    /// Reads what one tenant has.
    pub async fn read<T, W>(&self, tenant: &TenantId, work: W) -> Result<T, Error>
    where
        T: Send + 'static,
        W: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        Ok(self.store.with_tenant_read(tenant, work).await?)
    }

    /// The tenant that this installation was started with: the oldest that a gateway made, else that of a process that
    /// stood alone.
    pub async fn home_tenant(&self) -> Result<Option<TenantId>, Error> {
        let tenants = self.store.tenants().await?;
        let home = tenants
            .into_iter()
            .filter(|t| t.id != TenantId::system())
            .min_by_key(|t| (t.id == TenantId::local(), t.created_us));
        Ok(home.map(|tenant| tenant.id))
    }

    /// Whether there is this tenant.
    pub async fn has_tenant(&self, id: &TenantId) -> Result<bool, Error> {
        Ok(self.store.tenants().await?.iter().any(|tenant| tenant.id == *id))
    }

    /// Microseconds since 1970, UTC.
    #[must_use]
    pub fn now_us(&self) -> i64 {
        self.clock.wall_us()
    }

    // The change stands whatever comes of this: housekeeping sees the version and reads again within a second.
    async fn show(&self, tenant: &TenantId) {
        if let Err(error) = self.snapshots.refresh(tenant).await {
            tracing::warn!(%tenant, %error, "a change is not seen by calls yet");
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
