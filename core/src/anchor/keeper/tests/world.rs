//! A real store with tenants and their chains, a keeper over it, and a way past the store's guards.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use rusqlite::Connection;
use tempfile::TempDir;
use toolgate_contract::ids::{EventId, TenantId};

use crate::{
    anchor::{
        Alarm, Comparison, Progress, Survey, Witness, WitnessFault,
        keeper::{Desk, Keeper, Pulse, RoundError, Wish},
        public_keys, survey,
    },
    audit::{Event, EventKind, Outcome, Sealer},
    clock::Clock,
    journal::Journal,
    keys::Keyring,
    store::{Store, StoreConfig, StoreError},
};

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
    journal: Journal,
    keeper: Option<Keeper>,
    alarms: Option<tokio::sync::mpsc::Receiver<Alarm>>,
}

impl World {
    /// Tenants with one row each.
    pub(super) async fn new(tenants: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(NEW_YEAR_US);
        let keys = Arc::new(Keyring::open(dir.path()).unwrap());
        let store = open(&dir).await;
        let journal = Journal::start(store.clone(), Sealer::new(Arc::clone(&keys)), clock.clone());
        let mut world = Self {
            tenants: (0..tenants).map(|_| TenantId::mint()).collect(),
            keeper: None,
            alarms: None,
            dir,
            store,
            clock,
            keys,
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
    pub(super) fn compare(&self, tenant: usize) -> String {
        let keys = Arc::new(public_keys(&self.folder()).unwrap());
        let id = self.id(tenant);
        let mut comparison = Comparison::new(Witness::open(&self.folder(), keys, &id).unwrap());
        let connection = Connection::open(self.dir.path().join("toolgate.db")).unwrap();
        let mut rows = connection
            .prepare("select seq, hash from audit_event where tenant_id = ?1 order by seq")
            .unwrap();
        let mut rows = rows.query([&id]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let hash: Vec<u8> = row.get(1).unwrap();
            comparison.row(row.get(0).unwrap(), &hash);
        }
        match comparison.finish() {
            Ok(Some(met)) => format!("met {}", met.seq),
            Ok(None) => "no checkpoint".into(),
            Err(crate::anchor::Finding::Fork { checkpoint }) => format!("fork {}", checkpoint.seq),
            Err(crate::anchor::Finding::Truncated { checkpoint, last }) => {
                format!("truncated {} of {}", last, checkpoint.seq)
            }
            Err(crate::anchor::Finding::Unbelievable(fault)) => fault.to_string(),
        }
    }

    /// Runs SQL as somebody does who holds the file: the guards are dropped first.
    pub(super) fn tamper(&self, sql: &str) {
        let connection = Connection::open(self.dir.path().join("toolgate.db")).unwrap();
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
}

async fn open(dir: &TempDir) -> Store {
    Store::open(StoreConfig::sqlite(dir.path().join("toolgate.db")))
        .await
        .unwrap()
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
