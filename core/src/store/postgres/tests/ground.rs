//! A database of a test's own, migrated, on the shared server.

use toolgate_test_postgres::{Cluster, Database, available};

use crate::store::{DatabaseUrl, Store, StoreConfig, schema};

/// A migrated database. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) database: Database,
}

impl Ground {
    /// On the server of all tests; nothing where this machine has no PostgreSQL, which `test` is reported for.
    pub(crate) async fn shared(test: &str) -> Option<Self> {
        if !available(test) {
            return None;
        }
        Some(Self::on(Cluster::shared().await).await)
    }

    pub(crate) async fn on(cluster: &Cluster) -> Self {
        let database = cluster.database().await;
        let ground = Self { database };
        schema::migrate(&ground.url("postgres"), None).await.unwrap();
        ground
    }

    /// A copy of one that nobody is connected to; quicker than another migration.
    pub(crate) async fn copy_of(cluster: &Cluster, whole: &Self) -> Self {
        Self {
            database: cluster.copy_of(&whole.database).await.unwrap(),
        }
    }

    pub(crate) fn url(&self, role: &str) -> DatabaseUrl {
        self.database.url_as(role).parse().unwrap()
    }

    /// As the gateway opens it; the shared server keeps nothing that outlives a crash.
    pub(crate) fn config(&self) -> StoreConfig {
        StoreConfig {
            insist_on_durability: false,
            ..StoreConfig::postgres(self.url("toolgate_app"))
        }
    }

    pub(crate) async fn store(&self) -> Store {
        Store::open(self.config()).await.unwrap()
    }
}

impl Ground {
    /// Asks as the superuser until the answer is the one that must come.
    pub(crate) async fn until(&self, query: &str, expected: &str) {
        let asked = std::time::Instant::now();
        loop {
            let found = self.database.column(query).await.unwrap();
            if found == [expected] {
                return;
            }
            assert!(
                asked.elapsed() < std::time::Duration::from_secs(10),
                "{query}: {found:?}"
            );
        }
    }
}

/// Whether the long form of tests is asked for.
#[allow(
    clippy::disallowed_methods,
    reason = "set by tests/run for its tests, no configuration"
)]
pub(crate) fn is_full() -> bool {
    std::env::var_os("TOOLGATE_FULL").is_some_and(|value| value == "1")
}
