//! A credential that is about to be stored: API token, session or sign-in code.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_contract::ids::{TenantId, TokenId};

use super::rows::Token;
use crate::{
    error::Error,
    identity::{Kind, Minted, Role, Secret},
    rfc3339,
    store::{StoreError, Tx, params},
};

const INSERT: &str = "insert into token (tenant_id, id, kind, name, role, profile, hash, created_us, expires_us, method) \
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

/// How long a sign-in code works.
pub(crate) const SIGN_IN_CODE_LIFE: Duration = Duration::from_secs(15 * 60);

/// Who a credential makes of its bearer.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) profile: Option<String>,
    pub(crate) expires_us: Option<i64>,
}

/// A minted credential and its row.
#[derive(Debug)]
pub(crate) struct NewCredential {
    pub(crate) id: TokenId,
    pub(crate) tenant: TenantId,
    pub(crate) holder: Holder,
    pub(crate) text: Secret,
    kind: Kind,
    hash: [u8; 32],
    created_us: i64,
    /// How a session began.
    method: Option<&'static str>,
}

impl NewCredential {
    pub(crate) fn mint(
        kind: Kind,
        tenant: &TenantId,
        holder: Holder,
        created_us: i64,
    ) -> Result<Self, Error> {
        let minted =
            Minted::new(kind, tenant).map_err(|_| Error::internal("the system gives no random bytes"))?;
        let (text, hash) = (minted.text, minted.hash);
        Ok(Self {
            id: TokenId::mint(),
            tenant: tenant.clone(),
            holder,
            text,
            kind,
            hash,
            created_us,
            method: None,
        })
    }

    /// A session that began in this way.
    pub(crate) fn begun_by(self, method: &'static str) -> Self {
        Self {
            method: Some(method),
            ..self
        }
    }

    pub(crate) async fn insert(&self, tx: &mut Tx) -> Result<(), StoreError> {
        let Holder {
            name,
            role,
            profile,
            expires_us,
        } = &self.holder;
        let values = params![
            &self.tenant,
            self.id,
            self.kind.as_str(),
            name,
            role.as_str(),
            profile.as_deref(),
            &self.hash,
            self.created_us,
            *expires_us,
            self.method,
        ];
        tx.execute(INSERT, values).await.map(drop)
    }

    /// What the record says of it. API tokens are the usual kind and are not called by it.
    pub(crate) fn detail(&self) -> Value {
        let Holder {
            name,
            role,
            profile,
            expires_us,
        } = &self.holder;
        let mut detail = json!({
            "id": self.id.to_string(),
            "name": name,
            "role": role.as_str(),
            "profile": profile,
            "expires_at": expires_us.map(rfc3339::format),
        });
        if self.kind != Kind::Api {
            detail["kind"] = self.kind.as_str().into();
        }
        detail
    }

    pub(super) fn into_token(self) -> Token {
        Token {
            id: self.id,
            name: self.holder.name,
            role: self.holder.role.as_str().to_owned(),
            profile: self.holder.profile,
            created_us: self.created_us,
            expires_us: self.holder.expires_us,
            revoked_us: None,
            last_used_us: None,
        }
    }
}
