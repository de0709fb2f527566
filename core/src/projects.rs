//! The projects of a tenant as admins manage them: registered, changed, removed, pinned anew, their tools accepted, one of
//! them the default; and what is known of each.
//!
//! A project is a target, so `targets` keeps it; how it does is the `fleet`'s to know. Who may do what is decided before
//! this room is asked. `relays` tells who dials in, for hosts as well; `file` makes them what `projects.toml` says; reading that file is the binary's.

mod change;
mod file;
mod relays;
mod told;

use toolgate_contract::ids::TargetId;

pub use self::{
    relays::Relay,
    told::{Known, Tool, Whole},
};
pub use crate::targets::{Entry, Followed};
use crate::{
    changes::{By, Changes},
    error::Error,
    fleet::{Fleet, Owner, rows},
    snapshot::Snapshots,
    targets::{Enrolment, Target, Targets, Wanted},
};

/// The projects of all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct Projects {
    changes: Changes,
    targets: Targets,
    fleet: Fleet,
    snapshots: Snapshots,
}

impl Projects {
    /// Over the rooms below.
    #[must_use]
    pub fn new(changes: Changes, targets: Targets, fleet: Fleet, snapshots: Snapshots) -> Self {
        Self {
            changes,
            targets,
            fleet,
            snapshots,
        }
    }

    /// Registers a project, with the first enrolment of its relay.
    pub async fn create(
        &self,
        by: By,
        name: String,
        config: bytes::Bytes,
    ) -> Result<(Known, Option<Enrolment>), Error> {
        let wanted = Wanted {
            adapter: crate::registry::PROJECT.into(),
            name,
            config,
            credential: bytes::Bytes::new(),
        };
        let (target, enrolment) = self.targets.create(by.clone(), wanted).await?;
        Ok((self.known(&by, target).await?, enrolment))
    }

    /// All of them, by name.
    pub async fn list(&self, by: &By) -> Result<Vec<Known>, Error> {
        let targets = self.targets.projects(by).await?;
        self.all_known(by, targets).await
    }

    /// One of them, with its tools and what it told last.
    pub async fn get(&self, by: &By, name: &str) -> Result<Whole, Error> {
        let target = self.targets.project(by, name).await?;
        let id = target.id;
        let project = self.known(by, target).await?;
        let snapshot = self.snapshots.get(&by.tenant).await?;
        let target = snapshot.and_then(|snapshot| snapshot.target(id));
        let tools = target
            .as_ref()
            .map_or_else(Vec::new, |target| self.tools_of(target));
        let withheld = target.map_or_else(Vec::new, |target| self.withheld_of(&target));
        Ok(Whole {
            project,
            tools,
            withheld,
            events: self.fleet.events(id),
        })
    }

    async fn named(&self, by: &By, name: &str) -> Result<Known, Error> {
        let target = self.targets.project(by, name).await?;
        self.known(by, target).await
    }

    async fn known(&self, by: &By, target: Target) -> Result<Known, Error> {
        let mut known = self.all_known(by, vec![target]).await?;
        known.pop().ok_or_else(|| Error::internal("a project was lost"))
    }

    async fn all_known(&self, by: &By, targets: Vec<Target>) -> Result<Vec<Known>, Error> {
        let tenant = by.tenant.clone();
        let lists = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move { rows::all_lists(tx, &tenant).await })
        });
        let mut lists = lists.await?;
        let snapshot = self.snapshots.get(&by.tenant).await?;
        let snapshot = snapshot.as_deref();
        let default: Option<TargetId> =
            snapshot.and_then(|snapshot| self.fleet.defaults().of(snapshot, &Owner::Tenant));
        let known = |target: Target| {
            let shown = snapshot.and_then(|snapshot| Some((snapshot, snapshot.target(target.id)?)));
            let status = shown.map(|(snapshot, shown)| self.fleet.status(snapshot, &shown));
            Known {
                is_default: default == Some(target.id),
                in_force: lists.remove(&target.id),
                // Seen within a second by the calls of this instance, too.
                status: status.unwrap_or_default(),
                target,
            }
        };
        Ok(targets.into_iter().map(known).collect())
    }
}

#[cfg(test)]
mod tests;
