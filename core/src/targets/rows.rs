//! The rows of targets and of their relays.

use serde_json::Value;
use toolgate_contract::{
    frame::{Octets, PublicKey},
    ids::{TargetId, TenantId},
};

use super::verdict;
use crate::{
    registry,
    secrets::SecretRef,
    snapshot::RelayStanding,
    store::{Row, StoreError, Tx, params},
};

const FIND: &str = "select t.id, t.type, t.name, t.config, t.disabled, t.validation, t.created_us, t.updated_us, r.public_key \
     from target t left join relay r on r.tenant_id = t.tenant_id and r.target_id = t.id \
     where t.tenant_id = $1 and t.id = $2";
const LIST: &str = "select t.id, t.type, t.name, t.config, t.disabled, t.validation, t.created_us, t.updated_us, r.public_key \
     from target t left join relay r on r.tenant_id = t.tenant_id and r.target_id = t.id \
     where t.tenant_id = $1 and ($2 = '' or t.type = $2) and (t.type > $3 or (t.type = $3 and t.name > $4)) \
     order by t.type, t.name limit $5";
const COUNT: &str = "select count(*) from target where tenant_id = $1";
const INSERT: &str = "insert into target (tenant_id, id, type, name, config, disabled, validation, created_us, updated_us) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
const UPDATE: &str = "update target set name = $3, config = $4, disabled = $5, updated_us = $6 where tenant_id = $1 and id = $2";
const VALIDATED: &str = "update target set validation = $3 where tenant_id = $1 and id = $2";
const CHECKED: &str =
    "update target set validation = $4 where tenant_id = $1 and id = $2 and updated_us = $3";
const SECRET: &str = "select secret from target where tenant_id = $1 and id = $2";
const NAMED: &str = "select 1 from target where tenant_id = $1 and type = $2 and name = $3 and id <> $4";
const DELETE: &str = "delete from target where tenant_id = $1 and id = $2";
const FORGET_RELAY: &str = "delete from relay where tenant_id = $1 and target_id = $2";

/// One configured upstream.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its id.
    pub id: TargetId,
    /// Its adapter type.
    pub adapter: String,
    /// Its name.
    pub name: String,
    /// JSON object of its settings; never a credential.
    pub config: Value,
    /// The switch.
    pub disabled: bool,
    /// JSON object of the last validation.
    pub validation: Value,
    /// When it was added, microseconds UTC.
    pub created_us: i64,
    /// When it was last changed.
    pub updated_us: i64,
    /// The key of its relay, once one has enrolled.
    pub relay_key: Option<PublicKey>,
}

/// How a target was changed, on the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Created,
    Updated,
    Removed,
}

impl Change {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Removed => "removed",
        }
    }
}

impl Target {
    pub(super) fn new(adapter: &str, name: String, config: Value, now_us: i64) -> Self {
        Self {
            id: TargetId::mint(),
            adapter: adapter.to_owned(),
            name,
            config,
            disabled: false,
            validation: verdict::pending(),
            created_us: now_us,
            updated_us: now_us,
            relay_key: None,
        }
    }

    /// The adapter type, where this version knows it.
    pub(super) fn adapter(&self) -> &'static str {
        registry::addable_adapter(&self.adapter).unwrap_or_default()
    }

    /// How its relay stands with this gateway.
    #[must_use]
    pub fn standing(&self) -> RelayStanding {
        RelayStanding::of(&self.validation, self.relay_key.is_some())
    }

    fn read(row: &Row) -> Result<Self, StoreError> {
        let json = |column| serde_json::from_str(row.text(column)?).map_err(|_| StoreError::Column(column));
        Ok(Self {
            id: row.parse(0)?,
            adapter: row.text(1)?.to_owned(),
            name: row.text(2)?.to_owned(),
            config: json(3)?,
            disabled: row.int(4)? != 0,
            validation: json(5)?,
            created_us: row.int(6)?,
            updated_us: row.int(7)?,
            relay_key: row.opt_blob(8)?.map(|_| row.array(8).map(Octets)).transpose()?,
        })
    }
}

pub(super) async fn find(tx: &mut Tx, tenant: &TenantId, id: TargetId) -> Result<Option<Target>, StoreError> {
    tx.query_opt(FIND, params![tenant, id])
        .await?
        .as_ref()
        .map(Target::read)
        .transpose()
}

pub(super) async fn list(
    tx: &mut Tx,
    tenant: &TenantId,
    adapter: &str,
    after_type: &str,
    after_name: &str,
    limit: i64,
) -> Result<Vec<Target>, StoreError> {
    let rows = tx
        .query(LIST, params![tenant, adapter, after_type, after_name, limit])
        .await?;
    rows.iter().map(Target::read).collect()
}

pub(super) async fn count(tx: &mut Tx, tenant: &TenantId) -> Result<i64, StoreError> {
    tx.query_opt(COUNT, params![tenant])
        .await?
        .map_or(Ok(0), |row| row.int(0))
}

pub(super) async fn insert(tx: &mut Tx, tenant: &TenantId, target: &Target) -> Result<(), StoreError> {
    let values = params![
        tenant,
        target.id,
        &target.adapter,
        &target.name,
        target.config.to_string(),
        target.disabled,
        target.validation.to_string(),
        target.created_us,
        target.updated_us,
    ];
    tx.execute(INSERT, values).await.map(drop)
}

pub(super) async fn update(tx: &mut Tx, tenant: &TenantId, target: &Target) -> Result<(), StoreError> {
    let Target {
        id,
        name,
        config,
        disabled,
        updated_us,
        ..
    } = target;
    let values = params![tenant, *id, name, config.to_string(), *disabled, *updated_us];
    tx.execute(UPDATE, values).await.map(drop)
}

pub(super) async fn set_validation(
    tx: &mut Tx,
    tenant: &TenantId,
    id: TargetId,
    validation: &Value,
) -> Result<(), StoreError> {
    tx.execute(VALIDATED, params![tenant, id, validation.to_string()])
        .await
        .map(drop)
}

/// False where the target has changed since it had this version.
pub(super) async fn set_validation_of(
    tx: &mut Tx,
    tenant: &TenantId,
    id: TargetId,
    version: i64,
    validation: &Value,
) -> Result<bool, StoreError> {
    let values = params![tenant, id, version, validation.to_string()];
    Ok(tx.execute(CHECKED, values).await? > 0)
}

/// Which secret it uses, where it has one that this version can name.
pub(super) async fn secret_of(
    tx: &mut Tx,
    tenant: &TenantId,
    id: TargetId,
) -> Result<Option<SecretRef>, StoreError> {
    let row = tx.query_opt(SECRET, params![tenant, id]).await?;
    Ok(match &row {
        Some(row) => row.opt_text(0)?.and_then(SecretRef::read),
        None => None,
    })
}

/// Whether another target of this type has the name.
pub(super) async fn is_taken(tx: &mut Tx, tenant: &TenantId, target: &Target) -> Result<bool, StoreError> {
    let values = params![tenant, &target.adapter, &target.name, target.id];
    Ok(tx.query_opt(NAMED, values).await?.is_some())
}

/// The enrolments and the relay go with it.
pub(super) async fn delete(tx: &mut Tx, tenant: &TenantId, id: TargetId) -> Result<(), StoreError> {
    tx.execute(DELETE, params![tenant, id]).await.map(drop)
}

pub(super) async fn forget_relay(tx: &mut Tx, tenant: &TenantId, id: TargetId) -> Result<(), StoreError> {
    tx.execute(FORGET_RELAY, params![tenant, id]).await.map(drop)
}
