//! A tenant's own profile as the store keeps it.

use std::sync::Arc;

use toolgate_contract::{
    ids::TenantId,
    registry::{self, ALWAYS_ON},
};

use super::{Disclosure, PROJECT_TOOLS, Profile};
use crate::store::{Row, StoreError, Tx, params};

/// Every profile of a tenant; at most a hundred are made.
pub(crate) const ALL: &str = "select name, description, tools, disclosure, token_budget, result_cap, updated_us from profile \
     where tenant_id = $1 order by name limit 1000";

/// One of a tenant's own profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The profile.
    pub profile: Arc<Profile>,
    /// When it was changed last, microseconds UTC.
    pub updated_us: i64,
}

impl Stored {
    /// Reads a row of [`ALL`]. What another version wrote and this one cannot read hides more, never less.
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        let names: Vec<String> = serde_json::from_str(row.text(2)?).unwrap_or_default();
        let tools = names.iter().filter_map(|name| registry::tool(name));
        let number = |column: usize| -> Result<Option<u32>, StoreError> {
            let value = row.opt_int(column)?;
            Ok(value.map(|value| u32::try_from(value).unwrap_or(u32::MAX)))
        };
        let profile = Profile {
            projects: names.iter().any(|name| name == PROJECT_TOOLS),
            disclosure: Disclosure::parse(row.text(3)?).unwrap_or_default(),
            token_budget: number(4)?,
            result_cap: number(5)?,
            ..Profile::new(row.text(0)?, row.text(1)?, tools)
        };
        Ok(Self {
            profile: Arc::new(profile),
            updated_us: row.int(6)?,
        })
    }

    /// Puts it into the table; says how many rows it touched.
    pub(crate) async fn write(
        &self,
        tx: &mut Tx,
        statement: &'static str,
        tenant: &TenantId,
    ) -> Result<u64, StoreError> {
        let Profile {
            name,
            description,
            disclosure,
            token_budget,
            result_cap,
            ..
        } = &*self.profile;
        let tools: Vec<_> = self
            .profile
            .parts()
            .into_iter()
            .filter(|tool| !ALWAYS_ON.contains(tool))
            .collect();
        let values = params![
            tenant,
            &**name,
            description,
            serde_json::json!(tools).to_string(),
            disclosure.as_str(),
            token_budget.map(i64::from),
            result_cap.map(i64::from),
            self.updated_us,
        ];
        tx.execute(statement, values).await
    }
}
