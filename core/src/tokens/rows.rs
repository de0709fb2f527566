//! The rows of API tokens and the questions asked of them.

use toolgate_contract::ids::{TenantId, TokenId};

use crate::store::{Row, StoreError, Tx, params};

pub(super) const LIST_FIRST: &str = "select id, name, role, profile, created_us, expires_us, revoked_us, last_used_us from token \
     where tenant_id = $1 and kind = 'api' order by created_us desc, id desc limit $2";
pub(super) const LIST_AFTER: &str = "select id, name, role, profile, created_us, expires_us, revoked_us, last_used_us from token \
     where tenant_id = $1 and kind = 'api' and (created_us < $2 or (created_us = $2 and id < $3)) \
     order by created_us desc, id desc limit $4";
pub(super) const REVOKE: &str = "update token set revoked_us = $3 where tenant_id = $1 and id = $2 and kind = 'api' and revoked_us is null";
const FIND: &str = "select id, name, role, profile, created_us, expires_us, revoked_us, last_used_us from token \
     where tenant_id = $1 and kind = 'api' and id = $2";
const LIVE_ADMINS: &str = "select count(*) from token where tenant_id = $1 and kind = 'api' and role = 'admin' \
     and revoked_us is null and (expires_us is null or expires_us > $2)";
const LIVE: &str = "select count(*), coalesce(sum(case when name = $2 then 1 else 0 end), 0) from token \
     where tenant_id = $1 and kind = 'api' and revoked_us is null and (expires_us is null or expires_us > $3)";

/// One API token without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Its name; also the principal's.
    pub name: String,
    /// Role by name.
    pub role: String,
    /// The pinned profile.
    pub profile: Option<String>,
    /// When it was made, microseconds UTC.
    pub created_us: i64,
    /// When it ends.
    pub expires_us: Option<i64>,
    /// When it was revoked.
    pub revoked_us: Option<i64>,
    /// When it was last used, as far as that is written.
    pub last_used_us: Option<i64>,
}

impl Token {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.parse(0)?,
            name: row.text(1)?.to_owned(),
            role: row.text(2)?.to_owned(),
            profile: row.opt_text(3)?.map(str::to_owned),
            created_us: row.int(4)?,
            expires_us: row.opt_int(5)?,
            revoked_us: row.opt_int(6)?,
            last_used_us: row.opt_int(7)?,
        })
    }
}

pub(super) async fn find(tx: &mut Tx, tenant: &TenantId, id: TokenId) -> Result<Option<Token>, StoreError> {
    tx.query_opt(FIND, params![tenant, id])
        .await?
        .as_ref()
        .map(Token::read)
        .transpose()
}

pub(super) async fn live_admins(tx: &mut Tx, tenant: &TenantId, now_us: i64) -> Result<i64, StoreError> {
    count(
        tx.query_opt(LIVE_ADMINS, params![tenant, now_us]).await?.as_ref(),
        0,
    )
}

/// How many tokens live, and whether one of them has this name.
pub(super) async fn live(
    tx: &mut Tx,
    tenant: &TenantId,
    name: &str,
    now_us: i64,
) -> Result<(i64, bool), StoreError> {
    let row = tx.query_opt(LIVE, params![tenant, name, now_us]).await?;
    Ok((count(row.as_ref(), 0)?, count(row.as_ref(), 1)? > 0))
}

fn count(row: Option<&Row>, column: usize) -> Result<i64, StoreError> {
    row.map_or(Ok(0), |row| row.int(column))
}
