//! A real store of either kind with tenants and their chains, a keeper over it, and a way past the store's guards.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::Connection;
use tempfile::TempDir;
use toolgate_contract::ids::{EventId, TenantId};
use toolgate_test_postgres::{Cluster, Database};

use crate::{
    anchor::{
        Alarm, Progress, Survey, Witness, WitnessFault,
        keeper::{Desk, Keeper, Pulse, RoundError, Wish},
        public_keys, survey,
    },
    audit::{Event, EventKind, Outcome, Sealer},
    clock::Clock,
    journal::Journal,
    keys::Keyring,
    store::{Row, Store, StoreConfig, StoreError, params, schema},
};

/// Which back end a test is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Back {
    Embedded,
    Postgres,
}

const NEW_YEAR_US: i64 = 1_767_225_600_000_000;
pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 3600);

pub(super) struct World {
    pub(super) dir: TempDir,
    pub(super) store: Store,
    pub(super) clock: Clock,
    /// In the order of their ids.
    pub(super) tenants: Vec<TenantId>,
    pub(super) keys: Arc<Keyring>,
    database: Option<Database>,
    journal: Journal,
    keeper: Option<Keeper>,
    alarms: Option<tokio::sync::mpsc::Receiver<Alarm>>,
}

impl World {
    /// Tenants with one row each.
    pub(super) async fn new(back: Back, tenants: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NEW_YEAR_US);
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let database = match back {
            Back::Embedded => None,
            Back::Postgres => Some(database().await),
        };
        let store = open(&dir, database.as_ref()).await;
        let journal = Journal::start(store.clone(), Sealer::new(Arc::clone(&keys)), clock.clone());
        let mut world = Self {
            tenants: (0..tenants).map(|_| TenantId::mint()).collect(),
            keeper: None,
            alarms: None,
            dir,
            store,
            clock,
            keys,
            database,
            journal,
        };
        for tenant in &world.tenants {
            let made: Result<(), StoreError> = world
                .store
                .with_tenant(tenant, |tx| {
                    Box::pin(async move { tx.create_tenant("acme", 0).await })
                })
                .await;
            made.unwrap();
        }
        let first = world
            .tenants
            .iter()
            .map(|tenant| world.journal.record(tenant, event()));
        for receipt in futures::future::join_all(first).await {
            receipt.unwrap();
        }
        world.reopen();
        world
    }

    pub(super) fn id(&self, tenant: usize) -> String {
        self.tenants[tenant].to_string()
    }

    /// Commits so many rows.
    pub(super) async fn rows(&self, tenant: usize, rows: usize) {
        let rows = (0..rows).map(|_| self.journal.record(&self.tenants[tenant], event()));
        for receipt in futures::future::join_all(rows).await {
            receipt.unwrap();
        }
    }

    pub(super) fn progress(&self) -> Arc<Progress> {
        self.journal.progress()
    }

    pub(super) async fn round(&mut self, wish: Wish) -> Result<(), RoundError> {
        self.keeper.as_mut().unwrap().round(wish).await
    }

    pub(super) fn take_keeper(&mut self) -> Keeper {
        self.keeper.take().unwrap()
    }

    /// Whether this tenant is alarmed.
    pub(super) fn is_alarmed(&self, tenant: usize) -> bool {
        let desk = self.keeper.as_ref().unwrap().desk.as_ref().unwrap();
        desk.is_alarmed(self.tenants[tenant].as_str())
    }

    /// The next alarm that was raised.
    pub(super) fn alarm(&mut self) -> Option<Alarm> {
        self.alarms.as_mut().unwrap().try_recv().ok()
    }

    /// As after a restart: a keeper that knows only what the files say.
    pub(super) fn reopen(&mut self) {
        self.keeper = None;
        let desk = Desk::open(self.dir.path(), self.clock.clone(), false).unwrap();
        let (alarm, alarms) = tokio::sync::mpsc::channel(64);
        let pulse = Arc::new(Pulse::new(self.clock.monotonic(), MINUTE));
        self.keeper = Some(Keeper::new(
            desk,
            self.dir.path().to_owned(),
            self.store.clone(),
            self.clock.clone(),
            self.journal.progress(),
            pulse,
            alarm,
        ));
        self.alarms = Some(alarms);
    }

    pub(super) fn folder(&self) -> PathBuf {
        crate::anchor::folder(self.dir.path())
    }

    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(self.folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("20"))
            .collect();
        files.sort_unstable();
        files
    }

    pub(super) fn lines(&self) -> Vec<String> {
        let texts = self
            .files()
            .into_iter()
            .map(|file| fs::read_to_string(file).unwrap());
        texts
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    pub(super) fn survey(&self) -> Result<Survey, WitnessFault> {
        survey(&self.folder(), &public_keys(&self.folder()).unwrap())
    }

    /// What the checkpoints say of a tenant's chain as it lies in the store.
    pub(super) async fn compare(&self, tenant: usize) -> String {
        const ROWS: &str = "select seq, hash from audit_event where tenant_id = $1 order by seq";
        let keys = Arc::new(public_keys(&self.folder()).unwrap());
        let id = self.id(tenant);
        let owner = self.tenants[tenant].clone();
        let rows: Result<_, StoreError> = self
            .store
            .with_tenant_read(&self.tenants[tenant], move |tx| {
                Box::pin(async move { tx.query(ROWS, params![&owner]).await })
            })
            .await;
        let rows = rows.unwrap();
        let row = |row: &Row| (row.int(0).unwrap(), row.blob(1).unwrap().to_vec());
        let rows: BTreeMap<i64, Vec<u8>> = rows.iter().map(row).collect();
        let last = rows.last_key_value().map_or(0, |(seq, _)| *seq);
        let mut met = 0;
        for said in Witness::open(&self.folder(), keys, &id).unwrap() {
            match said {
                Err(fault) => return fault.to_string(),
                Ok(said) if said.seq > last => return format!("truncated {last} of {}", said.seq),
                Ok(said) if rows[&said.seq] != said.hash => return format!("fork {}", said.seq),
                Ok(said) => met = said.seq,
            }
        }
        format!("met {met}")
    }

    /// Runs SQL as somebody does who holds the database: past its guards. Bytes are written `x'…'`.
    pub(super) async fn tamper(&self, sql: &str) {
        match &self.database {
            None => tamper_with_file(self.dir.path(), sql),
            Some(database) => {
                let sql = sql.replace("x'", "'\\x");
                let past = format!(
                    "set session_replication_role = replica; set search_path = audit, toolgate; {sql}"
                );
                database.execute(&past).await.unwrap();
            }
        }
    }
}

fn tamper_with_file(dir: &Path, sql: &str) {
    let connection = Connection::open(dir.join("toolgate.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    let guards: Vec<String> = connection
        .prepare("select name from sqlite_master where type = 'trigger'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for guard in guards {
        connection
            .execute_batch(&format!("drop trigger {guard}"))
            .unwrap();
    }
    connection.execute_batch(sql).unwrap();
}

async fn database() -> Database {
    let database = Cluster::shared().await.database().await;
    let admin = database.admin_url().parse().unwrap();
    schema::migrate(&admin, None).await.unwrap();
    database
}

async fn open(dir: &TempDir, database: Option<&Database>) -> Store {
    let config = match database {
        None => StoreConfig::sqlite(dir.path().join("toolgate.db")),
        Some(database) => StoreConfig {
            // The shared server of the tests flushes nothing.
            insist_on_durability: false,
            ..StoreConfig::postgres(database.url_as("toolgate_app").parse().unwrap())
        },
    };
    Store::open(config).await.unwrap()
}

pub(super) fn event() -> Event {
    Event {
        id: EventId::mint(),
        kind: EventKind::CapabilityInvoked,
        time_us: NEW_YEAR_US,
        principal: "anna".into(),
        role: "engineer".into(),
        facade: "rest".into(),
        adapter_type: "ssh".into(),
        target_id: None,
        capability: "ssh.run_whitelisted_command".into(),
        params_hash: None,
        result: Outcome::Success,
        reason: String::new(),
        duration_ms: 1,
        correlation_id: None,
        detail: String::new(),
    }
}
