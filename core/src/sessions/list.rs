//! Which sessions are open, and what one of them is.

use toolgate_contract::ids::{TenantId, TokenId};

use super::Sessions;
use crate::{
    error::Error,
    store::{Row, StoreError, params},
};

const ALL: &str = "select id, name, role, coalesce(method, 'link'), created_us, expires_us, last_used_us from token \
     where tenant_id = $1 and kind = 'session' and revoked_us is null and expires_us > $2 \
     order by created_us desc, id desc limit $3";
const OWN: &str = "select id, name, role, coalesce(method, 'link'), created_us, expires_us, last_used_us from token \
     where tenant_id = $1 and kind = 'session' and revoked_us is null and expires_us > $2 and name = $4 \
     order by created_us desc, id desc limit $3";
const METHOD: &str =
    "select coalesce(method, 'link') from token where tenant_id = $1 and id = $2 and kind = 'session'";

/// Sessions that are told at once.
const MOST: i64 = 500;

/// An open session, without its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: TokenId,
    /// The principal's name.
    pub principal: String,
    /// Role by name.
    pub role: String,
    /// How it began, by name.
    pub method: String,
    /// When it began, microseconds UTC.
    pub created_us: i64,
    /// When it ends.
    pub expires_us: i64,
    /// When it was last used, as far as that is written.
    pub last_used_us: Option<i64>,
}

impl Sessions {
    /// The open sessions of a tenant, newest first: of one principal, or of everybody.
    pub(crate) async fn list(&self, tenant: &TenantId, of: Option<&str>) -> Result<Vec<Listed>, Error> {
        let (owner, of) = (tenant.clone(), of.map(str::to_owned));
        let now_us = self.changes.now_us();
        let rows = self.changes.read(tenant, move |tx| {
            Box::pin(async move {
                match of {
                    None => tx.query(ALL, params![&owner, now_us, MOST]).await,
                    Some(name) => tx.query(OWN, params![&owner, now_us, MOST, name]).await,
                }
            })
        });
        Ok(rows.await?.iter().map(Listed::read).collect::<Result<_, _>>()?)
    }

    /// How a session began; none where it is gone.
    pub(crate) async fn method(&self, tenant: &TenantId, id: TokenId) -> Result<Option<String>, Error> {
        let owner = tenant.clone();
        let row = self.changes.read(tenant, move |tx| {
            Box::pin(async move { tx.query_opt(METHOD, params![&owner, id]).await })
        });
        let row = row.await?;
        Ok(row
            .as_ref()
            .map(|row| row.text(0).map(str::to_owned))
            .transpose()?)
    }
}

impl Listed {
    fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.parse(0)?,
            principal: row.text(1)?.to_owned(),
            role: row.text(2)?.to_owned(),
            method: row.text(3)?.to_owned(),
            created_us: row.int(4)?,
            expires_us: row.int(5)?,
            last_used_us: row.opt_int(6)?,
        })
    }
}
