//! A database of one test's own.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio_postgres::NoTls;

use crate::{SmallDisk, ground::own};

/// A fresh database. On the shared server, dropping it removes it.
#[derive(Debug)]
pub struct Database {
    port: u16,
    name: String,
    shared: bool,
}

impl Database {
    /// A database with these further words of `create database`.
    pub(crate) async fn create(port: u16, shared: bool, how: &str) -> Result<Self, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let admin = url(port, "postgres", "postgres");
        execute(&admin, &format!("create database {name} {how}")).await?;
        Ok(Self { port, name, shared })
    }

    pub(crate) async fn on_disk(port: u16, shared: bool, disk: &SmallDisk) -> Result<Self, String> {
        let folder = disk.path().join("tables");
        std::fs::create_dir(&folder)
            .and_then(|()| own(&folder, 0o700))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let space = format!("create tablespace small location '{}'", folder.display());
        execute(&url(port, "postgres", "postgres"), &space).await?;
        Self::create(port, shared, "tablespace small").await
    }

    /// Its URL for a role.
    #[must_use]
    pub fn url_as(&self, role: &str) -> String {
        url(self.port, role, &self.name)
    }

    /// Its URL for the superuser.
    #[must_use]
    pub fn admin_url(&self) -> String {
        self.url_as("postgres")
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements as the superuser.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn execute(&self, statements: &str) -> Result<(), String> {
        execute(&self.admin_url(), statements).await.map(drop)
    }

    /// Asks as the superuser for the first column of each row, as text; an SQL null is an empty text.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn column(&self, query: &str) -> Result<Vec<String>, String> {
        self.column_as("postgres", query).await
    }

    /// The same for any role.
    ///
    /// # Errors
    /// Whatever the server says.
    pub async fn column_as(&self, role: &str, query: &str) -> Result<Vec<String>, String> {
        execute(&self.url_as(role), query).await
    }
}

impl Drop for Database {
    /// Not waited for: what is not removed goes with the server.
    fn drop(&mut self) {
        if !self.shared {
            return;
        }
        let admin = url(self.port, "postgres", "postgres");
        let statement = format!("drop database if exists {} with (force)", self.name);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                let dropped = async {
                    tokio::time::timeout(Duration::from_secs(10), execute(&admin, &statement)).await
                };
                let _ = runtime.block_on(dropped);
            }
        });
    }
}

/// The URL of a database for a role; nobody has a password.
pub(crate) fn url(port: u16, role: &str, database: &str) -> String {
    format!("postgres://{role}@127.0.0.1:{port}/{database}")
}

/// Connects, runs statements, leaves; gives the first column of all rows.
pub(crate) async fn execute(url: &str, statements: &str) -> Result<Vec<String>, String> {
    let told = |error: tokio_postgres::Error| match error.as_db_error() {
        Some(error) => format!("{}: {}", error.code().code(), error.message()),
        None => error.to_string(),
    };
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.map_err(told)?;
    let connection = tokio::spawn(connection);
    let answer = client.simple_query(statements).await.map_err(told);
    drop(client);
    let _ = connection.await;
    let messages = answer?;
    let rows = messages.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
        _ => None,
    });
    Ok(rows.collect())
}
