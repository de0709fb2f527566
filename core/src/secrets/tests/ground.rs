//! A provider that does as told, and a room over a real store.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use toolgate_test_postgres::{Cluster, Database};

use super::super::{give::reference_of, *};
use toolgate_contract::ids::TargetId;

use crate::store::{Store, StoreConfig, StoreError, params, schema};

/// What the provider does.
#[derive(Debug, Clone)]
pub(super) enum Does {
    /// Gives the tenant's name and a text.
    Give(&'static str),
    Fail(Fault),
    Hang,
    Panic,
}

/// A provider that does as told, counts its fetches and can hold them back.
#[derive(Debug)]
pub(super) struct Elsewhere {
    pub(super) does: Mutex<Does>,
    pub(super) fetches: AtomicUsize,
    /// One permit lets one fetch through.
    pub(super) gate: Semaphore,
}

impl Elsewhere {
    pub(super) fn new(does: Does, permits: usize) -> Arc<Self> {
        Arc::new(Self {
            does: Mutex::new(does),
            fetches: AtomicUsize::new(0),
            gate: Semaphore::new(permits),
        })
    }

    pub(super) fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    pub(super) fn set(&self, does: Does) {
        *self.does.lock().unwrap() = does;
    }
}

impl SecretProvider for Elsewhere {
    fn fetch<'a>(
        &'a self,
        tenant: &'a TenantId,
        _: &'a SecretRef,
    ) -> BoxFuture<'a, Result<SecretValue, Fault>> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            let does = self.does.lock().unwrap().clone();
            match does {
                Does::Give(text) => Ok(SecretValue::new(format!("{tenant} {text}").as_bytes()).unwrap()),
                Does::Fail(fault) => Err(fault),
                Does::Hang => std::future::pending().await,
                Does::Panic => panic!("a provider that panics"),
            }
        })
    }
}

pub(super) const MANY: usize = 1 << 20;

/// A room with a stand-in for every provider, on a clock that is moved by hand.
pub(super) struct Front {
    pub(super) secrets: Secrets,
    pub(super) provider: Arc<Elsewhere>,
    pub(super) clock: Clock,
    pub(super) tenant: TenantId,
    _dir: TempDir,
}

impl Front {
    pub(super) async fn new(does: Does, permits: usize) -> Self {
        let ground = Ground::new().await;
        let provider = Elsewhere::new(does, permits);
        let room = Room {
            providers: Providers {
                local: ground.local.clone(),
                aws: None,
                vault: None,
                process: None,
            },
            stand_in: Some(Arc::clone(&provider) as _),
            table: Mutex::new(Table::new(AGES)),
            keys: Arc::clone(&ground.keys),
            clock: ground.clock.clone(),
            total: TOTAL,
            tasks: TaskTracker::new(),
        };
        Self {
            secrets: Secrets(Arc::new(room)),
            provider,
            clock: ground.clock,
            tenant: ground.tenant,
            _dir: ground.dir,
        }
    }

    pub(super) async fn lend(&self) -> Result<Lease, Fault> {
        let reference = SecretRef::aws("name").unwrap();
        self.secrets
            .lend(&self.tenant, &reference)
            .await
            .map_err(|error| error.fault)
    }

    pub(super) fn text(&self, lease: &Lease) -> String {
        let text = String::from_utf8(lease.value().reveal().to_vec()).unwrap();
        text.strip_prefix(&format!("{} ", self.tenant))
            .unwrap()
            .to_owned()
    }
}

/// A real store with one tenant and one target, its keys, and the local provider over both.
pub(super) struct Ground {
    pub(super) dir: TempDir,
    pub(super) store: Store,
    pub(super) keys: Arc<Keyring>,
    pub(super) clock: Clock,
    pub(super) local: Local,
    pub(super) secrets: Secrets,
    pub(super) tenant: TenantId,
    pub(super) target: TargetId,
    database: Option<Database>,
}

const TARGET: &str = "insert into target (tenant_id, id, type, name, config, validation, created_us, updated_us) \
     values ($1, $2, 'ssh', $3, '{}', '{}', 0, 0)";

impl Ground {
    pub(super) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
            .await
            .unwrap();
        Self::over(dir, store).await
    }

    /// The same on PostgreSQL, signed in as the gateway; `None` where there is no server to test with.
    pub(super) async fn on_postgres(test: &str) -> Option<Self> {
        if !toolgate_test_postgres::available(test) {
            return None;
        }
        let database = Cluster::shared().await.database().await;
        schema::migrate(&database.admin_url().parse().unwrap(), None)
            .await
            .unwrap();
        let config = StoreConfig {
            // The shared server of the tests flushes nothing.
            insist_on_durability: false,
            ..StoreConfig::postgres(database.url_as("toolgate_app").parse().unwrap())
        };
        let store = Store::open(config).await.unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut ground = Self::over(dir, store).await;
        ground.database = Some(database);
        Some(ground)
    }

    async fn over(dir: TempDir, store: Store) -> Self {
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let clock = Clock::manual(1_000_000);
        let mut ground = Self {
            local: Local::new(store.clone(), Arc::clone(&keys)),
            secrets: Secrets::local_only(store.clone(), Arc::clone(&keys), clock.clone()),
            dir,
            store,
            keys,
            clock,
            tenant: TenantId::mint(),
            target: TargetId::mint(),
            database: None,
        };
        (ground.tenant, ground.target) = ground.tenant_with_target().await;
        ground
    }

    pub(super) async fn tenant_with_target(&self) -> (TenantId, TargetId) {
        let tenant = TenantId::mint();
        self.store
            .with_tenant(&tenant, |tx| {
                Box::pin(async move { tx.create_tenant("acme", 0).await })
            })
            .await
            .unwrap();
        let target = self.target(&tenant).await;
        (tenant, target)
    }

    pub(super) async fn target(&self, tenant: &TenantId) -> TargetId {
        let (owner, target) = (tenant.clone(), TargetId::mint());
        let made: Result<u64, StoreError> = self
            .store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move {
                    let name = target.to_string();
                    tx.execute(TARGET, params![&owner, target, &name]).await
                })
            })
            .await;
        made.unwrap();
        target
    }

    /// Gives the target this credential and says which reference it has then.
    pub(super) async fn give(&self, text: &str) -> SecretRef {
        self.give_to(&self.tenant, self.target, text).await
    }

    pub(super) async fn give_to(&self, tenant: &TenantId, target: TargetId, text: &str) -> SecretRef {
        let value = SecretValue::new(text.as_bytes()).unwrap();
        self.credential(tenant, target, Credential::Value(value))
            .await
            .unwrap();
        self.reference(tenant, target).await.unwrap()
    }

    pub(super) async fn credential(
        &self,
        tenant: &TenantId,
        target: TargetId,
        credential: Credential,
    ) -> Result<HashedId, PutError> {
        let (secrets, owner) = (self.secrets.clone(), tenant.clone());
        self.store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move { secrets.give(tx, &owner, target, credential).await })
            })
            .await
    }

    pub(super) async fn reference(&self, tenant: &TenantId, target: TargetId) -> Option<SecretRef> {
        let owner = tenant.clone();
        let found: Result<_, StoreError> = self
            .store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { reference_of(tx, &owner, target).await })
            })
            .await;
        found.unwrap().flatten()
    }

    /// What the provider itself gives, past the cache.
    pub(super) async fn fetch(&self, tenant: &TenantId, reference: &SecretRef) -> Result<String, Fault> {
        let value = self.local.fetch(tenant, reference).await?;
        Ok(String::from_utf8(value.reveal().to_vec()).unwrap())
    }

    /// The rows of a statement with the tenant as its only value.
    pub(super) async fn rows(&self, tenant: &TenantId, sql: &'static str) -> Vec<crate::store::Row> {
        let owner = tenant.clone();
        let found: Result<_, StoreError> = self
            .store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&owner]).await })
            })
            .await;
        found.unwrap()
    }

    /// Runs a statement as someone who can write the database and has no key.
    pub(super) async fn tamper(&self, tenant: &TenantId, sql: &'static str) {
        let owner = tenant.clone();
        let done: Result<u64, StoreError> = self
            .store
            .with_tenant(tenant, move |tx| {
                Box::pin(async move { tx.execute(sql, params![&owner]).await })
            })
            .await;
        assert!(done.unwrap() > 0, "{sql}");
    }
}
