//! The rows of tenants' own profiles and the questions asked of them.

use toolgate_contract::ids::TenantId;

use crate::{
    profiles::stored::{ALL, Stored},
    store::{Row, StoreError, Tx, params},
};

const FIND: &str = "select name, description, tools, disclosure, token_budget, result_cap, updated_us from profile \
     where tenant_id = $1 and name = $2";
const NAMES: &str = "select name from profile where tenant_id = $1 order by name limit 1000";
pub(super) const INSERT: &str = "insert into profile (tenant_id, name, description, tools, disclosure, token_budget, result_cap, updated_us) \
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (tenant_id, name) do nothing";
pub(super) const UPDATE: &str = "update profile set description = $3, tools = $4, disclosure = $5, token_budget = $6, result_cap = $7, \
     updated_us = $8 where tenant_id = $1 and name = $2";
pub(super) const REMOVE: &str = "delete from profile where tenant_id = $1 and name = $2";
// Changes nothing, and keeps others from changing or removing the row until the end of the transaction.
const HOLD: &str = "update profile set name = name where tenant_id = $1 and name = $2";
const PINS: &str = "select name from token where tenant_id = $1 and profile = $2 and kind <> 'sign_in' \
     and revoked_us is null and (expires_us is null or expires_us > $3) order by name limit 1000";

pub(super) async fn all(tx: &mut Tx, tenant: &TenantId) -> Result<Vec<Stored>, StoreError> {
    tx.query(ALL, params![tenant])
        .await?
        .iter()
        .map(Stored::read)
        .collect()
}

pub(super) async fn find(tx: &mut Tx, tenant: &TenantId, name: &str) -> Result<Option<Stored>, StoreError> {
    let row = tx.query_opt(FIND, params![tenant, name]).await?;
    row.as_ref().map(Stored::read).transpose()
}

pub(super) async fn names(tx: &mut Tx, tenant: &TenantId) -> Result<Vec<String>, StoreError> {
    texts(&tx.query(NAMES, params![tenant]).await?)
}

/// Whether there is such a profile, which then stays as it is until the end of the transaction.
pub(super) async fn hold(tx: &mut Tx, tenant: &TenantId, name: &str) -> Result<bool, StoreError> {
    Ok(tx.execute(HOLD, params![tenant, name]).await? > 0)
}

/// The names of live credentials that pin a profile.
pub(super) async fn pins(
    tx: &mut Tx,
    tenant: &TenantId,
    name: &str,
    now_us: i64,
) -> Result<Vec<String>, StoreError> {
    texts(&tx.query(PINS, params![tenant, name, now_us]).await?)
}

fn texts(rows: &[Row]) -> Result<Vec<String>, StoreError> {
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}
