//! Where the record lies while it is measured.

use std::{error::Error, sync::Arc};

use toolgate_test_postgres::Cluster;
use toolgate_test_support::{Gateway, Postgres};

/// Where the record lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a file.
    Sqlite,
    /// On a PostgreSQL of this run's own, with the same durability, on the same cores.
    Postgres,
}

impl Place {
    /// The places there are here; PostgreSQL needs a server.
    pub(crate) fn all() -> Vec<Self> {
        match toolgate_test_postgres::missing() {
            None => vec![Self::Sqlite, Self::Postgres],
            Some(why) => {
                eprintln!("without PostgreSQL: {why}");
                vec![Self::Sqlite]
            }
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// A migrated database on a server that does nothing else.
    pub(crate) async fn database(self) -> Result<Option<Postgres>, Box<dyn Error>> {
        match self {
            Self::Sqlite => Ok(None),
            Self::Postgres => {
                let cluster = Cluster::own().await;
                let database = cluster.database().await;
                Ok(Some(Postgres::on(cluster, database).await?))
            }
        }
    }

    /// A gateway whose record lies here.
    pub(crate) async fn gateway(self, flags: &[&str]) -> Result<Gateway, Box<dyn Error>> {
        Ok(match self.database().await? {
            None => Gateway::start(flags).await?,
            Some(database) => Gateway::start_on(Arc::new(database), flags).await?,
        })
    }
}
