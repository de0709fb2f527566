//! The host this gateway runs on, as a target whose relay runs inside `toolgate up`.

use toolgate_contract::ids::TenantId;

use super::{SSH, Target, Targets, config};
use crate::{
    changes::By,
    error::{Error, Missing},
    identity::Secret,
    names,
    store::params,
};

/// `config` is written by this room alone, so the mark has one spelling.
const FIND: &str = "select t.id, r.target_id \
     from target t left join relay r on r.tenant_id = t.tenant_id and r.target_id = t.id \
     where t.tenant_id = $1 and t.type = 'ssh' and t.config like '%\"builtIn\":true%' order by t.created_us limit 1";
const NAMED: &str = "select 1 from target where tenant_id = $1 and type = 'ssh' and name = $2";

impl Targets {
    /// Makes sure that this very host is a target of the first tenant, and gives a token for its relay to enrol with:
    /// none where the relay is enrolled and still `has_key`, its own half of the trust.
    pub async fn built_in_enrolment(&self, host_name: &str, has_key: bool) -> Result<Option<Secret>, Error> {
        let tenant = self
            .changes
            .home_tenant()
            .await?
            .ok_or(Error::NotFound(Missing::Resource("tenant")))?;
        let by = By::gateway(tenant.clone());
        let enrolment = match self.find_built_in(&tenant).await? {
            Some((_, true)) if has_key => return Ok(None),
            Some((id, _)) => self.enrol_known(by, id).await?,
            None => {
                let host_name = if names::check("name", host_name).is_ok() {
                    host_name
                } else {
                    "this-host"
                };
                let name = self.free_name(&tenant, host_name).await?;
                let target = Target::new(SSH, name, config::built_in(host_name), self.changes.now_us());
                self.add(by, target).await?.1
            }
        };
        Ok(Some(enrolment.token))
    }

    async fn find_built_in(
        &self,
        tenant: &TenantId,
    ) -> Result<Option<(toolgate_contract::ids::TargetId, bool)>, Error> {
        let owner = tenant.clone();
        self.changes
            .read(tenant, move |tx| {
                Box::pin(async move {
                    let row = tx.query_opt(FIND, params![&owner]).await?;
                    row.map(|row| Ok((row.parse(0)?, row.opt_text(1)?.is_some())))
                        .transpose()
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
