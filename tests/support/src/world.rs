//! A gateway in this process, and who and what belongs to it.

mod builder;

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Core, clock::Clock, fixtures::Fixtures};

pub use self::builder::Builder;
use crate::{Caller, Outcome, Project, Refusal, Relay, Store};

/// A running world. Dropping it stops everything.
#[derive(Debug)]
pub struct World {
    dir: TempDir,
    store: Store,
    clock: Clock,
    admin: Caller,
    principals: BTreeMap<String, Caller>,
    hosts: BTreeMap<String, Relay>,
    projects: BTreeMap<String, Project>,
    targets: BTreeMap<String, String>,
    fixtures: Option<Fixtures>,
    stop: CancellationToken,
    doors: JoinSet<()>,
    core: Option<Core>,
}

impl World {
    /// Describes a world; `start` makes it.
    #[must_use]
    #[allow(clippy::new_ret_no_self, reason = "reads as a sentence: a new world with …")]
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The first admin.
    #[must_use]
    pub fn admin(&self) -> &Caller {
        &self.admin
    }

    /// A principal named in the builder.
    #[must_use]
    pub fn as_principal(&self, name: &str) -> &Caller {
        self.principals
            .get(name)
            .expect("a principal named in the builder")
    }

    /// The fake relay of a host named in the builder.
    #[must_use]
    pub fn host(&self, name: &str) -> &Relay {
        self.hosts.get(name).expect("a host named in the builder")
    }

    /// The id of the target of a host or a project.
    #[must_use]
    pub fn target(&self, name: &str) -> &str {
        self.targets.get(name).expect("a target named in the builder")
    }

    /// The fake of a project named in the builder.
    #[must_use]
    pub fn project(&self, name: &str) -> &Project {
        self.projects.get(name).expect("a project named in the builder")
    }

    /// What is seen of the fixtures that the builder asked for.
    #[must_use]
    pub fn fixtures(&self) -> &Fixtures {
        self.fixtures.as_ref().expect("a world with fixtures")
    }

    /// The admin calls a tool.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Outcome, Refusal> {
        self.admin.call(tool, arguments).await
    }

    /// The admin runs a command on the only host.
    pub async fn run(&self, command: &str) -> Result<Outcome, Refusal> {
        self.admin.run(command).await
    }

    /// The whole audit record of the first tenant, oldest first.
    pub async fn audit(&self) -> Vec<Value> {
        self.admin.audit().await.unwrap_or_default()
    }

    /// The events of one kind on the record, oldest first.
    pub async fn audit_of(&self, event: &str) -> Vec<Value> {
        let mut events = self.audit().await;
        events.retain(|row| row["event"] == event);
        events
    }

    /// The clock, to be moved where the builder asked for one by hand.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The base URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.admin.url()
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        self.dir.path()
    }

    /// What stands in its store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Stops everything in order and gives the data directory, whole and closed.
    pub async fn stop(mut self) -> TempDir {
        self.hosts.clear();
        self.projects.clear();
        self.stop.cancel();
        while self.doors.join_next().await.is_some() {}
        if let Some(core) = self.core.take() {
            core.shutdown().await;
        }
        std::mem::replace(&mut self.dir, tempfile::tempdir().expect("a directory"))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
