//! Projects among the targets: found by their name, and kept as `projects.toml` says.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use toolgate_contract::ids::TenantId;

use super::{MOST, Target, Targets, configured, project, rows, rows::Change, submit};
use crate::{
    changes::{By, Fact},
    error::Error,
    registry::PROJECT,
    store::{StoreError, Tx},
};

/// An entry of `projects.toml` that can be a project.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    name: String,
    config: Value,
}

/// What came of following `projects.toml`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Projects that were registered, changed, enabled or disabled.
    pub changed: Vec<String>,
    /// Entries whose names are those of projects that were registered otherwise; those stay as they are.
    pub untouched: Vec<String>,
}

impl Entry {
    /// Checks an entry: its name, and its settings in either spelling. Without `access` it may be written to, since the
    /// file is the operator's own.
    ///
    /// # Errors
    /// Names the place: `name`, or `config.` and the key.
    pub fn read(name: &str, mut settings: Map<String, Value>) -> Result<Self, Error> {
        project::check_name(name)?;
        settings.entry("access").or_insert_with(|| "read_write".into());
        Ok(Self {
            name: name.to_owned(),
            config: project::of_file(settings)?,
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Target {
    /// The settings of a project as they can be given, and where it is registered: `api` or `file`.
    #[must_use]
    pub fn settings_and_source(&self) -> (Value, &'static str) {
        project::parted(&self.config)
    }
}

impl Targets {
    /// The projects by name, disabled ones included.
    pub async fn projects(&self, by: &By) -> Result<Vec<Target>, Error> {
        let tenant = by.tenant.clone();
        let read = self.changes.read(&by.tenant, move |tx| {
            Box::pin(async move { rows::list(tx, &tenant, PROJECT, "", "", MOST).await })
        });
        read.await
    }

    /// The project of this name, disabled or not.
    pub async fn project(&self, by: &By, name: &str) -> Result<Target, Error> {
        let projects = self.projects(by).await?;
        let known = projects.iter().map(|project| project.name.clone()).collect();
        projects
            .into_iter()
            .find(|project| project.name == name)
            .ok_or_else(|| Error::NoProject {
                asked: Some(name.to_owned()),
                known,
            })
    }

    /// Makes the projects of a tenant what `projects.toml` says: an entry is registered, changed or enabled again, one
    /// that has left the file is disabled. What was registered otherwise is not touched.
    pub async fn follow_file(&self, by: By, entries: Vec<Entry>) -> Result<Followed, Error> {
        let (tenant, now_us) = (by.tenant.clone(), self.changes.now_us());
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let known = rows::list(tx, &tenant, PROJECT, "", "", MOST).await?;
                    let (mut followed, mut facts) = (Followed::default(), Vec::new());
                    let listed: HashSet<&str> = entries.iter().map(|entry| &*entry.name).collect();
                    for target in &known {
                        let left = !listed.contains(&*target.name) && !target.disabled;
                        if left && project::is_of_file(&target.config) {
                            let target = Target {
                                disabled: true,
                                ..target.clone()
                            };
                            facts.push(change(tx, &tenant, target, now_us).await?);
                        }
                    }
                    for entry in &entries {
                        let fact = match known.iter().find(|target| target.name == entry.name) {
                            None => Some(register(tx, &tenant, entry, now_us).await?),
                            Some(target) if !project::is_of_file(&target.config) => {
                                followed.untouched.push(target.name.clone());
                                None
                            }
                            Some(target) if target.config == entry.config && !target.disabled => None,
                            Some(target) => {
                                let target = Target {
                                    config: entry.config.clone(),
                                    disabled: false,
                                    ..target.clone()
                                };
                                Some(change(tx, &tenant, target, now_us).await?)
                            }
                        };
                        facts.extend(fact);
                    }
                    followed.changed = facts.iter().map(|(name, _)| name.clone()).collect();
                    Ok((followed, facts.into_iter().map(|(_, fact)| fact).collect()))
                })
            })
            .await
    }
}

async fn register(
    tx: &mut Tx,
    tenant: &TenantId,
    entry: &Entry,
    now_us: i64,
) -> Result<(String, Fact), Error> {
    submit::refuse_more(rows::count(tx, tenant).await?)?;
    let target = Target::new(PROJECT, entry.name.clone(), entry.config.clone(), now_us);
    rows::insert(tx, tenant, &target).await?;
    Ok(told(target, Change::Created))
}

async fn change(
    tx: &mut Tx,
    tenant: &TenantId,
    mut target: Target,
    now_us: i64,
) -> Result<(String, Fact), StoreError> {
    target.updated_us = now_us.max(target.updated_us.saturating_add(1));
    rows::update(tx, tenant, &target).await?;
    Ok(told(target, Change::Updated))
}

fn told(target: Target, change: Change) -> (String, Fact) {
    let fact = configured(
        &target,
        change,
        json!({"disabled": target.disabled, "source": "file"}),
    );
    (target.name, fact)
}
