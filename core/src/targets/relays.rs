//! What relays may do at the gate: redeem an enrolment, be known by their key, be suspected of having a double.
//!
//! A relay is who its key says it is; the caller has verified the signature before anything here is asked. An
//! enrolment is redeemed by one atomic update, so it works once however many try at the same moment.

use serde_json::json;
use toolgate_contract::{
    frame::{self, PublicKey},
    ids::{EventId, TargetId, TenantId},
};

use super::{SSH, Targets, enrolment, rows, verdict};
use crate::{
    audit::EventKind,
    changes::{By, Fact},
    error::Error,
    store::params,
};

const FIND: &str = "select target_id, public_key from relay where tenant_id = $1 and id = $2";
const OPEN: &str = "select target_id from enrolment where tenant_id = $1 and hash = $2 \
     and used_us is null and expires_us > $3";
const REDEEM: &str = "update enrolment set used_us = $3 where tenant_id = $1 and hash = $2 \
     and used_us is null and expires_us > $3";
const ENROL: &str = "insert into relay (tenant_id, target_id, id, public_key, enrolled_us, generation) \
     values ($1, $2, $3, $4, $5, 1) on conflict (tenant_id, target_id) do update set id = excluded.id, \
     public_key = excluded.public_key, enrolled_us = excluded.enrolled_us, generation = relay.generation + 1";

/// An enrolled relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay {
    /// Its id.
    pub id: String,
    /// The target it stands for.
    pub target: TargetId,
    /// The key it proved, and must prove at every connect.
    pub public_key: PublicKey,
}

impl Targets {
    /// The relay of this id; `None` where there is none in this tenant.
    pub async fn relay(&self, tenant: &TenantId, id: &str) -> Result<Option<Relay>, Error> {
        let (owner, id) = (tenant.clone(), id.to_owned());
        self.changes
            .read(tenant, move |tx| {
                Box::pin(async move {
                    let row = tx.query_opt(FIND, params![&owner, &id]).await?;
                    row.map(|row| {
                        Ok(Relay {
                            id,
                            target: row.parse(0)?,
                            public_key: frame::Octets(row.array(1)?),
                        })
                    })
                    .transpose()
                })
            })
            .await
    }

    /// Spends an enrolment for the relay that proved this key; `None` where the token is unknown, used or expired.
    ///
    /// A relay that was enrolled for the same target before is forgotten.
    pub async fn redeem(
        &self,
        tenant: &TenantId,
        secret: &frame::Secret,
        public_key: PublicKey,
    ) -> Result<Option<Relay>, Error> {
        let (hash, now_us) = (enrolment::hash(secret), self.changes.now_us());
        // Looked up before it is spent, so that guessing costs no write.
        let Some(target) = self.open_enrolment(tenant, hash, now_us).await? else {
            return Ok(None);
        };
        let relay = Relay {
            id: EventId::mint().to_string(),
            target,
            public_key,
        };
        let owner = tenant.clone();
        self.changes
            .make(By::gateway(tenant.clone()), move |tx| {
                Box::pin(async move {
                    if tx.execute(REDEEM, params![&owner, &hash, now_us]).await? != 1 {
                        return Ok((None, vec![]));
                    }
                    let known = rows::find(tx, &owner, target).await?;
                    let values = params![&owner, target, &relay.id, &relay.public_key.0, now_us];
                    tx.execute(ENROL, values).await?;
                    rows::set_validation(tx, &owner, target, &verdict::enrolled()).await?;
                    let detail = json!({
                        "relay": relay.id,
                        "key": relay.public_key.to_string(),
                        "name": known.as_ref().map(|target| target.name.as_str()),
                        "replaces": known.as_ref().and_then(|target| target.relay.as_deref()),
                    });
                    Ok((
                        Some(relay),
                        vec![Fact::new(EventKind::RelayEnrolled, detail).about(SSH, target)],
                    ))
                })
            })
            .await
    }

    /// Puts on the record that two holders of one key take turns.
    pub async fn suspect_clone(&self, tenant: &TenantId, relay: &str, target: TargetId) -> Result<(), Error> {
        let fact = Fact::new(EventKind::RelayCloneSuspected, json!({"relay": relay})).about(SSH, target);
        self.changes
            .make(By::gateway(tenant.clone()), move |_| {
                Box::pin(async move { Ok(((), vec![fact])) })
            })
            .await
    }

    async fn open_enrolment(
        &self,
        tenant: &TenantId,
        hash: [u8; 32],
        now_us: i64,
    ) -> Result<Option<TargetId>, Error> {
        let owner = tenant.clone();
        self.changes
            .read(tenant, move |tx| {
                Box::pin(async move {
                    let row = tx.query_opt(OPEN, params![&owner, &hash, now_us]).await?;
                    row.map(|row| row.parse(0)).transpose()
                })
            })
            .await
    }
}
