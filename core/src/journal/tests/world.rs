//! A journal with its store, on either back end.

use toolgate_test_postgres::{Cluster, Database};

use super::*;
use crate::store::schema;

pub(super) struct World {
    pub(super) place: Place,
    pub(super) store: Store,
    pub(super) journal: Journal,
    pub(super) clock: Clock,
}

/// Where the record lies. The keys are in the folder, whichever it is.
pub(super) enum Place {
    Embedded(tempfile::TempDir),
    Postgres(tempfile::TempDir, Database),
}

impl World {
    pub(super) async fn embedded() -> Self {
        Self::at(Place::Embedded(tempfile::tempdir().unwrap())).await
    }

    /// Nothing where there is no server; the test is then counted as not run.
    pub(super) async fn on_postgres(test: &str) -> Option<Self> {
        if !toolgate_test_postgres::available(test) {
            return None;
        }
        let database = Cluster::shared().await.database().await;
        migrate(&database).await;
        Some(Self::at(Place::Postgres(tempfile::tempdir().unwrap(), database)).await)
    }

    async fn at(place: Place) -> Self {
        let clock = Clock::manual(START_US);
        let config = match &place {
            Place::Embedded(dir) => StoreConfig::sqlite(dir.path().join("toolgate.db")),
            Place::Postgres(_, database) => StoreConfig {
                // The shared server of the tests flushes nothing.
                insist_on_durability: false,
                ..StoreConfig::postgres(database.url_as("toolgate_app").parse().unwrap())
            },
        };
        let store = Store::open(config).await.unwrap();
        let keys = Arc::new(Keyring::open(place.dir()).unwrap());
        let journal = Journal::start(store.clone(), Sealer::new(keys), clock.clone());
        Self {
            place,
            store,
            journal,
            clock,
        }
    }

    /// Ends everything without a word, as a crash would, and starts anew on the same record.
    pub(super) async fn crash(self) -> Self {
        let Self {
            place,
            store,
            journal,
            ..
        } = self;
        drop((journal, store));
        Self::at(place).await
    }

    /// Another one of the same kind, with nothing in it.
    pub(super) async fn another(&self) -> Self {
        match &self.place {
            Place::Embedded(_) => Self::embedded().await,
            Place::Postgres(..) => Self::on_postgres("").await.unwrap(),
        }
    }

    pub(super) fn dir(&self) -> &std::path::Path {
        self.place.dir()
    }

    /// The file of the embedded store.
    pub(super) fn file(&self) -> std::path::PathBuf {
        self.dir().join("toolgate.db")
    }

    pub(super) async fn rows(&self, tenant: &TenantId) -> Vec<Event> {
        chain(&self.store, tenant).await
    }

    /// Waits until the record has this many rows.
    pub(super) async fn has_rows(&self, tenant: &TenantId, many: usize) {
        let enough = async {
            while self.rows(tenant).await.len() < many {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), enough)
            .await
            .unwrap();
        assert_eq!(self.rows(tenant).await.len(), many);
    }

    pub(super) async fn intents(&self, tenant: &TenantId) -> i64 {
        self.count("select count(*) from intent where tenant_id = $1", tenant)
            .await
    }

    pub(super) async fn count(&self, sql: &'static str, tenant: &TenantId) -> i64 {
        let owner = tenant.clone();
        let rows: Result<_, StoreError> = self
            .store
            .with_tenant_read(tenant, move |tx| {
                Box::pin(async move { tx.query(sql, params![&owner]).await })
            })
            .await;
        rows.unwrap()[0].int(0).unwrap()
    }

    /// Keeps the writer of the record busy until it is released.
    pub(super) async fn hold_the_writer(&self) -> Busy {
        let (started, has_started) = oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let lent = self.store.lend_to_journal(move |_| {
            Box::pin(async move {
                started.send(()).unwrap();
                released.recv().unwrap();
            })
        });
        lent.unwrap();
        has_started.await.unwrap();
        Busy(release)
    }

    /// Somebody else's connection to the file.
    pub(super) fn outside(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).unwrap()
    }

    /// Runs `sql` as somebody does who holds the database: the guards are dropped first.
    pub(super) async fn tamper(&self, sql: &str) {
        match &self.place {
            Place::Embedded(_) => tamper_with_file(&self.outside(), sql),
            Place::Postgres(_, database) => {
                let sql = sql
                    .replace("zeroblob(32)", "decode(repeat('00', 32), 'hex')")
                    .replace("x'ff'", "'\\xff'");
                let as_owner =
                    format!("set session_replication_role = replica; set search_path = audit; {sql}");
                database.execute(&as_owner).await.unwrap();
            }
        }
    }

    pub(super) async fn change(
        &self,
        tenant: &TenantId,
        tool: &'static str,
        ends: Result<(), Trouble>,
        event: Event,
    ) -> Result<(), Trouble> {
        const ADD: &str = "insert into policy (tenant_id, tool) values ($1, $2)";
        let owner = tenant.clone();
        self.journal
            .with(
                tenant,
                move |tx| {
                    Box::pin(async move {
                        tx.execute(ADD, params![&owner, tool])
                            .await
                            .map_err(JournalError::from)?;
                        ends
                    })
                },
                move |()| event,
            )
            .await
    }
}

pub(super) fn results(rows: &[Event]) -> Vec<Outcome> {
    rows.iter().map(|row| row.result).collect()
}

pub(super) fn refusal(tenant: &TenantId) -> Refusal {
    Refusal {
        tenant: tenant.clone(),
        kind: EventKind::RequestRefused,
        principal: "ada".to_owned(),
        reason: "RATE_LIMITED".to_owned(),
        role: "agent".to_owned(),
        facade: "rest".to_owned(),
        capability: String::new(),
    }
}

pub(super) fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    future.now_or_never()
}

fn tamper_with_file(connection: &rusqlite::Connection, sql: &str) {
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

async fn migrate(database: &Database) {
    let admin = database.admin_url().parse().unwrap();
    schema::migrate(&admin, None).await.unwrap();
}

impl Place {
    fn dir(&self) -> &std::path::Path {
        match self {
            Self::Embedded(dir) | Self::Postgres(dir, _) => dir.path(),
        }
    }
}

/// Why a change failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    OnPurpose,
    Journal(JournalError),
}

impl From<JournalError> for Trouble {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

/// The writer, kept busy.
pub(super) struct Busy(std::sync::mpsc::Sender<()>);

impl Busy {
    pub(super) fn release(self) {
        self.0.send(()).unwrap();
    }
}
