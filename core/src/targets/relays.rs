//! Where relays are kept: the store behind the uplinks' questions, and what they tell, on the record.
//!
//! One target has one relay, so a relay's id is its target's, and what it offers follows from its target's type. A token is redeemed by one atomic update, so it works
//! once however many try at the same moment; its row and the relay's are the same transaction. Whoever asks has
//! verified the signature before.

use futures::future::BoxFuture;
use serde_json::json;
use tokio_util::task::TaskTracker;
use toolgate_contract::{
    frame::{GoAwayReason, Offer, PublicKey},
    ids::{TargetId, TenantId},
    v1::ErrorReason,
};

use super::{SSH, rows, verdict};
use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::Error,
    journal::{Journal, Refusal},
    registry::PROJECT,
    snapshot::RelayStanding,
    store::{StoreError, Tx, params},
    uplinks::{Enrolments, RedeemError, RelayRecord, Standing, StoreUnavailable, UplinkEvents},
};

const OPEN: &str = "select target_id from enrolment where tenant_id = $1 and hash = $2 \
     and used_us is null and expires_us > $3";
const REDEEM: &str = "update enrolment set used_us = $3 where tenant_id = $1 and hash = $2 \
     and used_us is null and expires_us > $3";
const ENROL: &str = "insert into relay (tenant_id, target_id, id, public_key, enrolled_us, generation) \
     values ($1, $2, $3, $4, $5, 1) on conflict (tenant_id, target_id) do update set id = excluded.id, \
     public_key = excluded.public_key, enrolled_us = excluded.enrolled_us, generation = relay.generation + 1";

/// The relays of all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct Relays {
    changes: Changes,
    journal: Journal,
    tasks: TaskTracker,
}

impl Relays {
    /// Over the door for changes; what it hands on is owned by `tasks`.
    #[must_use]
    pub fn new(changes: Changes, journal: Journal, tasks: TaskTracker) -> Self {
        Self {
            changes,
            journal,
            tasks,
        }
    }

    async fn known(&self, tenant: &TenantId, target: TargetId) -> Result<Option<RelayRecord>, Error> {
        let owner = tenant.clone();
        let found = self.changes.read(tenant, move |tx| {
            Box::pin(async move { rows::find(tx, &owner, target).await })
        });
        let Some(known) = found.await? else {
            return Ok(None);
        };
        let Some((key, offer)) = known.relay_key.zip(offer_of(&known.adapter)) else {
            return Ok(None);
        };
        Ok(Some(RelayRecord {
            standing: match known.standing() {
                RelayStanding::Locked => Standing::Locked,
                RelayStanding::Revoked => Standing::Revoked,
                RelayStanding::Waiting | RelayStanding::Enrolled => Standing::Active,
            },
            ..record(tenant, target, key, offer)
        }))
    }

    // Looked up before it is spent, so that guessing costs no write, and so that a relay of another kind leaves it whole.
    async fn open(&self, tenant: &TenantId, hash: [u8; 32], offer: Offer) -> Result<Option<TargetId>, Error> {
        let (owner, now_us) = (tenant.clone(), self.changes.now_us());
        let open = self.changes.read(tenant, move |tx| {
            Box::pin(async move {
                let Some(row) = tx.query_opt(OPEN, params![&owner, &hash, now_us]).await? else {
                    return Ok(None);
                };
                rows::find(tx, &owner, row.parse(0)?).await
            })
        });
        let fits = |target: &rows::Target| offer_of(&target.adapter) == Some(offer);
        Ok(open.await?.filter(fits).map(|target| target.id))
    }

    async fn enrol(
        &self,
        tenant: &TenantId,
        hash: [u8; 32],
        key: PublicKey,
        offer: Offer,
    ) -> Result<Option<TargetId>, Error> {
        let Some(target) = self.open(tenant, hash, offer).await? else {
            return Ok(None);
        };
        let (owner, now_us) = (tenant.clone(), self.changes.now_us());
        let enrolled = self.changes.make(By::gateway(tenant.clone()), move |tx| {
            Box::pin(async move {
                if tx.execute(REDEEM, params![&owner, &hash, now_us]).await? != 1 {
                    return Ok((None, vec![]));
                }
                let fact = pin(tx, &owner, target, key, now_us)
                    .await?
                    .about(adapter_of(offer), target);
                Ok((Some(target), vec![fact]))
            })
        });
        enrolled.await
    }

    async fn record_clone(&self, relay: RelayRecord) {
        let fact = Fact::new(
            EventKind::RelayCloneSuspected,
            json!({"key": relay.public_key.to_string()}),
        )
        .about(adapter_of(relay.offer), relay.target);
        let (tenant, target, key) = (relay.tenant.clone(), relay.target, relay.public_key);
        let recorded = self.changes.make(By::gateway(relay.tenant), move |tx| {
            Box::pin(async move {
                // Locked until a relay enrols anew, also over a restart; one that just has is not to blame.
                let known = rows::find(tx, &tenant, target).await?;
                if known.is_some_and(|known| known.relay_key == Some(key)) {
                    rows::set_validation(tx, &tenant, target, &verdict::locked()).await?;
                }
                Ok(((), vec![fact]))
            })
        });
        if let Err(error) = recorded.await {
            tracing::error!(target = %relay.target, %error, "the suspicion of a cloned relay is not on the record");
        }
    }
}

async fn pin(
    tx: &mut Tx,
    tenant: &TenantId,
    target: TargetId,
    key: PublicKey,
    now_us: i64,
) -> Result<Fact, StoreError> {
    let known = rows::find(tx, tenant, target).await?;
    tx.execute(ENROL, params![tenant, target, target.to_string(), &key.0, now_us])
        .await?;
    rows::set_validation(tx, tenant, target, &verdict::enrolled()).await?;
    let detail = json!({
        "key": key.to_string(),
        "name": known.as_ref().map(|target| target.name.as_str()),
        "replaces": known.as_ref().and_then(|target| target.relay_key).map(|key| key.to_string()),
    });
    Ok(Fact::new(EventKind::RelayEnrolled, detail))
}

/// What the relay of a target of this type offers; `None` for a target that has none.
fn offer_of(adapter: &str) -> Option<Offer> {
    match adapter {
        SSH => Some(Offer::Host),
        PROJECT => Some(Offer::Project),
        _ => None,
    }
}

fn adapter_of(offer: Offer) -> &'static str {
    match offer {
        Offer::Host => SSH,
        Offer::Project => PROJECT,
    }
}

fn record(tenant: &TenantId, target: TargetId, public_key: PublicKey, offer: Offer) -> RelayRecord {
    RelayRecord {
        tenant: tenant.clone(),
        target,
        public_key,
        offer,
        standing: Standing::Active,
    }
}

fn unavailable(error: Error) -> StoreUnavailable {
    tracing::warn!(%error, "relays cannot be looked up");
    StoreUnavailable
}

impl Enrolments for Relays {
    fn find<'a>(
        &'a self,
        tenant: &'a TenantId,
        relay: TargetId,
    ) -> BoxFuture<'a, Result<Option<RelayRecord>, StoreUnavailable>> {
        Box::pin(async move { self.known(tenant, relay).await.map_err(unavailable) })
    }

    fn redeem<'a>(
        &'a self,
        tenant: &'a TenantId,
        secret_hash: [u8; 32],
        public_key: PublicKey,
        offer: Offer,
    ) -> BoxFuture<'a, Result<RelayRecord, RedeemError>> {
        Box::pin(async move {
            let enrolled = self
                .enrol(tenant, secret_hash, public_key, offer)
                .await
                .map_err(unavailable)?;
            enrolled
                .map(|target| record(tenant, target, public_key, offer))
                .ok_or(RedeemError::Refused)
        })
    }

    fn name_of<'a>(
        &'a self,
        tenant: &'a TenantId,
        relay: TargetId,
    ) -> BoxFuture<'a, Result<Option<String>, StoreUnavailable>> {
        Box::pin(self.name_of_project(tenant, Find::Target(relay)))
    }

    fn name_of_token<'a>(
        &'a self,
        tenant: &'a TenantId,
        secret_hash: [u8; 32],
    ) -> BoxFuture<'a, Result<Option<String>, StoreUnavailable>> {
        Box::pin(self.name_of_project(tenant, Find::Token(secret_hash)))
    }
}

impl Relays {
    // Projects only: what a host's relay calls itself is for people.
    async fn name_of_project(
        &self,
        tenant: &TenantId,
        find: Find,
    ) -> Result<Option<String>, StoreUnavailable> {
        let (owner, now_us) = (tenant.clone(), self.changes.now_us());
        let found = self.changes.read(tenant, move |tx| {
            Box::pin(async move {
                let id = match find {
                    Find::Target(id) => id,
                    Find::Token(hash) => match tx.query_opt(OPEN, params![&owner, &hash, now_us]).await? {
                        Some(row) => row.parse(0)?,
                        None => return Ok(None),
                    },
                };
                rows::find(tx, &owner, id).await
            })
        });
        let found = found.await.map_err(unavailable)?;
        Ok(found
            .filter(|target| target.adapter == PROJECT)
            .map(|target| target.name))
    }
}

/// By what a target is found.
enum Find {
    Target(TargetId),
    Token([u8; 32]),
}

impl UplinkEvents for Relays {
    // The tenant is only what the peer claimed, so it is counted where there is none yet.
    fn refused(&self, _: &TenantId, reason: GoAwayReason) {
        let reason = match reason {
            GoAwayReason::Unavailable | GoAwayReason::Overloaded | GoAwayReason::ShuttingDown => return,
            GoAwayReason::Protocol | GoAwayReason::TimedOut => ErrorReason::RequestMalformed,
            GoAwayReason::OtherName
            | GoAwayReason::TokenRefused
            | GoAwayReason::ProofRefused
            | GoAwayReason::ReEnrol
            | GoAwayReason::Revoked
            | GoAwayReason::CloneSuspected
            | GoAwayReason::Superseded
            | GoAwayReason::Unknown => ErrorReason::CredentialInvalid,
        };
        self.journal.count_refusal(Refusal {
            tenant: TenantId::system(),
            kind: EventKind::RequestRefused,
            principal: "relay".into(),
            reason: reason.name().into(),
            role: String::new(),
            facade: "uplink".into(),
            capability: String::new(),
        });
    }

    fn clone_suspected(&self, relay: &RelayRecord) {
        let (room, relay) = (self.clone(), relay.clone());
        self.tasks.spawn(async move { room.record_clone(relay).await });
    }
}
