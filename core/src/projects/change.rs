//! What admins change about projects, each with its row on the record.

use serde_json::json;
use toolgate_contract::frame::{Octets, PublicKey};

use super::{Known, Projects};
use crate::{
    audit::EventKind,
    changes::{By, Fact},
    error::Error,
    fleet::{Owner, rows},
    registry::PROJECT,
    targets::Edit,
};

impl Projects {
    /// Changes how a project is registered; what is `None` stays.
    pub async fn update(
        &self,
        by: By,
        name: &str,
        config: Option<bytes::Bytes>,
        disabled: Option<bool>,
    ) -> Result<Known, Error> {
        let target = self.targets.project(&by, name).await?;
        let edit = Edit {
            config,
            disabled,
            ..Edit::default()
        };
        let id = target.id.to_string();
        let target = self.targets.update(by.clone(), &id, edit).await?;
        // What becomes of a changed list may be another thing now.
        self.fleet.ask_again(target.id);
        self.known(&by, target).await
    }

    /// Removes a project.
    pub async fn delete(&self, by: By, name: &str) -> Result<(), Error> {
        let target = self.targets.project(&by, name).await?;
        self.targets.delete(by, &target.id.to_string()).await
    }

    /// Puts the list of tools that is kept back in force, if it is this one.
    pub async fn accept(&self, by: By, name: &str, hash: &str) -> Result<Known, Error> {
        let target = self.targets.project(&by, name).await?;
        let (tenant, now_us, accepted) = (by.tenant.clone(), self.changes.now_us(), hash.to_owned());
        let (id, called) = (target.id, target.name.clone());
        let (fleet, kept) = (self.fleet.clone(), hash.to_owned());
        let work = self.changes.make_then(
            by.clone(),
            move |tx| {
                Box::pin(async move {
                    let before = rows::find_list(tx, &tenant, id).await?;
                    if !rows::accept_list(tx, &tenant, id, &accepted, now_us).await? {
                        return Err(not_kept_back(&called, before));
                    }
                    let detail = json!({
                        "change": "accepted",
                        "name": called,
                        "before": before.map(|before| before.hash),
                        "after": accepted,
                        "withheld": false,
                    });
                    let fact = Fact::new(EventKind::ProjectToolsChanged, detail).about(PROJECT, id);
                    Ok(((), vec![fact]))
                })
            },
            move || fleet.accepted(id, &kept),
        );
        work.await?;
        self.known(&by, target).await
    }

    /// Pins the key that a project's relay shows now, in place of the one it enrolled with.
    pub async fn repin(&self, by: By, name: &str, key: &str) -> Result<Known, Error> {
        let key: PublicKey = Octets::parse(key).ok_or_else(|| {
            Error::invalid(
                "key",
                "is no key of a relay; live_key tells the one that is shown",
            )
        })?;
        let known = self.named(&by, name).await?;
        if known.live_key() != Some(key) {
            return Err(Error::Conflict(format!(
                "that is not the key that the relay of {name} shows now; look at live_key, and at the relay's own log"
            )));
        }
        self.targets.repin(by.clone(), known.target.id, key).await?;
        self.named(&by, name).await
    }

    /// Sets where calls of the tenant go that name no project, when their caller has no default; `None` for nowhere.
    pub async fn set_default(&self, by: By, name: Option<&str>) -> Result<(), Error> {
        let chosen = match name {
            Some(name) => Some(self.targets.project(&by, name).await?),
            None => None,
        };
        let (tenant, now_us) = (by.tenant.clone(), self.changes.now_us());
        let id = chosen.as_ref().map(|target| target.id);
        let (fleet, owner) = (self.fleet.clone(), by.tenant.clone());
        let work = self.changes.make_then(
            by,
            move |tx| {
                Box::pin(async move {
                    let before = rows::find_default(tx, &tenant, &Owner::Tenant).await?;
                    match id {
                        _ if before == id => return Ok(((), vec![])),
                        Some(id) => rows::set_default(tx, &tenant, &Owner::Tenant, id, now_us).await?,
                        None => drop(rows::clear_default(tx, &tenant, &Owner::Tenant).await?),
                    }
                    let detail = json!({
                        "scope": Owner::Tenant.scope(),
                        "project": chosen.as_ref().map(|target| &target.name),
                        "replaces": before.map(|before| before.to_string()),
                    });
                    let fact = Fact::new(EventKind::ProjectSwitched, detail);
                    let fact = id.into_iter().fold(fact, |fact, id| fact.about(PROJECT, id));
                    Ok(((), vec![fact]))
                })
            },
            move || match id {
                Some(id) => fleet.defaults().chose(&owner, Owner::Tenant, id),
                None => fleet.defaults().forget(&owner, &Owner::Tenant),
            },
        );
        work.await
    }
}

fn not_kept_back(name: &str, lists: Option<rows::InForce>) -> Error {
    let there = match lists.and_then(|lists| lists.withheld) {
        Some(withheld) => {
            format!("the tools of {name} that are kept back now are {withheld}; look at them first")
        }
        None => format!("no changed tools of {name} are kept back"),
    };
    Error::Conflict(there)
}
