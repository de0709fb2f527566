//! The first tenant of an empty store, and the operator's way in.
//!
//! The first start makes the tenant, its admin token and a sign-in code in one transaction. The token's file is
//! written before that commit: a crash between the two leaves a file that opens nothing, and the next start, which
//! finds the store still empty, writes it anew.

mod token_file;

use std::path::Path;

use serde_json::json;
use toolgate_contract::ids::TenantId;

use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::Error,
    identity::{Kind, Role, Secret},
    tokens::{Holder, NewCredential, SIGN_IN_CODE_LIFE},
};

/// The name of a gateway's first tenant.
const TENANT: &str = "default";
/// The name of the tenant of a process that stands alone.
const LOCAL: &str = "local";
/// The name of the first principal.
const ADMIN: &str = "admin";

/// What the first start made; shown to the operator once.
#[derive(Debug, Clone)]
pub struct FirstRun {
    /// The tenant.
    pub tenant_id: TenantId,
    /// Its admin's API token, also in the data directory's `admin-token`.
    pub admin_token: Secret,
    /// The one-time code of its admin's sign-in link.
    pub sign_in_code: Secret,
}

/// Makes the first tenant where there is none.
pub(crate) async fn first_run(changes: &Changes, data_dir: &Path) -> Result<Option<FirstRun>, Error> {
    match home(changes, data_dir).await? {
        Some(_) => Ok(None),
        None => begin(changes, data_dir, TenantId::mint(), TENANT).await.map(Some),
    }
}

/// Makes the tenant of a process that stands alone, unless there is one: then it is that one's guest.
pub(crate) async fn first_run_alone(
    changes: &Changes,
    data_dir: &Path,
) -> Result<(TenantId, Option<FirstRun>), Error> {
    match home(changes, data_dir).await? {
        Some(home) => Ok((home, None)),
        None => {
            let local = TenantId::local();
            let made = begin(changes, data_dir, local.clone(), LOCAL).await?;
            Ok((local, Some(made)))
        }
    }
}

async fn home(changes: &Changes, data_dir: &Path) -> Result<Option<TenantId>, Error> {
    let home = changes.home_tenant().await?;
    if home.is_some() {
        token_file::close_to_others(data_dir).map_err(Error::internal)?;
    }
    Ok(home)
}

async fn begin(
    changes: &Changes,
    data_dir: &Path,
    tenant: TenantId,
    name: &'static str,
) -> Result<FirstRun, Error> {
    let now_us = changes.now_us();
    let token = NewCredential::mint(Kind::Api, &tenant, admin(None), now_us)?;
    let code = NewCredential::mint(Kind::SignIn, &tenant, admin(Some(code_end(now_us))), now_us)?;
    let made = FirstRun {
        tenant_id: tenant.clone(),
        admin_token: token.text.clone(),
        sign_in_code: code.text.clone(),
    };
    token_file::write(data_dir, &token.text).map_err(Error::internal)?;
    let by = By::gateway(tenant.clone());
    changes
        .make(by, move |tx| {
            Box::pin(async move {
                tx.create_tenant(name, now_us).await?;
                token.insert(tx).await?;
                code.insert(tx).await?;
                let detail = json!({"id": tenant.as_str(), "name": name});
                let facts = vec![
                    Fact::new(EventKind::TenantCreated, detail),
                    Fact::new(EventKind::TokenCreated, token.detail()),
                    Fact::new(EventKind::TokenCreated, code.detail()),
                ];
                Ok(((), facts))
            })
        })
        .await?;
    Ok(made)
}

fn admin(expires_us: Option<i64>) -> Holder {
    Holder {
        name: ADMIN.into(),
        role: Role::Admin,
        profile: None,
        expires_us,
    }
}

fn code_end(now_us: i64) -> i64 {
    now_us.saturating_add(i64::try_from(SIGN_IN_CODE_LIFE.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
