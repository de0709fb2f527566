//! The host this gateway runs on, as a target whose relay runs inside `toolgate up`.

use tokio::sync::watch;
use toolgate_contract::ids::{TargetId, TenantId};

use super::{SSH, Target, Targets, config, rows};
use crate::{
    changes::By,
    error::{Error, Missing},
    identity::Secret,
    names,
    snapshot::RelayStanding,
    store::params,
};

/// `config` is written by this room alone, so the mark has one spelling.
const FIND: &str = "select id from target where tenant_id = $1 and type = 'ssh' \
     and config like '%\"builtIn\":true%' order by created_us limit 1";
const OTHERS: &str =
    "select count(*) from target where tenant_id = $1 and type = 'ssh' and disabled = 0 and id <> $2";
const NAMED: &str = "select 1 from target where tenant_id = $1 and type = 'ssh' and name = $2";

/// The host this gateway runs on, as a target.
#[derive(Debug)]
pub struct BuiltInHost {
    /// The target's id; `None` where an admin removed it.
    pub id: Option<TargetId>,
    /// Its name.
    pub name: String,
    /// The tenant has other hosts as well, so that a call must name one.
    pub among_others: bool,
    /// What its relay is to do.
    pub relay: BuiltInRelay,
}

/// What the relay inside the gateway is to do. What an admin has revoked or removed stays so until an admin wants it
/// back.
#[derive(Debug)]
pub enum BuiltInRelay {
    /// Connect with the key it has.
    Connects,
    /// Enrol with this token.
    Enrols(Secret),
    /// Wait: an admin revoked it.
    Revoked,
    /// Wait: its key was in use twice.
    Locked,
    /// Wait: an admin removed the target.
    Removed,
}

impl Targets {
    /// Makes sure that this very host is a target of the first tenant, and says what its relay is to do. `has_key` is
    /// true where the relay holds a key of its own; `was_target` where this host had been made a target before.
    pub async fn built_in_host(
        &self,
        host_name: &str,
        has_key: bool,
        was_target: bool,
    ) -> Result<BuiltInHost, Error> {
        let tenant = self
            .changes
            .home_tenant()
            .await?
            .ok_or(Error::NotFound(Missing::Resource("tenant")))?;
        let by = By::gateway(tenant.clone());
        let (target, relay) = match self.find_built_in(&tenant).await? {
            Some(target) => {
                let relay = match target.standing() {
                    RelayStanding::Enrolled if has_key => BuiltInRelay::Connects,
                    RelayStanding::Enrolled | RelayStanding::Waiting => {
                        BuiltInRelay::Enrols(self.enrol_known(by, target.id).await?.1.token)
                    }
                    RelayStanding::Revoked => BuiltInRelay::Revoked,
                    RelayStanding::Locked => BuiltInRelay::Locked,
                };
                (target, relay)
            }
            None if was_target => {
                return Ok(BuiltInHost {
                    id: None,
                    name: host_name.to_owned(),
                    among_others: false,
                    relay: BuiltInRelay::Removed,
                });
            }
            None => {
                let (target, enrolment) = self.add_built_in(by, &tenant, host_name).await?;
                (target, BuiltInRelay::Enrols(enrolment.token))
            }
        };
        Ok(BuiltInHost {
            id: Some(target.id),
            among_others: self.has_others(&tenant, target.id).await?,
            name: target.name,
            relay,
        })
    }

    /// Tokens that an admin asks for while the gateway runs: the relay inside it enrols with each. As long as somebody
    /// listens, such a token is shown to nobody.
    #[must_use]
    pub fn built_in_tokens(&self) -> watch::Receiver<Option<Secret>> {
        self.built_in.subscribe()
    }

    async fn add_built_in(
        &self,
        by: By,
        tenant: &TenantId,
        host_name: &str,
    ) -> Result<(Target, super::Enrolment), Error> {
        let host_name = if names::check("name", host_name).is_ok() {
            host_name
        } else {
            "this-host"
        };
        let name = self.free_name(tenant, host_name).await?;
        let target = Target::new(SSH, name, config::built_in(host_name), self.changes.now_us());
        self.add(by, target).await
    }

    async fn find_built_in(&self, tenant: &TenantId) -> Result<Option<Target>, Error> {
        let owner = tenant.clone();
        self.changes
            .read(tenant, move |tx| {
                Box::pin(async move {
                    let Some(row) = tx.query_opt(FIND, params![&owner]).await? else {
                        return Ok(None);
                    };
                    rows::find(tx, &owner, row.parse(0)?).await
                })
            })
            .await
    }

    async fn has_others(&self, tenant: &TenantId, id: TargetId) -> Result<bool, Error> {
        let owner = tenant.clone();
        self.changes
            .read(tenant, move |tx| {
                Box::pin(async move {
                    let row = tx.query_opt(OTHERS, params![&owner, id]).await?;
                    Ok(row.map_or(Ok(0), |row| row.int(0))? > 0)
                })
            })
            .await
    }

    async fn free_name(&self, tenant: &TenantId, host_name: &str) -> Result<String, Error> {
        let (owner, wanted) = (tenant.clone(), host_name.to_owned());
        let taken = self.changes.read(tenant, move |tx| {
            Box::pin(async move { Ok(tx.query_opt(NAMED, params![&owner, &wanted]).await?.is_some()) })
        });
        if !taken.await? {
            return Ok(host_name.to_owned());
        }
        // Leaves room for the end of the name.
        let short: String = host_name.chars().take(40).collect();
        Ok(format!("{short} (built-in)"))
    }
}
