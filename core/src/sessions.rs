//! Sessions of people: how they begin, are told, and end.
//!
//! The one-time code of a sign-in link is traded for a session token by one atomic update, so it works once however many
//! try at the same moment. A code that is unknown, used or expired gets the one answer of a bad credential. Who a
//! provider names gets a session without a code; whether to believe it is not decided here. Of whom a code that comes of
//! an API token makes a session, whose token it is ends them both.

mod end;
mod list;
mod open;

use std::time::Duration;

use toolgate_contract::ids::{TenantId, TokenId};

pub(crate) use self::end::Reach;
pub use self::{
    list::Listed,
    open::{Method, Person},
};
use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::{Error, Missing},
    identity::{Kind, Presented, Role, Secret},
    store::{Row, StoreError, params},
    tokens::{Holder, NewCredential, SIGN_IN_CODE_LIFE},
};

// With the end of the principal's API token, where that has one: no session outlives it.
const FIND: &str = "select c.name, c.role, c.profile, (select min(a.expires_us) from token a where a.tenant_id = $1 \
     and a.kind = 'api' and a.name = c.name and a.revoked_us is null and a.expires_us > $3) \
     from token c where c.tenant_id = $1 and c.hash = $2 and c.kind = 'sign_in' and c.revoked_us is null \
     and c.expires_us > $3";
const IS_LIVE: &str = "select id from token where tenant_id = $1 and id = $2 and kind = 'api' and revoked_us is null \
     and (expires_us is null or expires_us > $3)";
const SPEND: &str = "update token set revoked_us = $3 where tenant_id = $1 and hash = $2 \
     and kind = 'sign_in' and revoked_us is null and expires_us > $3";
const DROP_UNUSED: &str = "delete from token where tenant_id = $1 and name = $2 and kind = 'sign_in' \
     and revoked_us is null";

/// Signing in, for all tenants. Clones share it.
#[derive(Debug, Clone)]
pub struct Sessions {
    changes: Changes,
}

/// The one-time code of a sign-in link.
#[derive(Debug)]
pub struct SignInCode {
    /// The code; given here and never again.
    pub code: Secret,
    /// When it ends, microseconds UTC.
    pub expires_us: i64,
}

/// Whom a code signs in.
#[derive(Debug)]
pub(crate) struct For {
    /// Name, role and profile.
    pub(crate) person: Person,
    /// The API token that the person has, and when it ends: with it what comes of the code.
    pub(crate) token: Option<(TokenId, Option<i64>)>,
}

/// A session that begins.
#[derive(Debug)]
pub struct Session {
    /// The session token; given here and never again.
    pub token: Secret,
    /// When it ends, microseconds UTC.
    pub expires_us: i64,
}

impl Sessions {
    /// Over the door for changes.
    #[must_use]
    pub fn new(changes: Changes) -> Self {
        Self { changes }
    }

    /// Makes a code that signs somebody in; an unused one of the same principal no longer works.
    pub(crate) async fn create_code(&self, by: By, whom: For) -> Result<SignInCode, Error> {
        let now_us = self.changes.now_us();
        let For { person, token } = whom;
        let expires_us = earlier(
            after(now_us, SIGN_IN_CODE_LIFE),
            token.and_then(|(_, end_us)| end_us),
        );
        let (tenant, name) = (by.tenant.clone(), person.name.clone());
        let holder = Holder {
            name: person.name,
            role: person.role,
            profile: person.profile,
            expires_us: Some(expires_us),
        };
        let made = NewCredential::mint(Kind::SignIn, &tenant, holder, now_us)?;
        let code = made.text.clone();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    // It may have been revoked since the caller was let in.
                    if let Some((id, _)) = token
                        && tx
                            .query_opt(IS_LIVE, params![&tenant, id, now_us])
                            .await?
                            .is_none()
                    {
                        return Err(Error::NotFound(Missing::Resource("live token")));
                    }
                    tx.execute(DROP_UNUSED, params![&tenant, name]).await?;
                    made.insert(tx).await?;
                    Ok(((), vec![Fact::new(EventKind::TokenCreated, made.detail())]))
                })
            })
            .await?;
        Ok(SignInCode { code, expires_us })
    }

    /// Trades a code for a session of the principal the code was made for.
    pub async fn sign_in(&self, code: &str, facade: &'static str) -> Result<Session, Error> {
        let presented = Presented::parse(code)
            .filter(|it| it.kind == Kind::SignIn)
            .ok_or(Error::Unauthenticated)?;
        let now_us = self.changes.now_us();
        let (tenant, hash) = (presented.tenant, presented.hash);
        // Looked up before it is spent, so that guessing costs no write.
        let holder = self
            .find(&tenant, hash, now_us)
            .await?
            .ok_or(Error::Unauthenticated)?;
        let by = By {
            tenant: tenant.clone(),
            principal: holder.name.clone(),
            role: holder.role.as_str(),
            facade,
        };
        let opening = open::Opening::mint(&tenant, holder, Method::Link, now_us)?;
        let session = opening.session();
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    if tx.execute(SPEND, params![&tenant, &hash, now_us]).await? != 1 {
                        return Err(Error::Unauthenticated);
                    }
                    Ok(((), opening.carry_out(tx).await?))
                })
            })
            .await?;
        Ok(session)
    }

    async fn find(&self, tenant: &TenantId, hash: [u8; 32], now_us: i64) -> Result<Option<Holder>, Error> {
        let owner = tenant.clone();
        let row = self.changes.read(tenant, move |tx| {
            Box::pin(async move { tx.query_opt(FIND, params![&owner, &hash, now_us]).await })
        });
        Ok(row.await?.as_ref().map(holder).transpose()?.flatten())
    }
}

// A row that a newer version wrote and this one cannot read lets nobody in.
fn holder(row: &Row) -> Result<Option<Holder>, StoreError> {
    // Whether the profile is still there is asked at every use of what is made of it.
    let profile = row.opt_text(2)?.map(str::to_owned);
    let Some(role) = Role::parse(row.text(1)?) else {
        return Ok(None);
    };
    Ok(Some(Holder {
        name: row.text(0)?.to_owned(),
        role,
        profile,
        expires_us: row.opt_int(3)?,
    }))
}

fn earlier(one_us: i64, other_us: Option<i64>) -> i64 {
    other_us.map_or(one_us, |other_us| one_us.min(other_us))
}

fn after(now_us: i64, span: Duration) -> i64 {
    now_us.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
