//! A tenant's policy: which tools are off. It can switch tools off, never add any.

use std::collections::BTreeSet;

use serde_json::json;
use toolgate_contract::{ids::TenantId, registry};

use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::Error,
    registry::not_known,
    store::{StoreError, Tx, params},
};

const READ: &str = "select tool from policy where tenant_id = $1 order by tool";
const CLEAR: &str = "delete from policy where tenant_id = $1";
const ADD: &str = "insert into policy (tenant_id, tool) values ($1, $2)";

/// More names than this are not looked at.
const MOST: usize = 1_000;

/// The policies of all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct Policies {
    changes: Changes,
}

impl Policies {
    /// Over the door for changes.
    #[must_use]
    pub fn new(changes: Changes) -> Self {
        Self { changes }
    }

    /// Canonical names of the tools that are off, sorted.
    pub async fn get(&self, tenant: &TenantId) -> Result<Vec<String>, Error> {
        let owner = tenant.clone();
        self.changes
            .read(tenant, move |tx| Box::pin(async move { read(tx, &owner).await }))
            .await
    }

    /// Switches exactly these tools off, named canonically or by alias; gives the policy as it now is.
    pub async fn update(&self, by: By, disabled: &[String]) -> Result<Vec<String>, Error> {
        let wanted = canonical(disabled)?;
        let tenant = by.tenant.clone();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let before = read(tx, &tenant).await?;
                    if before == wanted {
                        return Ok((wanted, vec![]));
                    }
                    tx.execute(CLEAR, params![&tenant]).await?;
                    for tool in &wanted {
                        tx.execute(ADD, params![&tenant, tool]).await?;
                    }
                    let fact = Fact::new(
                        EventKind::PolicyChanged,
                        json!({"before": before, "after": wanted}),
                    );
                    Ok((wanted, vec![fact]))
                })
            })
            .await
    }
}

async fn read(tx: &mut Tx, tenant: &TenantId) -> Result<Vec<String>, StoreError> {
    let rows = tx.query(READ, params![tenant]).await?;
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}

fn canonical(names: &[String]) -> Result<Vec<String>, Error> {
    if names.len() > MOST {
        return Err(Error::invalid(
            "disabled_tools",
            format!("must hold at most {MOST} names"),
        ));
    }
    let mut known = BTreeSet::new();
    let mut unknown = BTreeSet::new();
    for name in names {
        match registry::tool(name) {
            Some(tool) => drop(known.insert(tool.name.to_owned())),
            None => drop(unknown.insert(name)),
        }
    }
    if unknown.is_empty() {
        return Ok(known.into_iter().collect());
    }
    let told: Vec<_> = unknown.into_iter().take(10).map(|name| not_known(name)).collect();
    Err(Error::invalid(
        "disabled_tools",
        format!("no tool named {}", told.join(", ")),
    ))
}

#[cfg(test)]
mod tests;
