//! The rows of projects: which list of tools is in force, and where calls go that name no project.
//!
//! Statements only; who may change what is decided before. Snapshots read the defaults by a statement of their own.

use std::collections::HashMap;

use toolgate_contract::ids::{TargetId, TenantId};

use super::Owner;
use crate::store::{Row, StoreError, Tx, params};

const FIND: &str = "select hash, withheld_hash from project_tools where tenant_id = $1 and target_id = $2";
const ALL: &str = "select target_id, hash, withheld_hash from project_tools where tenant_id = $1";
const SET: &str = "insert into project_tools (tenant_id, target_id, hash, withheld_hash, updated_us) \
     values ($1, $2, $3, null, $4) on conflict (tenant_id, target_id) do update set hash = excluded.hash, \
     withheld_hash = null, updated_us = excluded.updated_us";
const WITHHOLD: &str =
    "update project_tools set withheld_hash = $3, updated_us = $4 where tenant_id = $1 and target_id = $2";
const ACCEPT: &str = "update project_tools set hash = withheld_hash, withheld_hash = null, updated_us = $4 \
     where tenant_id = $1 and target_id = $2 and withheld_hash = $3";

const DEFAULT: &str = "select target_id from project_default where tenant_id = $1 and owner = $2";
const SET_DEFAULT: &str = "insert into project_default (tenant_id, owner, target_id, updated_us) \
     values ($1, $2, $3, $4) on conflict (tenant_id, owner) do update set target_id = excluded.target_id, \
     updated_us = excluded.updated_us";
const CLEAR_DEFAULT: &str = "delete from project_default where tenant_id = $1 and owner = $2";
// One that is set again is not counted twice.
const COUNT_DEFAULTS: &str =
    "select count(*) from project_default where tenant_id = $1 and owner like 's:%' and owner <> $2";
const SWEEP: &str =
    "delete from project_default where tenant_id = $1 and owner like 's:%' and updated_us < $2";

/// Which list of a project's tools is in force, by SHA-256 in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InForce {
    /// The list that callers see.
    pub(crate) hash: String,
    /// A changed one that is kept back until an admin accepts it.
    pub(crate) withheld: Option<String>,
}

/// The lists of one project; `None` where none was ever told.
pub(crate) async fn find_list(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
) -> Result<Option<InForce>, StoreError> {
    let Some(row) = tx.query_opt(FIND, params![tenant, target]).await? else {
        return Ok(None);
    };
    Ok(Some(InForce {
        hash: row.text(0)?.to_owned(),
        withheld: row.opt_text(1)?.map(str::to_owned),
    }))
}

/// The lists of all projects of a tenant.
pub(crate) async fn all_lists(
    tx: &mut Tx,
    tenant: &TenantId,
) -> Result<HashMap<TargetId, InForce>, StoreError> {
    let rows = tx.query(ALL, params![tenant]).await?;
    let read = |row: &Row| {
        let list = InForce {
            hash: row.text(1)?.to_owned(),
            withheld: row.opt_text(2)?.map(str::to_owned),
        };
        Ok((row.parse(0)?, list))
    };
    rows.iter().map(read).collect()
}

/// Puts a list in force; none is kept back any more.
pub(crate) async fn set_list(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
    hash: &str,
    now_us: i64,
) -> Result<(), StoreError> {
    tx.execute(SET, params![tenant, target, hash, now_us])
        .await
        .map(drop)
}

/// Keeps a changed list back, or none. False where no list is in force yet: the first one needs nobody's word.
pub(crate) async fn withhold_list(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
    withheld: Option<&str>,
    now_us: i64,
) -> Result<bool, StoreError> {
    let values = params![tenant, target, withheld, now_us];
    Ok(tx.execute(WITHHOLD, values).await? > 0)
}

/// Puts the list that is kept back in force. False where it is not this one.
pub(crate) async fn accept_list(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
    hash: &str,
    now_us: i64,
) -> Result<bool, StoreError> {
    Ok(tx.execute(ACCEPT, params![tenant, target, hash, now_us]).await? > 0)
}

/// Where calls go that name no project.
pub(crate) async fn find_default(
    tx: &mut Tx,
    tenant: &TenantId,
    owner: &Owner,
) -> Result<Option<TargetId>, StoreError> {
    let row = tx.query_opt(DEFAULT, params![tenant, owner.stored()]).await?;
    row.map(|row| row.parse(0)).transpose()
}

/// Sets where calls go that name no project.
pub(crate) async fn set_default(
    tx: &mut Tx,
    tenant: &TenantId,
    owner: &Owner,
    target: TargetId,
    now_us: i64,
) -> Result<(), StoreError> {
    let values = params![tenant, owner.stored(), target, now_us];
    tx.execute(SET_DEFAULT, values).await.map(drop)
}

/// Forgets a default. False where there was none.
pub(crate) async fn clear_default(tx: &mut Tx, tenant: &TenantId, owner: &Owner) -> Result<bool, StoreError> {
    Ok(tx.execute(CLEAR_DEFAULT, params![tenant, owner.stored()]).await? > 0)
}

/// How many sessions but this owner have a default.
pub(crate) async fn other_sessions(tx: &mut Tx, tenant: &TenantId, owner: &Owner) -> Result<i64, StoreError> {
    let row = tx
        .query_opt(COUNT_DEFAULTS, params![tenant, owner.stored()])
        .await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// Forgets the defaults of sessions that were last set before this time; says how many.
pub(crate) async fn sweep_sessions(
    tx: &mut Tx,
    tenant: &TenantId,
    before_us: i64,
) -> Result<u64, StoreError> {
    tx.execute(SWEEP, params![tenant, before_us]).await
}

#[cfg(test)]
mod tests;
