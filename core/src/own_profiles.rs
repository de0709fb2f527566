//! A tenant's own profiles: made, changed, removed, listed.
//!
//! Every change is checked whole, is one transaction with its row on the record, and is what the next call sees. A
//! profile that a live credential pins stays, or the credential would be worth nothing from one moment to the next. Who
//! may do this is decided before this room is asked; what a profile hides is decided where it is looked at.

mod definition;
mod rows;

use serde_json::{Value, json};
use toolgate_contract::{
    ids::TenantId,
    registry::{self, PROFILES},
};

pub use self::definition::Definition;
use self::rows::{INSERT, REMOVE, UPDATE};
use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::{Error, Missing},
    profiles::Stored,
    store::{Tx, params},
    token_cost,
};

/// Profiles of one tenant.
const MOST: usize = 100;
/// Names of credentials that are told where a profile is pinned.
const TOLD: usize = 5;
/// Names of profiles that are told where none of them was named.
const TOLD_KNOWN: usize = 20;

/// The own profiles of all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct OwnProfiles {
    changes: Changes,
}

impl OwnProfiles {
    /// Over the door for changes.
    #[must_use]
    pub fn new(changes: Changes) -> Self {
        Self { changes }
    }

    /// A tenant's own profiles, sorted by name.
    pub async fn list(&self, tenant: &TenantId) -> Result<Vec<Stored>, Error> {
        let owner = tenant.clone();
        self.changes
            .read(tenant, move |tx| {
                Box::pin(async move { rows::all(tx, &owner).await })
            })
            .await
    }

    /// The tenant's own profile of this name.
    pub async fn get(&self, tenant: &TenantId, name: &str) -> Result<Stored, Error> {
        let (owner, name) = (tenant.clone(), name.to_owned());
        let found = self.changes.read(tenant, move |tx| {
            Box::pin(async move { rows::find(tx, &owner, &name).await })
        });
        found.await?.ok_or_else(unknown)
    }

    /// Makes a profile.
    pub async fn create(&self, by: By, wanted: Definition) -> Result<Stored, Error> {
        let own = wanted.check(self.changes.now_us())?;
        token_cost::check_budget(&own.profile).await?;
        let tenant = by.tenant.clone();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    refuse_too_many(tx, &tenant).await?;
                    if own.write(tx, INSERT, &tenant).await? == 0 {
                        return Err(Error::Conflict(format!(
                            "there is a profile named {} already; update it or choose another name",
                            own.profile.name
                        )));
                    }
                    let fact = fact(&own.profile.name, "created", None, Some(&own));
                    Ok((own, vec![fact]))
                })
            })
            .await
    }

    /// Replaces a profile whole. One that is as it was leaves no row.
    pub async fn update(&self, by: By, wanted: Definition) -> Result<Stored, Error> {
        refuse_built_in(&wanted.name, "changed")?;
        let own = wanted.check(self.changes.now_us())?;
        token_cost::check_budget(&own.profile).await?;
        let tenant = by.tenant.clone();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let before = held(tx, &tenant, &own.profile.name).await?;
                    if before.profile == own.profile {
                        return Ok((before, vec![]));
                    }
                    own.write(tx, UPDATE, &tenant).await?;
                    let fact = fact(&own.profile.name, "updated", Some(&before), Some(&own));
                    Ok((own, vec![fact]))
                })
            })
            .await
    }

    /// Removes a profile that no live credential pins.
    pub async fn delete(&self, by: By, name: &str) -> Result<(), Error> {
        refuse_built_in(name, "removed")?;
        let (tenant, name, now_us) = (by.tenant.clone(), name.to_owned(), self.changes.now_us());
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let before = held(tx, &tenant, &name).await?;
                    refuse_pinned(tx, &tenant, &name, now_us).await?;
                    tx.execute(REMOVE, params![&tenant, &name]).await?;
                    Ok(((), vec![fact(&name, "deleted", Some(&before), None)]))
                })
            })
            .await
    }
}

fn unknown() -> Error {
    Error::NotFound(Missing::Resource("profile"))
}

fn refuse_built_in(name: &str, verb: &str) -> Result<(), Error> {
    match registry::profile(name) {
        Some(_) => Err(Error::Conflict(format!(
            "the profile {name} is one of the contract's and cannot be {verb}; make one of your own from it"
        ))),
        None => Ok(()),
    }
}

/// The profile as it is, kept as it is by others until the end of the transaction.
async fn held(tx: &mut Tx, tenant: &TenantId, name: &str) -> Result<Stored, Error> {
    if !rows::hold(tx, tenant, name).await? {
        return Err(unknown());
    }
    rows::find(tx, tenant, name).await?.ok_or_else(unknown)
}

async fn refuse_too_many(tx: &mut Tx, tenant: &TenantId) -> Result<(), Error> {
    if rows::names(tx, tenant).await?.len() >= MOST {
        return Err(Error::Conflict(format!(
            "the tenant has {MOST} profiles of its own, which is the limit; remove some first"
        )));
    }
    Ok(())
}

async fn refuse_pinned(tx: &mut Tx, tenant: &TenantId, name: &str, now_us: i64) -> Result<(), Error> {
    let pins = rows::pins(tx, tenant, name, now_us).await?;
    if pins.is_empty() {
        return Ok(());
    }
    let told: Vec<&str> = pins.iter().take(TOLD).map(String::as_str).collect();
    let more = match pins.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Error::Conflict(format!(
        "live credentials pin the profile {name}: {}{more}; revoke them first",
        told.join(", ")
    )))
}

fn fact(name: &str, change: &str, before: Option<&Stored>, after: Option<&Stored>) -> Fact {
    let mut detail = json!({"change": change, "name": name});
    for (when, own) in [("before", before), ("after", after)] {
        if let Some(own) = own {
            detail[when] = self::detail(own);
        }
    }
    Fact::new(EventKind::ProfileChanged, detail)
}

fn detail(stored: &Stored) -> Value {
    let profile = &stored.profile;
    json!({
        "description": profile.description,
        "tools": profile.parts(),
        "disclosure": profile.disclosure.as_str(),
        "token_budget": profile.token_budget,
        "result_cap": profile.result_cap,
    })
}

/// Refuses to pin a profile that is not there. One that is stays until the end of the transaction.
pub(crate) async fn hold(tx: &mut Tx, tenant: &TenantId, name: &str) -> Result<(), Error> {
    if registry::profile(name).is_some() || rows::hold(tx, tenant, name).await? {
        return Ok(());
    }
    let built_in = PROFILES.iter().map(|profile| profile.name.to_owned());
    let known: Vec<_> = built_in.chain(rows::names(tx, tenant).await?).collect();
    let more = match known.len().saturating_sub(TOLD_KNOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let known = known[..known.len().min(TOLD_KNOWN)].join(", ");
    Err(Error::invalid(
        "profile",
        format!("no profile of this name; the known ones are {known}{more}"),
    ))
}

#[cfg(test)]
mod tests;
