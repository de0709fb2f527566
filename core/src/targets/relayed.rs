//! What a target's relay serves, a host or a project: which names and settings go with which.

use serde_json::Value;

use super::{MOST, SSH, Target, Targets, config, project, rows};
use crate::{adapters::Kind, changes::By, error::Error, names, registry::PROJECT};

/// Refuses what cannot be the name of such a target. What a project may be called is narrower, since callers name it.
pub(super) fn check_name(adapter: &str, name: &str) -> Result<(), Error> {
    match adapter {
        PROJECT => project::check_name(name),
        _ => names::check("name", name),
    }
}

impl Targets {
    /// The hosts, then the projects, each by name, disabled ones included.
    pub async fn relayed(&self, by: &By) -> Result<Vec<Target>, Error> {
        let tenant = by.tenant.clone();
        let read = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move {
                let mut targets = rows::list(tx, &tenant, SSH, "", "", MOST).await?;
                targets.extend(rows::list(tx, &tenant, PROJECT, "", "", MOST).await?);
                Ok(targets)
            })
        });
        read.await
    }

    /// The host or the project of this id.
    pub async fn get_relayed(&self, by: &By, id: &str) -> Result<Target, Error> {
        let target = self.get(by, id).await?;
        match Kind::of(&target.adapter) {
            None => Ok(target),
            Some(_) => Err(Error::invalid(
                "target_id",
                format!("targets of type {} are dialled and have no relay", target.adapter),
            )),
        }
    }
}

/// The settings as they are stored, out of those that were asked for.
pub(super) fn settings(adapter: &str, bytes: &[u8], name: &str) -> Result<Value, Error> {
    match adapter {
        PROJECT => project::settings(bytes),
        _ => config::read(bytes, name),
    }
}

/// Refuses to change what `projects.toml` says, since that would say it again.
pub(super) fn refuse_of_file(target: &Target) -> Result<(), Error> {
    if target.adapter == PROJECT && project::is_of_file(&target.config) {
        return Err(Error::Conflict(format!(
            "the project {} is registered by projects.toml; change it there",
            target.name
        )));
    }
    Ok(())
}

/// New settings of a target.
#[derive(Debug)]
pub(super) enum Edit {
    /// Of a host.
    Host(config::Edit),
    /// Of a project.
    Project(project::Edit),
}

impl Edit {
    pub(super) fn read(adapter: &str, bytes: &[u8]) -> Result<Self, Error> {
        match adapter {
            PROJECT => project::read_edit(bytes).map(Self::Project),
            _ => config::read_edit(bytes).map(Self::Host),
        }
    }

    /// The settings over the former ones: whole, but what only the gateway sets stays.
    pub(super) fn over(self, former: &Value) -> Result<Value, Error> {
        match self {
            Self::Host(edit) => edit.over(former),
            Self::Project(edit) => edit.over(former),
        }
    }
}
