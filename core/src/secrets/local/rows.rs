//! The rows of `secret`.

use toolgate_contract::ids::{TargetId, TenantId};
use ulid::Ulid;

use super::envelope::{Envelope, FORMAT, Place};
use crate::store::{Row, StoreError, Tx, params};

const FIND: &str =
    "select id, format, version, kek_id, wrapped, sealed from secret where tenant_id = $1 and id = $2";
const INSERT: &str = "insert into secret (tenant_id, id, target_id, format, version, kek_id, wrapped, sealed, created_us, updated_us) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)";
const FORGET: &str = "delete from secret where tenant_id = $1 and target_id = $2";
const WRAPPED_OTHERWISE: &str = "select id, format, version, kek_id, wrapped, sealed from secret \
     where tenant_id = $1 and kek_id <> $2 and id > $3 order by id limit $4";
const REWRAP: &str = "update secret set kek_id = $5, wrapped = $6, updated_us = $7 \
     where tenant_id = $1 and id = $2 and version = $3 and kek_id = $4";
const KEK_IDS: &str = "select distinct kek_id from secret where tenant_id = $1";

/// One sealed secret as it stands.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) id: Ulid,
    pub(super) format: i64,
    pub(super) version: i64,
    pub(super) envelope: Envelope,
}

impl Stored {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.parse(0)?,
            format: row.int(1)?,
            version: row.int(2)?,
            envelope: Envelope {
                kek_id: row.text(3)?.to_owned(),
                wrapped: row.blob(4)?.to_vec(),
                sealed: row.blob(5)?.to_vec(),
            },
        })
    }
}

pub(super) async fn find(tx: &mut Tx, tenant: &TenantId, id: Ulid) -> Result<Option<Stored>, StoreError> {
    let row = tx.query_opt(FIND, params![tenant, id.to_string()]).await?;
    row.as_ref().map(Stored::read).transpose()
}

pub(super) async fn insert(
    tx: &mut Tx,
    place: Place<'_>,
    target: TargetId,
    envelope: &Envelope,
    now_us: i64,
) -> Result<(), StoreError> {
    let values = params![
        place.tenant,
        place.id.to_string(),
        target,
        FORMAT,
        place.version,
        &envelope.kek_id,
        &envelope.wrapped,
        &envelope.sealed,
        now_us,
    ];
    tx.execute(INSERT, values).await.map(drop)
}

pub(super) async fn forget_target(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
) -> Result<(), StoreError> {
    tx.execute(FORGET, params![tenant, target]).await.map(drop)
}

/// Some secrets whose data keys are not wrapped with this root, by id behind `after`.
pub(super) async fn wrapped_otherwise(
    tx: &mut Tx,
    tenant: &TenantId,
    kek_id: &str,
    after: &str,
    limit: i64,
) -> Result<Vec<Stored>, StoreError> {
    let rows = tx
        .query(WRAPPED_OTHERWISE, params![tenant, kek_id, after, limit])
        .await?;
    rows.iter().map(Stored::read).collect()
}

/// Puts another wrapping in place of the one that was read, if it is still there.
pub(super) async fn rewrap(
    tx: &mut Tx,
    place: Place<'_>,
    former: &str,
    kek_id: &str,
    wrapped: &[u8],
    now_us: i64,
) -> Result<(), StoreError> {
    let values = params![
        place.tenant,
        place.id.to_string(),
        place.version,
        former,
        kek_id,
        wrapped,
        now_us,
    ];
    tx.execute(REWRAP, values).await.map(drop)
}

/// Ids of the roots with which a tenant's data keys are wrapped.
pub(super) async fn kek_ids(tx: &mut Tx, tenant: &TenantId) -> Result<Vec<String>, StoreError> {
    let rows = tx.query(KEK_IDS, params![tenant]).await?;
    rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
}
