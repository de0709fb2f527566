//! A PostgreSQL with the schema in it, for a gateway to keep its record in.

mod proxy;

use std::path::Path;

use toolgate_test_postgres::{Cluster, Database};

pub use self::proxy::{Catch, Proxy};
use crate::run;

/// The role of the gateway, which owns nothing.
const APP: &str = "toolgate_app";

/// A migrated database, the server it is on, and who stands between.
#[derive(Debug)]
pub struct Postgres {
    // Dropped before its server.
    database: Database,
    server: Server,
    proxy: Option<Proxy>,
}

#[derive(Debug)]
enum Server {
    Shared(&'static Cluster),
    Own(Cluster),
}

impl Postgres {
    /// A database of the test's own on the server that all tests share.
    ///
    /// # Errors
    /// What the migration says.
    pub async fn shared() -> Result<Self, String> {
        let cluster = Cluster::shared_durable().await;
        let database = cluster.database().await;
        Self::migrated(database, Server::Shared(cluster)).await
    }

    /// A server of the test's own, to be hurt.
    ///
    /// # Errors
    /// What the migration says.
    pub async fn own() -> Result<Self, String> {
        let cluster = Cluster::own().await;
        let database = cluster.database().await;
        Self::on(cluster, database).await
    }

    /// A database on a server that the test has made as it wants it.
    ///
    /// # Errors
    /// What the migration says.
    pub async fn on(cluster: Cluster, database: Database) -> Result<Self, String> {
        Self::migrated(database, Server::Own(cluster)).await
    }

    /// With a proxy between gateway and server.
    ///
    /// # Errors
    /// When there is no port for it.
    pub async fn behind_a_proxy(mut self) -> Result<Self, String> {
        self.proxy = Some(Proxy::before(self.cluster().port()).await?);
        Ok(self)
    }

    async fn migrated(database: Database, server: Server) -> Result<Self, String> {
        // Roles belong to the whole server: two migrations at once would make the same ones.
        static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _alone = ONE_AT_A_TIME.lock().await;
        let url = database.admin_url();
        let arguments = ["db", "migrate", "--database-url", &url];
        let output = run(&arguments, &[], Path::new("/"))
            .await
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("toolgate db migrate: {told}"));
        }
        Ok(Self {
            database,
            server,
            proxy: None,
        })
    }

    /// A copy of the database on the same server, while no gateway uses it.
    ///
    /// # Errors
    /// Whatever the server says.
    ///
    /// # Panics
    /// On a server of the test's own, which has one owner.
    pub async fn copied(&self) -> Result<Self, String> {
        let Server::Shared(cluster) = self.server else {
            panic!("databases of an own server are not copied");
        };
        Ok(Self {
            database: cluster.copy_of(&self.database).await?,
            server: Server::Shared(cluster),
            proxy: None,
        })
    }

    /// What the gateway connects to, as its own role.
    #[must_use]
    pub fn url(&self) -> String {
        let url = self.database.url_as(APP);
        match &self.proxy {
            Some(proxy) => url.replace(
                &format!(":{}/", self.cluster().port()),
                &format!(":{}/", proxy.port()),
            ),
            None => url,
        }
    }

    /// The server. Only one's own may be hurt.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        match &self.server {
            Server::Shared(cluster) => cluster,
            Server::Own(cluster) => cluster,
        }
    }

    /// Who stands between gateway and server.
    ///
    /// # Panics
    /// Where nobody does.
    #[must_use]
    pub fn proxy(&self) -> &Proxy {
        self.proxy.as_ref().expect("a proxy that the test asked for")
    }

    /// The database itself.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }
}
