//! What a scenario stands on: the same behaviour is wanted of either store.

use std::sync::Arc;

use toolgate_test_postgres::available;

use crate::{Builder, Gateway, Postgres, World};

/// One of the two stores, empty.
#[derive(Debug, Clone)]
pub enum Ground {
    /// The embedded one.
    Sqlite,
    /// A database of the test's own.
    Postgres(Arc<Postgres>),
}

impl Ground {
    /// A database on the shared server; where there is none, says that `test` did not run.
    ///
    /// # Panics
    /// When the database cannot be made.
    pub async fn postgres(test: &str) -> Option<Self> {
        if !available(test) {
            return None;
        }
        match Postgres::shared().await {
            Ok(postgres) => Some(Self::Postgres(Arc::new(postgres))),
            Err(why) => panic!("no database: {why}"),
        }
    }

    /// A server of the test's own, to be hurt, with a proxy before it; where there is none, says that `test` did not
    /// run.
    ///
    /// # Panics
    /// When it does not come up.
    pub async fn own_postgres(test: &str) -> Option<Self> {
        if !available(test) {
            return None;
        }
        let made = async { Postgres::own().await?.behind_a_proxy().await };
        match made.await {
            Ok(postgres) => Some(Self::Postgres(Arc::new(postgres))),
            Err(why) => panic!("no server: {why}"),
        }
    }

    /// A world on it.
    #[must_use]
    pub fn world(&self) -> Builder {
        match self {
            Self::Sqlite => World::new(),
            Self::Postgres(postgres) => World::new().on(Arc::clone(postgres)),
        }
    }

    /// The real binary on it.
    ///
    /// # Errors
    /// As [`Gateway::start`].
    pub async fn gateway(&self, extra: &[&str]) -> Result<Gateway, String> {
        match self {
            Self::Sqlite => Gateway::start(extra).await,
            Self::Postgres(postgres) => Gateway::start_on(Arc::clone(postgres), extra).await,
        }
    }
}

/// Runs a scenario, an async function of a [`Ground`], on both stores: as `<name>::on_sqlite` and `<name>::on_postgres`.
#[macro_export]
macro_rules! on_each_store {
    ($scenario:ident) => {
        mod $scenario {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() {
                super::$scenario($crate::Ground::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() {
                let test = concat!(stringify!($scenario), "::on_postgres");
                if let Some(ground) = $crate::Ground::postgres(test).await {
                    super::$scenario(ground).await;
                }
            }
        }
    };
}
