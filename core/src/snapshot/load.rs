//! Reads a tenant's snapshot.

use std::{collections::HashMap, sync::Arc};

use futures::FutureExt;
use toolgate_contract::{frame::Octets, ids::TenantId, registry};

use super::{RelayStanding, Snapshot, Target, Token};
use crate::{
    identity::{Kind, Role},
    profiles::{
        Profile,
        stored::{ALL as PROFILES, Stored},
    },
    secrets::SecretRef,
    store::{Row, Store, StoreError, Tenant, Tx, params},
};

const TOKENS: &str = "select hash, id, kind, name, role, profile, expires_us from token \
     where tenant_id = $1 and revoked_us is null and kind <> 'sign_in'";
const TARGETS: &str = "select t.id, t.type, t.name, t.disabled, t.validation, r.public_key, t.secret, t.config, t.updated_us \
     from target t left join relay r on r.tenant_id = t.tenant_id and r.target_id = t.id \
     where t.tenant_id = $1 order by t.type, t.name";
const POLICY: &str = "select tool from policy where tenant_id = $1";
/// Whoever sets one keeps them few.
const DEFAULTS: &str = "select owner, target_id from project_default where tenant_id = $1";

pub(super) async fn load(store: &Store, tenant: &TenantId) -> Result<Option<Snapshot>, StoreError> {
    // The version is read first: a change that crosses the load leaves a snapshot that looks old, never one that
    // looks new.
    let Some(found) = store.tenant(tenant).await? else {
        return Ok(None);
    };
    store
        .with_tenant_read(tenant, move |tx| read(tx, found).boxed())
        .await
        .map(Some)
}

async fn read(tx: &mut Tx, found: Tenant) -> Result<Snapshot, StoreError> {
    let tenant = found.id;
    let tokens = tx.query(TOKENS, params![&tenant]).await?;
    let targets = tx.query(TARGETS, params![&tenant]).await?;
    let disabled = tx.query(POLICY, params![&tenant]).await?;
    let defaults = tx.query(DEFAULTS, params![&tenant]).await?;
    let profiles: HashMap<Arc<str>, Arc<Profile>> = tx
        .query(PROFILES, params![&tenant])
        .await?
        .iter()
        .map(|row| Stored::read(row).map(|own| (Arc::clone(&own.profile.name), own.profile)))
        .collect::<Result<_, _>>()?;
    Ok(Snapshot {
        version: found.version,
        tenant_name: found.name,
        tokens: tokens
            .iter()
            .filter_map(|row| token(row, &profiles).transpose())
            .collect::<Result<_, _>>()?,
        targets: targets
            .iter()
            .filter_map(|row| target(row).transpose())
            .collect::<Result<_, _>>()?,
        disabled: disabled
            .iter()
            .filter_map(|row| row.text(0).ok().and_then(registry::tool))
            .map(|t| t.name)
            .collect(),
        profiles,
        defaults: defaults
            .iter()
            .map(|row| Ok((row.text(0)?.to_owned(), row.parse(1)?)))
            .collect::<Result<_, StoreError>>()?,
        stand_alone: false,
        #[cfg(any(test, feature = "conformance"))]
        fixtures: crate::fixtures::Shown::None,
        lists: std::sync::Mutex::new(HashMap::new()),
        tenant,
    })
}

// A row that a newer version wrote and this one cannot read gives no access.
fn token(
    row: &Row,
    profiles: &HashMap<Arc<str>, Arc<Profile>>,
) -> Result<Option<([u8; 32], Token)>, StoreError> {
    let (Ok(hash), Ok(id)) = (<[u8; 32]>::try_from(row.blob(0)?), row.text(1)?.parse()) else {
        return Ok(None);
    };
    let (Some(kind), Some(role)) = (Kind::parse(row.text(2)?), Role::parse(row.text(4)?)) else {
        return Ok(None);
    };
    let profile = match row.opt_text(5)? {
        None => None,
        Some(name) => match Profile::built_in(name).or_else(|| profiles.get(name).cloned()) {
            Some(profile) => Some(profile),
            // A pinned profile that no longer exists must not become no profile.
            None => return Ok(None),
        },
    };
    let name: Arc<str> = row.text(3)?.into();
    Ok(Some((
        hash,
        Token {
            id,
            kind,
            name,
            role,
            profile,
            expires_us: row.opt_int(6)?,
        },
    )))
}

fn target(row: &Row) -> Result<Option<Arc<Target>>, StoreError> {
    let (Ok(id), Some(adapter)) = (
        row.text(0)?.parse(),
        crate::registry::addable_adapter(row.text(1)?),
    ) else {
        return Ok(None);
    };
    let validation: serde_json::Value = serde_json::from_str(row.text(4)?).unwrap_or_default();
    let secret = match row.opt_text(6)? {
        None => None,
        Some(text) => match SecretRef::read(text) {
            Some(reference) => Some(reference),
            // What needs a credential must not be called without one.
            None => return Ok(None),
        },
    };
    Ok(Some(Arc::new(Target {
        id,
        adapter,
        name: row.text(2)?.to_owned(),
        disabled: row.int(3)? != 0,
        relay: RelayStanding::of(&validation, row.opt_blob(5)?.is_some()),
        relay_key: row.opt_blob(5)?.map(|_| row.array(5).map(Octets)).transpose()?,
        secret,
        settings: serde_json::from_str(row.text(7)?).unwrap_or_default(),
        validation,
        version: row.int(8)?,
    })))
}
