//! Another key for a relay that has enrolled: an admin's word, on the record with both keys.

use serde_json::json;
use toolgate_contract::{frame::PublicKey, ids::TargetId};

use super::{NO_TARGET, Targets, rows, verdict};
use crate::{
    audit::EventKind,
    changes::{By, Fact},
    error::{Error, Missing},
    snapshot::RelayStanding,
    store::params,
};

const REPIN: &str = "update relay set public_key = $3, enrolled_us = $4, generation = generation + 1 \
     where tenant_id = $1 and target_id = $2";

impl Targets {
    /// Pins this key in place of the one that the target's relay enrolled with. A connection of the former key ends, and
    /// what was held against it is forgotten.
    pub async fn repin(&self, by: By, id: TargetId, key: PublicKey) -> Result<(), Error> {
        let (tenant, now_us) = (by.tenant.clone(), self.changes.now_us());
        let repinned = self.changes.make_then(
            by,
            move |tx| {
                Box::pin(async move {
                    let target = rows::find(tx, &tenant, id).await?.ok_or(NO_TARGET)?;
                    let former = target
                        .relay_key
                        .ok_or(Error::NotFound(Missing::Resource("enrolled relay")))?;
                    if former == key && target.standing() == RelayStanding::Locked {
                        return Err(Error::Conflict(
                            "this key was in use twice, so it cannot be trusted again; enrol the relay anew"
                                .into(),
                        ));
                    }
                    if former == key {
                        return Ok(((), vec![]));
                    }
                    tx.execute(REPIN, params![&tenant, id, &key.0, now_us]).await?;
                    rows::set_validation(tx, &tenant, id, &verdict::enrolled()).await?;
                    let detail = json!({
                        "name": target.name,
                        "key": key.to_string(),
                        "replaces": former.to_string(),
                    });
                    let fact = Fact::new(EventKind::RelayRepinned, detail).about(target.adapter(), id);
                    Ok(((), vec![fact]))
                })
            },
            self.cut_off(id),
        );
        repinned.await
    }
}
