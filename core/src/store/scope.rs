//! Whose rows a transaction may touch, and the rule every statement is held to.
//!
//! On PostgreSQL row security guards against a forgotten predicate. Here the same mistake is found by reading the
//! statement: within a tenant's door it must name its tenant in `$1`, and `$1` must be bound to that tenant.

use toolgate_contract::ids::TenantId;

use super::{Param, StoreError};

/// Whose rows a transaction may touch.
#[derive(Debug, Clone)]
pub(super) enum Scope {
    /// One tenant's.
    Tenant(TenantId),
    /// All tenants'; the journal's batch.
    Journal,
    /// The tables that belong to no tenant.
    Global,
}

impl Scope {
    /// Refuses the values of a statement that are not this tenant's.
    pub(super) fn admit(
        &self,
        sql: &'static str,
        named: bool,
        params: &[Param<'_>],
    ) -> Result<(), StoreError> {
        let Self::Tenant(tenant) = self else { return Ok(()) };
        let bound = matches!(params.first(), Some(Param::Text(text)) if *text == tenant.as_str());
        if named && bound {
            Ok(())
        } else {
            Err(StoreError::Unscoped(sql))
        }
    }
}

/// Whether a statement names its tenant in `$1`: as a predicate, or as the first column of an insert.
pub(super) fn names_its_tenant(sql: &str) -> bool {
    let sql = sql
        .to_ascii_lowercase()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let inserts = sql.starts_with("insert into")
        && (sql.contains("(tenant_id,") || sql.contains("( tenant_id,"))
        && (sql.contains("values ($1") || sql.contains("values ( $1"));
    inserts
        || sql.contains("tenant_id = $1 ")
        || sql.ends_with("tenant_id = $1")
        || sql.contains("tenant_id = $1)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_names_its_tenant_or_is_found_out() {
        let check = |sql: &str, expected: bool| assert_eq!(names_its_tenant(sql), expected, "{sql}");
        check("select id from target where tenant_id = $1", true);
        check(
            "select id\n  from target\n where TENANT_ID = $1 and id = $2",
            true,
        );
        check(
            "select 1 from (select 1 from target where tenant_id = $1) t",
            true,
        );
        check("insert into policy (tenant_id, tool) values ($1, $2)", true);
        check(
            "insert into policy\n (tenant_id, tool)\nvalues ($1, $2) on conflict (tenant_id, tool) do nothing",
            true,
        );
        check("select id from target", false);
        check("select id from target where tenant_id = $2", false);
        check("select id from target where tenant_id = $11", false);
        check("delete from policy where tool = $1", false);
        check("insert into policy (tool, tenant_id) values ($1, $2)", false);
    }
}
