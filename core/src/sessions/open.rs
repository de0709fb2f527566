//! A session begins: its token is minted, its row stored, and the record told, within the caller's transaction.

use std::time::Duration;

use serde_json::json;
use toolgate_contract::ids::TenantId;

use super::{Session, Sessions, after, earlier};
use crate::{
    audit::EventKind,
    changes::{By, Fact},
    error::Error,
    identity::{Kind, Role},
    rfc3339,
    store::{StoreError, Tx, params},
    tokens::{Holder, NewCredential},
};

const FORGET_ENDED: &str =
    "delete from token where tenant_id = $1 and kind in ('session', 'sign_in') and expires_us < $2";
const OLDEST: &str = "select id from token where tenant_id = $1 and kind = 'session' and name = $2 \
     and revoked_us is null and expires_us > $3 order by created_us desc, id desc limit 100 offset $4";
const END: &str = "update token set revoked_us = $3 where tenant_id = $1 and id = $2 and kind = 'session'";

/// How long a session lives.
pub(super) const LIFE: Duration = Duration::from_secs(12 * 3_600);
/// Ended sessions and codes are kept this long.
pub(super) const KEPT: Duration = Duration::from_secs(24 * 3_600);
/// Open sessions of one principal; with one more the oldest ends.
pub(super) const MOST: i64 = 50;

/// How a session began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// With the one-time code of a sign-in link.
    Link,
    /// With OpenID Connect.
    Oidc,
}

impl Method {
    /// The name in the store, on the wire and on the record.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Oidc => "oidc",
        }
    }
}

/// Someone whose identity was proven elsewhere.
#[derive(Debug, Clone)]
pub struct Person {
    /// The principal's name.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The profile to pin.
    pub profile: Option<String>,
}

impl Sessions {
    /// Begins a session of such a person.
    ///
    /// # Errors
    /// When the record or the store cannot take it.
    pub async fn begin(
        &self,
        tenant: &TenantId,
        person: Person,
        method: Method,
        facade: &'static str,
    ) -> Result<Session, Error> {
        let by = By {
            tenant: tenant.clone(),
            principal: person.name.clone(),
            role: person.role.as_str(),
            facade,
        };
        let holder = Holder {
            name: person.name,
            role: person.role,
            profile: person.profile,
            expires_us: None,
        };
        let opening = Opening::mint(tenant, holder, method, self.changes.now_us())?;
        let session = opening.session();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move { Ok(((), opening.carry_out(tx).await?)) })
            })
            .await?;
        Ok(session)
    }
}

/// A session that is minted and not stored yet.
#[derive(Debug)]
pub(super) struct Opening {
    credential: NewCredential,
    method: Method,
    now_us: i64,
    expires_us: i64,
}

impl Opening {
    /// Always of new random bytes: what a browser brought before is never taken up. It ends with its holder, at the latest.
    pub(super) fn mint(
        tenant: &TenantId,
        holder: Holder,
        method: Method,
        now_us: i64,
    ) -> Result<Self, Error> {
        let expires_us = earlier(after(now_us, LIFE), holder.expires_us);
        let holder = Holder {
            expires_us: Some(expires_us),
            ..holder
        };
        let credential = NewCredential::mint(Kind::Session, tenant, holder, now_us)?;
        Ok(Self {
            credential: credential.begun_by(method.as_str()),
            method,
            now_us,
            expires_us,
        })
    }

    pub(super) fn session(&self) -> Session {
        Session {
            token: self.credential.text.clone(),
            expires_us: self.expires_us,
        }
    }

    /// Stores it, and forgets what ended long ago.
    pub(super) async fn carry_out(&self, tx: &mut Tx) -> Result<Vec<Fact>, StoreError> {
        let (tenant, now_us) = (&self.credential.tenant, self.now_us);
        tx.execute(FORGET_ENDED, params![tenant, before(now_us, KEPT)])
            .await?;
        let mut facts = self.make_room(tx).await?;
        self.credential.insert(tx).await?;
        let detail = json!({
            "id": self.credential.id.to_string(),
            "method": self.method.as_str(),
            "expires_at": rfc3339::format(self.expires_us),
        });
        facts.push(Fact::new(EventKind::SignedIn, detail));
        Ok(facts)
    }

    /// Ends the principal's oldest sessions where this one would be one too many.
    async fn make_room(&self, tx: &mut Tx) -> Result<Vec<Fact>, StoreError> {
        let (tenant, name) = (&self.credential.tenant, &self.credential.holder.name);
        let oldest = tx
            .query(OLDEST, params![tenant, name, self.now_us, MOST - 1])
            .await?;
        let mut facts = Vec::with_capacity(oldest.len() + 1);
        for row in &oldest {
            let id = row.text(0)?;
            tx.execute(END, params![tenant, id, self.now_us]).await?;
            let detail = json!({"id": id, "name": name, "why": "too_many"});
            facts.push(Fact::new(EventKind::SignedOut, detail));
        }
        Ok(facts)
    }
}

fn before(now_us: i64, span: Duration) -> i64 {
    now_us.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX))
}
