//! The one table that belongs to no tenant: who the tenants are, and how often their configuration changed.

use futures::future::BoxFuture;
use toolgate_contract::ids::TenantId;

use super::{Backend, Store, StoreError, Tx, params, scope::Scope, value::Row};

const LIST: &str = "select id, name, created_us, version from tenants order by id";
const FIND: &str = "select id, name, created_us, version from tenants where id = $1";
// Questions about rows of all tenants tell whose they are and how they are sealed, and nothing of what they say. On
// PostgreSQL, where no role of ours sees two tenants' rows at once, functions of the record answer them.
const OWNERS: &str = "select tenant_id from audit_head union select tenant_id from audit_event order by 1";
// Of each chain the first and the last row, by its key: a lost root shows there, and no table is read through.
const SEALED_WITH: &str = "select e.key_id from audit_head h join audit_event e \
    on e.tenant_id = h.tenant_id and e.seq = 1 \
    union select e.key_id from audit_head h join audit_event e \
    on e.tenant_id = h.tenant_id and e.seq = h.seq order by 1";
const OWNERS_OF_POSTGRES: &str = "select tenant_id from audit.owners()";
const SEALED_WITH_OF_POSTGRES: &str = "select key_id from audit.sealed_with()";
const FORGET_CLOSED: &str = "delete from intent_closed where tenant_id = $1 and closed_us < $2";
const FORGET_CLOSED_OF_POSTGRES: &str = "select audit.forget_closed($1, $2)";
// For the keeper of checkpoints: the ends of all chains, in one statement and therefore of one moment.
const HEADS: &str = "select tenant_id, seq, hash from audit_head order by tenant_id";
const HEADS_OF_POSTGRES: &str = "select tenant_id, seq, hash from audit.heads()";
const HASH_AT: &str = "select hash from audit_event where tenant_id = $1 and seq = $2";
const CREATE: &str = "insert into tenants (id, name, created_us, version) values ($1, $2, $3, 0)";
const CHANGED: &str = "update tenants set version = version + 1 where id = $1";

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its id.
    pub id: TenantId,
    /// Its name.
    pub name: String,
    /// When it was made, microseconds UTC.
    pub created_us: i64,
    /// Grows with every change of its configuration; other instances poll it.
    pub version: i64,
}

/// The end of a chain, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHead {
    /// Whose; need not be a tenant's id.
    pub tenant_id: String,
    /// Place and hash of the last row; `None` where what is stored is neither.
    pub end: Option<(i64, [u8; 32])>,
}

impl Store {
    /// The ends of all chains at one moment, in the order of the tenants' ids. Nothing of what rows say.
    pub async fn heads(&self) -> Result<Vec<StoredHead>, StoreError> {
        let rows = self
            .read_global(|tx| Box::pin(async move { tx.query(tx.twin(HEADS, HEADS_OF_POSTGRES), &[]).await }))
            .await?;
        rows.iter().map(stored_head).collect()
    }

    /// The hash of the row at this place of a tenant's chain; `None` where there is no row, or no hash in it.
    pub async fn hash_at(&self, tenant: &TenantId, seq: i64) -> Result<Option<[u8; 32]>, StoreError> {
        let id = tenant.clone();
        self.with_tenant_read(tenant, move |tx| {
            Box::pin(async move {
                let row = tx.query_opt(HASH_AT, params![&id, seq]).await?;
                Ok(row.and_then(|row| row.array(0).ok()))
            })
        })
        .await
    }

    /// All tenants, the reserved `system` among them.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        let rows = self
            .read_global(|tx| Box::pin(async move { tx.query(LIST, &[]).await }))
            .await?;
        rows.iter().map(tenant).collect()
    }

    /// One tenant.
    pub async fn tenant(&self, id: &TenantId) -> Result<Option<Tenant>, StoreError> {
        let id = id.clone();
        let row = self
            .read_global(move |tx| Box::pin(async move { tx.query_opt(FIND, params![&id]).await }))
            .await?;
        row.as_ref().map(tenant).transpose()
    }

    /// Every id under which the record has rows or a head, tenant or not. Reads all rows' keys: for verifiers.
    pub async fn owners_of_rows(&self) -> Result<Vec<String>, StoreError> {
        let rows = self
            .read_global(|tx| {
                Box::pin(async move { tx.query(tx.twin(OWNERS, OWNERS_OF_POSTGRES), &[]).await })
            })
            .await?;
        rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
    }

    /// Ids of the root keys that the first and the last row of every chain were sealed with.
    pub async fn sealed_with(&self) -> Result<Vec<String>, StoreError> {
        let rows = self
            .read_global(|tx| {
                Box::pin(async move { tx.query(tx.twin(SEALED_WITH, SEALED_WITH_OF_POSTGRES), &[]).await })
            })
            .await?;
        // What is no text names no key; verifying tells of it.
        let ids = rows.iter().filter_map(|row| row.text(0).ok());
        Ok(ids.map(str::to_owned).collect())
    }

    async fn read_global<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> BoxFuture<'t, Result<T, StoreError>> + Send + 'static,
    {
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.read(Scope::Global, work).await,
            Backend::Postgres(postgres) => postgres.read(Scope::Global, work).await,
        }
    }
}

impl Tx {
    /// Makes the tenant this transaction belongs to. [`StoreError::Duplicate`] where it is there already.
    pub async fn create_tenant(&mut self, name: &str, created_us: i64) -> Result<(), StoreError> {
        let id = self.own_tenant()?;
        self.execute_unscoped(CREATE, params![&id, name, created_us])
            .await?;
        Ok(())
    }

    /// Tells other instances that this tenant's configuration changed. The journal does it with every change it
    /// records.
    pub async fn bump_version(&mut self) -> Result<(), StoreError> {
        let id = self.own_tenant()?;
        self.execute_unscoped(CHANGED, params![&id]).await?;
        Ok(())
    }

    /// Forgets this tenant's closed reads of before `before_us`.
    pub(crate) async fn forget_closed(&mut self, before_us: i64) -> Result<(), StoreError> {
        let id = self.own_tenant()?;
        let sql = self.twin(FORGET_CLOSED, FORGET_CLOSED_OF_POSTGRES);
        self.execute_unscoped(sql, params![&id, before_us]).await?;
        Ok(())
    }

    /// The one of two statements that this back end takes: a split stands only where it must, beside its twin.
    fn twin(&self, embedded: &'static str, postgres: &'static str) -> &'static str {
        match self {
            Self::Sqlite(_) => embedded,
            Self::Postgres(_) => postgres,
        }
    }

    fn own_tenant(&self) -> Result<TenantId, StoreError> {
        self.tenant().cloned().ok_or(StoreError::Unscoped(CREATE))
    }
}

fn stored_head(row: &Row) -> Result<StoredHead, StoreError> {
    Ok(StoredHead {
        tenant_id: row.text(0)?.to_owned(),
        end: row.int(1).ok().zip(row.array(2).ok()),
    })
}

fn tenant(row: &Row) -> Result<Tenant, StoreError> {
    Ok(Tenant {
        id: row.parse(0)?,
        name: row.text(1)?.to_owned(),
        created_us: row.int(2)?,
        version: row.int(3)?,
    })
}
